"""REST catalogs of every dialect over one reference server, for the tests of this room."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.rest.client import RestClient
from firnline.adapters.rest.commits import RestCommits
from firnline.adapters.rest.loading import Loaded, load
from firnline.adapters.rest.pointers import RestPointers
from firnline.config.aws import AwsSettings
from firnline.config.endpoints import RestEndpoint, SigV4
from firnline.core.ids import Identifier
from firnline.loop.commits import CommitRequest
from tests.committing import assert_done, creating
from tests.rest_strict import KEYS, REGION, WAREHOUSES, Strict, strict
from tests.servers import rest

_counter = itertools.count()


@dataclass
class Bench:
    """A catalog, a client on it, and a namespace of this test's own."""

    server: Strict
    client: RestClient
    dialect: str
    namespace: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.namespace = (f"shop_{next(_counter)}",)
        assert_done(self.commits.create_namespace(self.namespace, {}))
        self.server.seen.clear()

    @property
    def commits(self) -> RestCommits:
        return RestCommits(self.client)

    @property
    def pointers(self) -> RestPointers:
        return RestPointers(self.client)

    def name(self, table: str = "orders") -> Identifier:
        return Identifier(self.namespace, table)

    def creating(self, table: str = "orders", **more: Any) -> CommitRequest:
        """The request for a new table, at a place only where the catalog takes one."""
        location = "" if self.dialect == "s3tables" else f"s3://lake/{self.namespace[0]}/{table}"
        return creating(location, **more)

    def create(self, table: str = "orders", **more: Any) -> Identifier:
        assert_done(self.commits.commit(self.name(table), self.creating(table, **more)))
        return self.name(table)

    def loaded(self, table: str = "orders") -> Loaded:
        found = load(self.client, self.name(table), whole=True)
        assert isinstance(found, Loaded), found
        return found


@contextmanager
def opened(dialect: str, **more: Any) -> Iterator[Bench]:
    """A bench of this dialect."""
    upstream = rest()
    settings = AwsSettings(region=REGION, keys=KEYS, tries=2)
    sessions = Sessions(settings)
    signed = None if dialect == "plain" else SigV4(dialect, REGION)
    with strict(dialect, upstream.uri, upstream.token) as server:
        endpoint = RestEndpoint(server.uri, settings, signed, WAREHOUSES[dialect], dialect, **more)
        client = RestClient(endpoint, sessions.signer(dialect, REGION) if signed else None, pause=lambda _: None)
        try:
            yield Bench(server, client, dialect)
        finally:
            client.close()

"""The Iceberg REST catalog, for the contract suite of catalogs. Its other dialects are held against stricter servers in
`tests/unit/adapters/rest`: they choose the uuid, or the location, of a table themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from firnline.adapters.aws.s3_files import S3Files
from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.rest.client import RestClient
from firnline.adapters.rest.commits import RestCommits
from firnline.adapters.rest.pointers import RestPointers
from firnline.config.aws import AwsSettings, Keys
from firnline.config.endpoints import Bearer, RestEndpoint
from firnline.core.ids import Identifier
from firnline.loop.commits import Commits
from firnline.loop.values import Outcome
from tests import servers
from tests.committing import ID, assert_done, changing, creating
from tests.contracts.catalogs_at_hand import ODD_NAMES, Place
from tests.glue_building import at_once
from tests.rest_strict import strict

Namespace = tuple[str, ...]
FILLERS = 4


@contextmanager
def rest(_: Path) -> Iterator[Place]:
    """Iceberg's reference REST catalog, its tables on S3. A proxy counts what would change something."""
    upstream = servers.rest()
    store = upstream.s3
    settings = AwsSettings(
        region=store.region, keys=Keys(store.access, store.secret), endpoints={"s3": store.endpoint}, path_style=True
    )
    sessions = Sessions(settings)
    with strict("plain", upstream.uri, upstream.token) as server:
        client = RestClient(RestEndpoint(server.uri, settings, Bearer(upstream.token)))
        pointers, commits = RestPointers(client), RestCommits(client)
        warehouse = f"s3://{store.name}/rest-{uuid4().hex}"

        def fill(namespace: Namespace, count: int) -> None:
            first = Identifier(namespace, "t000")
            outcome = assert_done(commits.commit(first, creating(f"{warehouse}/filled")))
            location = outcome.facts["metadata-location"]

            def some(start: int) -> None:
                for number in range(start, count, FILLERS):
                    body = {"name": f"t{number:03d}", "metadata-location": location}
                    assert client.tell("POST", f"namespaces/{namespace[0]}/register", body=body).status == 200

            at_once(FILLERS, lambda index: some(index or FILLERS))

        def put_foreign(identifier: Identifier) -> str:
            body = _view(identifier)
            assert client.tell("POST", f"namespaces/{identifier.namespace[0]}/views", body=body).status == 200
            return "view"

        def unheard_of(commits: Commits, namespace: Namespace) -> Outcome:
            return commits.commit(Identifier(namespace, "orders"), changing({"action": "no-such-action"}))

        try:
            yield Place(
                pointers, commits, S3Files(sessions), warehouse, fill, put_foreign,
                sent=lambda: sum(not each.startswith("GET") for each in server.seen),
                names=(*ODD_NAMES, "Upper", "a.b", "a/b", "x" * 255),
                never=("", ".", "..", "a\x1fb", "a\x00b", "\ud800"),
                cannot={
                    "a namespace without a name": lambda commits, _: commits.create_namespace((), {}),
                    "an update nobody knows": unheard_of,
                },
            )  # fmt: skip
        finally:
            client.close()
            sessions.close()


def _view(identifier: Identifier) -> Any:
    return {
        "name": identifier.name,
        "schema": {"type": "struct", "schema-id": 0, "fields": [ID]},
        "view-version": {
            "version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {},
            "default-namespace": list(identifier.namespace),
            "representations": [{"type": "sql", "sql": "SELECT 1 AS id", "dialect": "spark"}],
        },
        "properties": {},
    }  # fmt: skip

"""Where files are, wired: this machine's and S3's, by the scheme of each location."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from firnline.config import aws, endpoints
from firnline.config.aws import Keys
from firnline.config.values import CatalogSettings
from firnline.lakehouse import parts

if TYPE_CHECKING:
    from firnline.adapters.access import StoreAccess
    from firnline.adapters.aws.sessions import Sessions
    from firnline.adapters.schemes import ByScheme
    from firnline.config.aws import AwsSettings
    from firnline.facts.meta import TableMeta
    from firnline.facts.ports import Blobs, Files
    from firnline.loop.store import Store

VENDED_OPEN_MAX = 32  # clients kept for credentials of single tables: each has connections of its own


@dataclass(frozen=True, slots=True)
class _Place:
    """`adapters.schemes.Place`."""

    files: Files
    blobs: Blobs
    store: Store


class Storage:
    """Files of one catalog's tables. Nothing of AWS is imported before a location lies there. `vended` gives what opens
    a location, where the catalog hands out credentials.
    """

    def __init__(self, catalog: CatalogSettings, vended: Callable[[str], StoreAccess] | None = None) -> None:
        self._catalog = catalog
        self._vended = vended
        self._opened: dict[StoreAccess, tuple[Sessions, _Place]] = {}
        self._lock = threading.Lock()

    @property
    def aws(self) -> AwsSettings:
        """How S3 is reached."""
        endpoint = endpoints.endpoint(self._catalog)
        if endpoint is not None:
            return endpoint.aws
        return aws.settings(self._catalog.properties, f"catalogs.{self._catalog.name}")

    @cached_property
    def sessions(self) -> Sessions:
        """Clients and credentials, shared by everything that speaks to AWS."""
        parts.require("boto3", "aws", "AWS")
        from firnline.adapters.aws.sessions import Sessions

        return Sessions(self.aws)

    @cached_property
    def files(self) -> ByScheme:
        """`Files`, `Blobs` and `Store` in one."""
        from firnline.adapters.local.blobs import LocalBlobs
        from firnline.adapters.local.files import LocalFiles
        from firnline.adapters.local.store import LocalStore
        from firnline.adapters.schemes import ByScheme

        return ByScheme(_Place(LocalFiles(), LocalBlobs(), LocalStore()), self._s3)

    def access(self, location: str) -> StoreAccess:
        """S3 for an engine with a client of its own. Ask before each use: credentials end."""
        return self.sessions.access() if self._vended is None else self._vended(location)

    def stores(self, tables: Iterable[TableMeta]) -> Mapping[str, StoreAccess]:
        """What opens these tables in S3: by the table where the catalog vends, else one for all. "" stands for all."""
        remote = tuple(tables)
        if self._vended is None:
            return {"": self.sessions.access()} if remote else {}
        return {f"{meta.table_location.rstrip('/')}/": self._vended(meta.location) for meta in remote}

    @cached_property
    def _own(self) -> _Place:
        return _place(self.sessions)

    def _s3(self, location: str) -> _Place:
        if self._vended is None:
            return self._own
        access = self._vended(location)
        with self._lock:
            if access not in self._opened:
                sessions = self._sessions_of(access)
                self._opened[access] = (sessions, _place(sessions))
                while len(self._opened) > VENDED_OPEN_MAX:
                    self._opened.pop(next(iter(self._opened)))[0].close()
            return self._opened[access][1]

    def _sessions_of(self, access: StoreAccess) -> Sessions:
        """Clients that use what was vended and nobody else's identity, with everything else of the settings."""
        parts.require("boto3", "aws", "AWS")
        from firnline.adapters.aws.sessions import Sessions

        vended = replace(
            self.aws,
            region=access.region,
            profile=None,
            role=None,
            external_id=None,
            keys=Keys(access.access or "", access.secret or "", access.token),
            endpoints={**self.aws.endpoints, **({"s3": access.endpoint} if access.endpoint else {})},
            path_style=access.path_style,
        )
        return Sessions(vended)


def _place(sessions: Sessions) -> _Place:
    from firnline.adapters.aws.s3_files import S3Files
    from firnline.adapters.aws.s3_store import S3Store

    files = S3Files(sessions)
    return _Place(files, files, S3Store(sessions))

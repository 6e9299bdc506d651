"""What an engine needs to read an object store by itself: where it is, and resolved credentials. Never shown."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StoreAccess:
    """S3 for engines that bring their own client, such as DuckDB. Credentials may end: take a fresh one each time."""

    region: str
    access: str | None
    secret: str | None = field(repr=False)
    token: str | None = field(default=None, repr=False)
    endpoint: str | None = None  # http://HOST:PORT; None: AWS
    path_style: bool = False

"""DuckDB with the Iceberg extensions that came with the install. The only module that opens a DuckDB connection.

Extensions are loaded straight from their packages: nothing is downloaded, and nothing is written to the home directory,
so a lakehouse with `access: read` may use it too.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from firnline.adapters.access import StoreAccess
from firnline.adapters.locations import local_path
from firnline.adapters.schemes import S3
from firnline.core.errors import Failed, Missing

if TYPE_CHECKING:
    import duckdb

ICEBERG = ("avro", "iceberg")  # in load order: iceberg reads manifests through avro
REMOTE = ("httpfs",)

# DuckDB takes 80 % of the machine when left alone; here a JVM lives beside it, and a scan streams.
# More is spilled to disk.
MEMORY_LIMIT = "2GiB"

NOWHERE: Mapping[str, StoreAccess] = {}
_SPARE_PART = "Install it: pip install 'firnline[proof]'"
_ONE_VERSION = "Install DuckDB and its extensions in one version: pip install --force-reinstall 'firnline[proof]'"


def connect(
    extensions: tuple[str, ...] = ICEBERG,
    *,
    memory_limit: str = MEMORY_LIMIT,
    stores: Mapping[str, StoreAccess] = NOWHERE,
) -> duckdb.DuckDBPyConnection:
    """A private in-memory database that can read Iceberg; time zone UTC, no downloads. The caller closes it. With
    `stores`, tables in S3 too: what opens the locations that begin so, "" standing for all.

    Spills go to the machine's temporary folder, never to the working directory (DuckDB's own choice), and the folder is
    made only when something is spilled. Missing when DuckDB or a packaged extension is not installed.
    """
    module = _duckdb()
    paths = [extension_path(name) for name in (*(REMOTE if stores else ()), *extensions)]
    spill = os.path.join(tempfile.gettempdir(), f"firnline-duckdb-{os.getpid()}-{secrets.token_hex(4)}")
    connection: duckdb.DuckDBPyConnection = module.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": memory_limit,
            "temp_directory": spill,
        }
    )
    try:
        connection.execute("SET TimeZone = 'UTC'")
        for path in paths:
            connection.execute(f"LOAD {quote_text(str(path))}")
    except module.Error as error:
        connection.close()
        raise Failed(
            f"DuckDB could not load an extension: {error}",
            next_step=_ONE_VERSION,
        ) from error
    try:
        for number, (scope, store) in enumerate(stores.items()):
            connection.execute(_secret(f"store_{number}", scope, store))
    except module.Error:
        connection.close()
        # Without its words and its trace: they hold the statement, and that the secret.
        raise Failed(
            "DuckDB does not take these credentials for S3.",
            next_step="Check the key, its secret, the region and the endpoint for characters that do not belong there.",
        ) from None
    return connection


def _secret(name: str, scope: str, store: StoreAccess) -> str:
    """The statement that tells DuckDB how S3 is reached. The secret lives in this connection's memory alone."""
    scheme, _, host = (store.endpoint or "").rpartition("://")
    given = {
        "KEY_ID": store.access,
        "SECRET": store.secret,
        "SESSION_TOKEN": store.token,
        "REGION": store.region,
        "ENDPOINT": host,
        "URL_STYLE": "path" if store.path_style else "vhost",
        "SCOPE": readable(scope) if scope else None,
    }
    parts = [f"{name} {quote_text(value)}" for name, value in given.items() if value]
    return f"CREATE SECRET {name} (TYPE s3, {', '.join(parts)}, USE_SSL {'false' if scheme == 'http' else 'true'})"


def readable(location: str) -> str:
    """A location as DuckDB opens it: a path of this machine, or one of S3."""
    if location.startswith(S3):
        return f"s3{location[location.index(':') :]}"
    return local_path(location)


def extension_path(name: str) -> Path:
    """The packaged extension file for the DuckDB in use, or Missing."""
    version = f"v{_duckdb().__version__}"
    package = f"duckdb_extension_{name}"
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise Missing(f"DuckDB's {name} extension is not installed.", next_step=_SPARE_PART)
    path = Path(spec.origin).parent / "extensions" / version / f"{name}.duckdb_extension"
    if not path.is_file():
        raise Missing(
            f"DuckDB's {name} extension is not of the same version as DuckDB itself ({version}).",
            next_step=_ONE_VERSION,
        )
    return path


def quote_name(name: str) -> str:
    """An identifier as DuckDB reads it back unchanged."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A string literal as DuckDB reads it back unchanged. For the places that take no parameter."""
    return "'" + text.replace("'", "''") + "'"


def _duckdb() -> ModuleType:
    try:
        import duckdb
    except ImportError as error:
        raise Missing("DuckDB is not installed.", next_step=_SPARE_PART) from error
    return duckdb

"""DuckDB with the Iceberg extensions that came with the install. The only module that opens a DuckDB connection.

Extensions are loaded straight from their packages: nothing is downloaded, and nothing is written to the home directory,
so a lakehouse with `access: read` may use it too.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
import tempfile
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from firnline.core.errors import Failed, Missing

if TYPE_CHECKING:
    import duckdb

ICEBERG = ("avro", "iceberg")  # in load order: iceberg reads manifests through avro
REMOTE = ("httpfs",)

# DuckDB takes 80 % of the machine when left alone; here a JVM lives beside it, and a scan streams.
# More is spilled to disk.
MEMORY_LIMIT = "2GiB"

_SPARE_PART = "Install it: pip install 'firnline[proof]'"
_ONE_VERSION = "Install DuckDB and its extensions in one version: pip install --force-reinstall 'firnline[proof]'"


def connect(extensions: tuple[str, ...] = ICEBERG, *, memory_limit: str = MEMORY_LIMIT) -> duckdb.DuckDBPyConnection:
    """A private in-memory database that can read Iceberg; time zone UTC, no downloads. The caller closes it.

    Spills go to the machine's temporary folder, never to the working directory (DuckDB's own choice), and the folder is
    made only when something is spilled. Missing when DuckDB or a packaged extension is not installed.
    """
    module = _duckdb()
    paths = [extension_path(name) for name in extensions]
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
    return connection


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

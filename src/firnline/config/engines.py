"""What reading engines can do, as of the date below. Unknown counts as *cannot*: only a known reader is safe.

Sources: the release notes and documentation of each engine; the DuckDB and PyIceberg lines are checked by our tests.
"""

from __future__ import annotations

from dataclasses import dataclass

AS_OF = "2026-11"


@dataclass(frozen=True, slots=True)
class Engine:
    """The highest table format an engine reads, and whether it reads each kind of delete."""

    format_max: int
    position_deletes: bool
    equality_deletes: bool
    deletion_vectors: bool


ENGINES = {
    "spark": Engine(3, True, True, True),
    "emr": Engine(3, True, True, True),
    "glue": Engine(3, True, True, True),
    "trino": Engine(3, True, True, True),
    "athena": Engine(2, True, True, False),
    "redshift": Engine(3, True, False, True),
    "snowflake": Engine(3, True, False, True),
    "databricks": Engine(3, False, False, True),
    "duckdb": Engine(3, True, True, True),
    "pyiceberg": Engine(3, True, False, True),
    "clickhouse": Engine(2, True, False, False),
}


def format_max(reader: str) -> int:
    """The highest format this reader reads; 2 for one we know nothing of."""
    engine = ENGINES.get(reader.casefold())
    return engine.format_max if engine else 2

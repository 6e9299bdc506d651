"""Takes a statement for DuckDB apart: that it only reads, and which tables it names.

DuckDB's own parser does it, never one of ours, so that what is checked is what runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from firnline.adapters.duckdb import errors
from firnline.adapters.duckdb.connection import quote_text
from firnline.core.errors import BadInput, Refused

if TYPE_CHECKING:
    import duckdb

_DOING = "reading the statement"
_INSTEAD = "Write one SELECT, FROM, WITH, VALUES, DESCRIBE or SUMMARIZE; everything else runs with --engine spark."
# Table functions that make rows out of their arguments. An allow-list: most others read files, or look into DuckDB.
_MAKE_ROWS = frozenset(
    {"generate_series", "generate_subscripts", "json_each", "json_tree", "range", "repeat", "unnest"}
)


def mentions(connection: duckdb.DuckDBPyConnection, statement: str) -> tuple[tuple[str, ...], ...]:
    """The tables a reading statement names, part by part, each once, without the names it gives itself in WITH.

    Refused for a statement that does more than read tables, BadInput for one that cannot be read.
    """
    found: dict[tuple[str, ...], None] = {}
    own: set[str] = set()
    for node in _nodes(_parsed(connection, statement)):
        own |= {entry["key"].casefold() for entry in (node.get("cte_map") or {}).get("map", ())}
        match node.get("type"):
            case "BASE_TABLE":
                _refuse_as_of(node)
                parts = (node.get("catalog_name"), node.get("schema_name"), node["table_name"])
                found[tuple(str(part) for part in parts if part)] = None
            case "TABLE_FUNCTION":
                _require_rows_made(str(node["function"]["function_name"]))
            case "SHOW_REF" if not node.get("query"):
                raise BadInput(
                    "DuckDB sees only the tables a statement names, so there is nothing to show.",
                    next_step="`firnline tables list` lists the catalog.",
                )
            case _:
                pass
    return tuple(name for name in found if len(name) > 1 or name[0].casefold() not in own)


def _parsed(connection: duckdb.DuckDBPyConnection, statement: str) -> Any:
    with errors.folded(_DOING):
        kinds = [each.type.name for each in connection.extract_statements(statement)]
    if not kinds:
        raise BadInput("The statement is empty.", next_step=_INSTEAD)
    if len(kinds) > 1:
        # PIVOT without its values is cut into two by the parser, the first of which creates a type.
        pivots = re.match(r"\s*pivot", statement, re.IGNORECASE) is not None
        raise BadInput(
            "PIVOT needs to be told its values." if pivots else f"There are {len(kinds)} statements.",
            next_step="Write PIVOT … ON column IN (…)." if pivots else "Write one at a time.",
        )
    with errors.folded(_DOING):
        # As a literal: for a parameter DuckDB would import pandas, which takes a second.
        row = connection.execute(f"SELECT json_serialize_sql({quote_text(statement)})").fetchone()
    tree = json.loads(row[0]) if row else {"error": True}
    if tree["error"]:
        raise Refused(f"With DuckDB tables are only read, and this statement is {kinds[0]}.", next_step=_INSTEAD)
    return tree


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
        tree = list(tree.values())
    if isinstance(tree, list):
        for item in tree:
            yield from _nodes(item)


def _refuse_as_of(node: dict[str, Any]) -> None:
    if node.get("at_clause"):
        raise BadInput("DuckDB takes no AT for these tables.", next_step="Say which snapshot with --at.")


def _require_rows_made(name: str) -> None:
    if name.casefold() not in _MAKE_ROWS:
        raise Refused(
            f"The table function {name} is not allowed.",
            why="It may read what is no table of this lakehouse.",
            next_step=f"Allowed: {', '.join(sorted(_MAKE_ROWS))}.",
        )

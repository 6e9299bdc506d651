"""An Iceberg schema in Hive's words, for those who look at a table through the metastore.

Engines read the schema from the metadata file; what stands here is for people and for Hive's own tools. The spelling is
that of Iceberg's HiveSchemaUtil in Spark, which comes with the classes of Hive 2.3 and so calls every timestamp
`timestamp`: any version of the metastore takes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hive_metastore.ttypes import FieldSchema

from firnline.core.errors import Failed
from firnline.core.types import Decimal, Fixed, ListOf, MapOf, Primitive, Struct, Type, show
from firnline.facts.meta import TableMeta

COMMENT_BYTES_MAX = 255  # HMS 2.3 keeps 256 characters, and fails the whole commit for one more
_ZONED = " with local time zone"  # how a timestamptz is called by clients that know Hive 3
_NAMES = {
    "boolean": "boolean", "int": "int", "long": "bigint", "float": "float", "double": "double", "date": "date",
    "time": "string", "timestamp": "timestamp", "timestamptz": "timestamp", "string": "string", "uuid": "string",
    "binary": "binary",
}  # fmt: skip
# The metastore takes any name inside a struct and can then not read its own type again: no later change gets through.
_INNER_NAME = re.compile(r"[\w.$]+")


def columns(meta: TableMeta, before: Sequence[Any] = ()) -> list[Any]:
    """The columns of the current schema. `before` are those the entry has: a timestamp keeps the spelling it was given,
    and a column without a comment in the schema the one somebody gave it in Hive.
    """
    known = {column.name.lower(): column for column in before}
    made = []
    for field in meta.schema.struct.fields:
        text, old = hive_type(field.type), known.get(field.name.lower())
        if old is not None and old.type.replace(_ZONED, "") == text:
            text = old.type
        comment = _cut(field.doc) if field.doc else old.comment if old is not None else None
        made.append(FieldSchema(field.name, text, comment))
    return made


def hive_type(of: Type) -> str:
    """The type in Hive's words. Failed for one that Hive has no word for, as Iceberg's HiveCatalog refuses it."""
    match of:
        case Primitive() if of.name in _NAMES:
            return _NAMES[of.name]
        case Decimal():
            return f"decimal({of.precision},{of.scale})"
        case Fixed():
            return "binary"
        case Struct():
            return f"struct<{','.join(f'{_inner(field.name)}:{hive_type(field.type)}' for field in of.fields)}>"
        case ListOf():
            return f"array<{hive_type(of.element)}>"
        case MapOf():
            return f"map<{hive_type(of.key)},{hive_type(of.value)}>"
        case _:
            raise Failed(f"Hive has no type for {show(of)}, so a table with it cannot be in a Hive Metastore.")


def _inner(name: str) -> str:
    if not _INNER_NAME.fullmatch(name):
        raise Failed(f"A field inside a struct cannot be called {name!r} in a Hive Metastore.")
    return name


def _cut(text: str) -> str:
    return text.encode()[:COMMENT_BYTES_MAX].decode(errors="ignore")

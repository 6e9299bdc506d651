"""The keys of a table file, with what each means. Files are read by it and editors' schemas made of it."""

from __future__ import annotations

from firnline.config.engines import ENGINES
from firnline.config.policies import POLICY
from firnline.config.shapes import (
    Duration,
    Each,
    Either,
    Key,
    Later,
    Leaf,
    Named,
    Number,
    Record,
    Shape,
    Text,
    Truth,
    Written,
)
from firnline.config.yaml import Mapping, Node, Scalar

# The overrides that mean something to a plan. An acceptance of anything else would look like a decision and be none.
ACCEPTABLE = ("drop-column", "require-column", "upgrade-format")
REASON_LENGTH_MIN = 10  # "ok" and "because" are no reasons to somebody who reads the ledger next year
BRANCH_NAME = "BRANCH"

_known: dict[str, Shape] = {}


def _text_or_mapping(node: Node) -> int | None:
    return 0 if isinstance(node, Scalar) else 1 if isinstance(node, Mapping) else None


def _column_form(node: Node) -> int | None:
    """Full unless it is a mapping of one entry: a full column has a name *and* a type, so one entry is `name: type`."""
    if not isinstance(node, Mapping):
        return None
    return 0 if len(node.entries) == 1 else 1


_TYPE = Key(
    Text("a type"),
    "A type as text: long, decimal(9,2), list<string>, map<string, long>, struct<a: int>.",
    required=True,
    also=("fields", "element", "key", "value"),
)
_REQUIRED = Key(Truth(), "Whether it may be null. Not required unless said.")
_ELEMENT = Either((Text("a type"), Later("element", _known)), _text_or_mapping, "a type, as text or as a mapping,")
_INSIDE = {
    "fields": Key(Each(Later("column", _known)), "The fields of a struct, written like columns."),
    "element": Key(_ELEMENT, "The element of a list: a type, or a mapping with type and required."),
    "key": Key(_ELEMENT, "The key of a map."),
    "value": Key(_ELEMENT, "The value of a map."),
}
_known["element"] = Record("element", {"type": _TYPE, "required": _REQUIRED, **_INSIDE})

COLUMN = Record(
    "column",
    {
        "name": Key(Written(), "The column's name.", required=True),
        "type": _TYPE,
        "required": _REQUIRED,
        "doc": Key(Text(), "What it means.", nullable=True),
        "default": Key(
            Leaf(), "Format 3: the value of rows written before the column was, and of writes that leave it out."
        ),
        "initial-default": Key(Leaf(), "Format 3: the value of rows written before the column was."),
        "write-default": Key(Leaf(), "Format 3: the value of writes that leave it out."),
        "was": Key(Written(), "The name it had: a rename keeps the field id and the data."),
        **_INSIDE,
    },
)
_SHORT = Named(Text("a type"), "COLUMN", length_min=1, length_max=1)
_known["column"] = Either((_SHORT, COLUMN), _column_form, "NAME: TYPE, or a mapping with name and type,")

_PATH = Text("a column")
PARTITION = Record(
    "partition",
    {
        "transform": Key(
            Text("a transform"), "identity, year, month, day, hour, bucket(N), truncate(W) or void.", required=True
        ),
        "column": Key(_PATH, "The column it is made of.", required=True),
        "name": Key(Text("a name"), "The partition field's name, when Iceberg's own will not do."),
    },
)
SORT = Record(
    "sort",
    {
        "column": Key(_PATH, "The column.", required=True),
        "transform": Key(Text("a transform"), "As in partition; identity unless said."),
        "direction": Key(Text("asc or desc", ("asc", "desc")), "asc unless said."),
        "nulls": Key(
            Text("first or last", ("first", "last")), "first when ascending, last when descending, unless said."
        ),
    },
)
_KEEP = Key(Duration(), "How long the ref itself lives. Without it, for ever.")
_SNAPSHOT = Key(Number(1), "The snapshot it is made at. Without it, the current one.")
BRANCH = Record(
    "branch",
    {
        "snapshot": _SNAPSHOT,
        "keep": _KEEP,
        "max-snapshot-age": Key(Duration(), "Expiry keeps snapshots of this branch that are younger."),
        "min-snapshots": Key(Number(1, 2**31 - 1), "Expiry keeps at least so many of its snapshots."),
    },
)
TAG = Record("tag", {"snapshot": _SNAPSHOT, "keep": _KEEP})
_REASON = Key(
    Text("a reason", length_min=REASON_LENGTH_MIN),
    "Why, for whoever reads the ledger later.",
    required=True,
)
ACCEPT = Record(
    "accept",
    {
        "change": Key(Text("a change that can be accepted", ACCEPTABLE), "Which change.", required=True),
        "column": Key(_PATH, "Of which column."),
        "reason": _REASON,
    },
)
DROP = Record("drop", {"purge": Key(Truth(), "Whether its files go too.", required=True), "reason": _REASON})
CONSUMER = Record(
    "consumer",
    {
        "id": Key(Text("an id", length_min=1), "A name for who reads the table incrementally.", required=True),
        "max-lag": Key(Duration(), "How far behind it may be before expiry stops waiting for it."),
    },
)
PROPERTIES = Named(Written(nullable=True), "PROPERTY", nullable=True)


def _empty_is_default(shape: Record) -> Either:
    """A mapping, or nothing: `nightly:` alone would be read as null, which removes, so `nightly: {}` is the default."""
    return Either((shape,), lambda _: 0, f"a {shape.name}")


TABLE = Record(
    "table",
    {
        "table": Key(Text("a table name"), "The table: NAMESPACE.NAME; parts with dots in backticks.", required=True),
        "description": Key(Text(), "What the table is.", nullable=True),
        "owner": Key(Text(), "Who answers for it.", nullable=True),
        "format-version": Key(Number(1, 3), "Iceberg's format: 1, 2 or 3. An upgrade cannot be undone."),
        "location": Key(Text("a location", length_min=1), "Where it lives, when not under the namespace's location."),
        "columns": Key(
            Each(Later("column", _known), length_min=1), "The columns, in order.", required=True, also=("drop",)
        ),
        "identifier": Key(Each(_PATH), "The columns that identify a row: required, no floats."),
        "partition": Key(
            Each(Either((Text("a partition"), PARTITION), _text_or_mapping, "a partition, as text or as a mapping,")),
            "How rows fall into partitions: day(ts), bucket(16, id), truncate(10, name), region.",
        ),
        "sort": Key(
            Each(Either((Text("a sort key"), SORT), _text_or_mapping, "a sort key, as text or as a mapping,")),
            "How files are sorted: ts desc nulls last, bucket(4, id).",
        ),
        "properties": Key(PROPERTIES, "Iceberg's table properties; null removes one."),
        "branches": Key(Named(_empty_is_default(BRANCH), "BRANCH", nullable=True), "Branches; null removes one."),
        "tags": Key(Named(_empty_is_default(TAG), "TAG", nullable=True), "Tags; null removes one."),
        "policy": Key(POLICY, "Upkeep policy of this table."),
        "readers": Key(
            Each(Text("an engine", tuple(ENGINES))), "The engines that read it: plan says what would break them."
        ),
        "subjects": Key(Each(_PATH), "The columns that identify a person."),
        "consumers": Key(Each(CONSUMER), "Who reads it incrementally: expiry waits for them."),
        "protect": Key(Truth(), "true: it is not dropped, whatever else is declared."),
        "accept": Key(Each(ACCEPT), "Recorded overrides."),
        "drop": Key(DROP, "The table is to go."),
    },
)

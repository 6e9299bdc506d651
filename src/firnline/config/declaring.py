"""What a table file says, put together and held against itself: columns that exist, types that fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from firnline.config import paths, placing, properties, secrets
from firnline.config.columns import BROKEN, Columns
from firnline.config.reading import Complaints, Item, Read
from firnline.config.values import (
    Acceptance,
    Declaration,
    DeclaredConsumer,
    DeclaredDrop,
    DeclaredPartition,
    DeclaredRef,
    DeclaredSort,
    Source,
)
from firnline.config.yaml import Node
from firnline.core import layout
from firnline.core.errors import BadInput
from firnline.core.ids import Identifier
from firnline.core.keys import RESERVED_PREFIX
from firnline.core.suggest import did_you_mean
from firnline.core.types import (
    Field,
    Json,
    ListOf,
    MapOf,
    Path,
    Primitive,
    Struct,
    Type,
    needs_v3,
    show,
    show_path,
    walk,
)

_FLOATS = frozenset({"float", "double"})
_COLUMN_ACCEPTED = frozenset({"drop-column", "require-column"})


def declaration(read: Read, columns: Columns, complaints: Complaints, warnings: Complaints) -> Declaration | None:
    """The declaration, or None when it was complained of in a way that leaves no table."""
    identifier = _identifier(read, complaints)
    checker = _Checker(read, columns, complaints)
    partition, order = checker.partition(), checker.order()
    refs = tuple(_refs(read, complaints))
    made = Declaration(
        identifier=identifier or Identifier(("?",), "?"),
        source=Source(complaints.file, _lines(read, columns)),
        schema=columns.struct,
        was=columns.was,
        identifier_fields=checker.identifier_fields(),
        partition=partition,
        order=order,
        properties=dict(_properties(read, complaints, warnings)),
        format_version=read.get("format-version"),
        location=read.get("location"),
        refs=refs,
        policy=_policy(read),
        readers=tuple(dict.fromkeys(item.value for item in read.get("readers", ()))),
        subjects=tuple(checker.paths("subjects")),
        consumers=tuple(_consumers(read, complaints)),
        owner=read.get("owner"),
        description=read.get("description"),
        protect=read.get("protect", False),
        accept=tuple(checker.accept()),
        drop=_drop(read, complaints),
    )
    checker.format_fits()
    return made if identifier is not None else None


def _identifier(read: Read, complaints: Complaints) -> Identifier | None:
    text = read.get("table")
    if text is None:
        return None
    try:
        return Identifier.parse(text)
    except BadInput as error:
        complaints.add(read.node_of("table"), "table", error.what, error.next_step)
        return None


def _policy(read: Read) -> dict[str, Json]:
    policy: Read | None = read.get("policy")
    return {} if policy is None else {key: item.value for key, item in policy.items.items()}


def _lines(read: Read, columns: Columns) -> dict[str, int]:
    policy: Read | None = read.get("policy")
    inside = {} if policy is None else {policy.at(key): policy.line_of(key) for key in policy.items}
    return {**{key: entry.line for key, entry in read.node.entries.items()}, **inside, **columns.lines}


@dataclass(frozen=True, slots=True)
class _Found:
    """A column that a layout, an identifier or a subject names. `inside`: the first list or map on the way to it."""

    field: Field
    inside: Type | None
    optional: Path | None  # the first field on the way that may be null


class _Checker:
    """The columns of one file, and everything that names them."""

    def __init__(self, read: Read, columns: Columns, complaints: Complaints) -> None:
        self.read = read
        self.columns = columns
        self.complaints = complaints
        self.known = dict(walk(columns.struct))

    def find(self, path: Path, node: Node, at: str) -> _Found | None:
        """The column of this path, or None, complained of, when there is none."""
        field = self.known.get(path)
        if field is None:
            if self.known:  # without any column that was complained of already
                hint = did_you_mean(show_path(path), [show_path(one) for one in self.known])
                self.complaints.add(node, at, f"there is no column {show_path(path)}.", hint)
            return None
        above = [self.known[path[:length]] for length in range(1, len(path))]
        inside = next((one.type for one in above if isinstance(one.type, ListOf | MapOf)), None)
        chain = [*enumerate(above, 1), (len(path), field)]
        optional = next((path[:length] for length, one in chain if not one.required), None)
        return _Found(field, inside, optional)

    def paths(self, key: str) -> Iterator[Path]:
        """The columns a list of plain names names, each once."""
        seen: set[Path] = set()
        for position, item in enumerate(self.read.get(key, ())):
            at = f"{key}[{position}]"
            path = self._parsed(item.value, item.node, at)
            if path is None or self.find(path, item.node, at) is None:
                continue
            if path in seen:
                self.complaints.add(item.node, at, f"{show_path(path)} is listed twice.", "Keep one of the two.")
            seen.add(path)
            yield path

    def _parsed(self, text: str, node: Node, at: str) -> Path | None:
        try:
            return paths.parse(text)
        except BadInput as error:
            self.complaints.add(node, at, error.what, error.next_step)
            return None

    def identifier_fields(self) -> tuple[Path, ...]:
        """Identifier columns: atomic, no floats, required all the way, in no list and no map."""
        found = []
        for position, item in enumerate(self.read.get("identifier", ())):
            at = f"identifier[{position}]"
            path = self._parsed(item.value, item.node, at)
            column = None if path is None else self.find(path, item.node, at)
            if path is None or column is None or column.field.type == BROKEN:
                continue
            problem = _no_identifier(column)
            if problem is not None:
                self.complaints.add(item.node, at, f"{show_path(path)} {problem[0]}", problem[1])
            found.append(path)
        return tuple(dict.fromkeys(found))

    def partition(self) -> tuple[DeclaredPartition, ...]:
        """Partition fields over columns that are there and of a type their transform takes."""
        made: list[DeclaredPartition] = []
        names: set[str] = set()
        effects: set[tuple[str, Path]] = set()
        for position, (part, item) in enumerate(placing.partitions(self.read.get("partition", ()), self.complaints)):
            at = f"partition[{position}]"
            self._layout(part.transform, part.column, item, at)
            name = part.name or layout.default_name(part.transform, part.column[-1])
            if (part.transform, part.column) in effects:
                self.complaints.add(item.node, at, f"{placing.show_partition(part)} is there twice.", "Keep one.")
            elif name in names:
                hint = "Give one of them a name: {transform: …, column: …, name: …}."
                self.complaints.add(item.node, at, f"two partition fields are called {name!r}.", hint)
            names.add(name)
            effects.add((part.transform, part.column))
            made.append(part)
        return tuple(made)

    def order(self) -> tuple[DeclaredSort, ...]:
        """Sort keys over columns that are there and of a type their transform takes."""
        made: list[DeclaredSort] = []
        for position, (key, item) in enumerate(placing.sorts(self.read.get("sort", ()), self.complaints)):
            self._layout(key.transform, key.column, item, f"sort[{position}]")
            made.append(key)
        return tuple(made)

    def _layout(self, transform: str, path: Path, item: Item, at: str) -> None:
        found = self.find(path, item.node, at)
        if found is None or found.field.type == BROKEN:
            return
        if found.inside is not None:
            problem = f"{show_path(path)} lies inside a {_word(found.inside)}, of which a row has many values or none."
            self.complaints.add(item.node, at, problem, "Choose a column outside of lists and maps.")
        elif not layout.accepts(transform, found.field.type):
            self.complaints.add(item.node, at, layout.why_not(transform, found.field.type))

    def accept(self) -> Iterator[Acceptance]:
        """Recorded overrides; one about a column names it. The column of a drop is no longer declared, or not yet."""
        for position, item in enumerate(self.read.get("accept", ())):
            at = f"accept[{position}]"
            change, text = item.value.get("change"), item.value.get("column")
            if change in _COLUMN_ACCEPTED and text is None:
                self.complaints.add(item.node, at, f"{change} is of a column.", "Name it: column: NAME.")
            column = None if text is None else self._parsed(text, item.node, at)
            if change == "drop-column" and column in self.known:
                problem = f"{show_path(column)} is declared, so it is not dropped."
                self.complaints.add(item.node, at, problem, "Remove the column, or the acceptance.")
            yield Acceptance(change or "", column, item.value.get("reason", ""))

    def format_fits(self) -> None:
        """Types and defaults of format 3 need `format-version: 3`, and a new table is format 2 unless it says."""
        version = self.read.get("format-version", 2)
        if version >= 3:
            return
        given = "format-version" in self.read.items
        said = f"format-version is {version}" if given else "a table is format 2 unless it says"
        for field in self.columns.struct.fields:
            word = None if field.type == BROKEN else needs_v3(field.type)
            node = self.columns.places[(field.name,)]
            if word is not None:
                problem = f"{word} needs format 3, and {said}."
                self.complaints.add(node, f"columns.{show_path((field.name,))}", problem, "Write format-version: 3.")
        for path, field in self.known.items():
            if field.initial_default is not None or field.write_default is not None:
                node = self.columns.places.get(path) or self.columns.places[path[:1]]
                problem = f"a default needs format 3, and {said}."
                self.complaints.add(node, f"columns.{show_path(path)}", problem, "Write format-version: 3.")


def _no_identifier(column: _Found) -> tuple[str, str | None] | None:
    of = column.field.type
    if column.inside is not None:
        return f"lies inside a {_word(column.inside)} and cannot identify a row.", None
    if isinstance(of, Struct | ListOf | MapOf):
        return f"is a {_word(of)} and cannot identify a row.", "Name columns of single values."
    if isinstance(of, Primitive) and of.name in _FLOATS:
        return f"is a {of.name}: equal numbers may differ in their last digit.", "Use a decimal or an integer."
    if column.optional is not None:
        hint = "Write `required` after its type, or `required: true`."
        return f"may be null ({show_path(column.optional)} is not required) and cannot identify a row.", hint
    return None


def _word(of: Type) -> str:
    return {ListOf: "list", MapOf: "map", Struct: "struct"}.get(type(of)) or show(of)


def _properties(read: Read, complaints: Complaints, warnings: Complaints) -> Iterator[tuple[str, str | None]]:
    for key, item in read.get("properties", {}).items():
        at = f"properties.{key}"
        if key.startswith(RESERVED_PREFIX):
            complaints.add(item.node, at, f"names under {RESERVED_PREFIX} are Firnline's own.", "Choose another.")
        elif key in properties.RESERVED and key not in properties.KEPT:
            instead = properties.RESERVED[key]
            hint = f"Use the key {instead} of the table file." if instead else "Remove it: Iceberg keeps it by itself."
            complaints.add(item.node, at, "it is not a property to set.", hint)
        elif item.value is not None and secrets.holds_secret(key, item.value):
            hint = "Give it to the catalog in lakehouse.yaml, as ${env:NAME}."
            complaints.add(item.node, at, "a secret in a table's properties is there for every reader to see.", hint)
        elif item.value is not None and (real := properties.real_name(key)) is not None:
            hint = f"The real one is {real}." if real else "Look it up in Iceberg's documentation."
            warnings.add(item.node, at, "Iceberg has no property of this name, and ignores it.", hint)
        yield key, item.value


def _refs(read: Read, complaints: Complaints) -> Iterator[DeclaredRef]:
    kinds: dict[str, str] = {}
    for kind, key in (("branch", "branches"), ("tag", "tags")):
        for name, item in read.get(key, {}).items():
            at = f"{key}.{name}"
            if not name.strip() or name != name.strip() or not name.isprintable():
                complaints.add(item.node, at, f"{name[:60]!a} cannot be the name of a {kind}.", "Choose another.")
            if kinds.setdefault(name, kind) != kind:
                complaints.add(item.node, at, f"{name!r} is a branch and a tag at once.", "Keep one of the two.")
            if kind == "tag" and name == "main":
                complaints.add(item.node, at, "main is a branch: the table itself.", "Choose another name.")
            yield _ref(name, kind, item.value)


def _ref(name: str, kind: str, read: Read | None) -> DeclaredRef:
    if read is None:
        return DeclaredRef(name, kind, absent=True)
    keep: timedelta | None = read.get("keep")
    return DeclaredRef(
        name=name,
        kind=kind,
        snapshot=read.get("snapshot"),
        ref_age_max=keep,
        snapshot_age_max=read.get("max-snapshot-age"),
        snapshots_min=read.get("min-snapshots"),
    )


def _consumers(read: Read, complaints: Complaints) -> Iterator[DeclaredConsumer]:
    seen: set[str] = set()
    for position, item in enumerate(read.get("consumers", ())):
        name = item.value.get("id", "")
        if name and name in seen:
            complaints.add(item.node, f"consumers[{position}]", f"{name!r} is there twice.", "Keep one of the two.")
        seen.add(name)
        yield DeclaredConsumer(name, item.value.get("max-lag"))


def _drop(read: Read, complaints: Complaints) -> DeclaredDrop | None:
    record = read.get("drop")
    if record is None:
        return None
    if read.get("protect", False):
        complaints.add(read.node_of("drop"), "drop", "the table says protect: true.", "Take one of the two away.")
    return DeclaredDrop(record.get("purge", False), record.get("reason", ""))

"""The columns of a table file → a Struct, with renames and the line of every field."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

from firnline.config import defaults, typetext
from firnline.config.reading import Complaints, Item, Read, under
from firnline.config.yaml import Mapping, Node, Scalar
from firnline.core.errors import BadInput
from firnline.core.types import (
    Decimal,
    Field,
    Fixed,
    Json,
    ListOf,
    MapOf,
    Opaque,
    Path,
    Primitive,
    Struct,
    Type,
    show_path,
    walk,
)

# Spark's planner and every manifest's metrics grow with the columns; past this a table is a mistake of a generator.
FIELDS_MAX = 10_000
NAME_LENGTH_MAX = 1_000  # YAML's own limit for a key on one line is 1,024
# Stands for a type that was complained of, so that nothing else is said about its column.
BROKEN = Opaque("")

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NESTED = {"struct": ("fields",), "list": ("element",), "map": ("key", "value")}
_AS_WRITTEN = frozenset({"uuid", "binary"})
_parse_type = functools.lru_cache(maxsize=4096)(typetext.parse)


@dataclass(slots=True)
class Columns:
    """What the columns say. `lines` is keyed as in Source: `columns.address.city`."""

    struct: Struct = field(default_factory=lambda: Struct(()))
    was: dict[Path, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    places: dict[Path, Node] = field(default_factory=dict)


def read(items: tuple[Item, ...], complaints: Complaints, warnings: Complaints) -> Columns:
    """Every column with everything inside it."""
    reader = _Reader(complaints, warnings)
    reader.out.struct = Struct(reader.fields(items, ()))
    reader.check_whole()
    return reader.out


class _Reader:
    """One pass over the columns of a file."""

    def __init__(self, complaints: Complaints, warnings: Complaints) -> None:
        self.complaints = complaints
        self.warnings = warnings
        self.out = Columns()

    def fields(self, items: tuple[Item, ...], prefix: Path) -> tuple[Field, ...]:
        """The columns, or the fields of a struct."""
        found: dict[str, Field] = {}
        folded: dict[str, str] = {}
        for item in items:
            column = self._column(item, prefix)
            if column is None or not self._name_fits(column.name, item.node, prefix):
                continue
            path = (*prefix, column.name)
            if column.name in found:
                self._twice(path, item.node)
                continue
            twin = folded.setdefault(column.name.casefold(), column.name)
            if twin != column.name:
                problem = f"{column.name!r} and {twin!r} differ only in case."
                self.warnings.add(item.node, f"columns.{show_path(path)}", problem, "Spark and Athena ignore case.")
            self._place(path, item.node)
            found[column.name] = column
        return tuple(found.values())

    def _twice(self, path: Path, node: Node) -> None:
        first = self.out.places[path].line
        where = f"It is already on line {first}; keep" if first != node.line else "Keep"
        self.complaints.add(
            node, f"columns.{show_path(path)}", f"{path[-1]!r} is declared twice.", f"{where} one of the two."
        )

    def _place(self, path: Path, node: Node) -> None:
        self.out.places[path] = node
        self.out.lines[f"columns.{show_path(path)}"] = node.line

    def _name_fits(self, name: str, node: Node, prefix: Path) -> bool:
        if not name.strip():
            problem = "a name is empty."
        elif _CONTROL.search(name):
            problem = f"the name {name[:60]!a} has a control character."
        elif len(name) > NAME_LENGTH_MAX:
            problem = f"the name {name[:40]!r}… is longer than {NAME_LENGTH_MAX:,} characters."
        else:
            return True
        self.complaints.add(node, show_path(("columns", *prefix)), problem, "Choose another.")
        return False

    def _column(self, item: Item, prefix: Path) -> Field | None:
        if isinstance(item.value, Read):
            return self._full(item.value, prefix)
        assert isinstance(item.node, Mapping)  # the short form is one, of one entry
        (name,) = item.node.entries
        written: Item | None = item.value.get(name)
        if written is None:  # its type was no text, and that was complained of
            return Field(name, BROKEN)
        path = show_path((*prefix, name))
        of, required = self._type(written.value, written.node, f"columns.{path}", name)
        return Field(name, of, required)

    def _type(self, text: str, node: Node, at: str, column: str | None = None) -> tuple[Type, bool]:
        try:
            return _parse_type(text)
        except BadInput as error:
            hint = error.next_step
            if column in {"name", "doc", "type"}:  # `- name: id` alone: half of a full column
                hint = f"This declares a column called {column!r}. A full column has name: and type:."
            self.complaints.add(node, at, error.what, hint)
            return BROKEN, False

    def _full(self, read: Read, prefix: Path) -> Field | None:
        if "name" not in read.items:
            return None
        name: str = read.get("name")
        path = (*prefix, name)
        at = f"columns.{show_path(path)}"
        of, required = self._inside(read, path, at)
        said = read.get("required", False)
        if required and "required" in read.items and not said:
            self.complaints.add(read.node_of("required"), at, "the type says required, and required: false denies it.")
        required = said or required
        if required and of == Primitive("unknown"):
            self.complaints.add(read.node, at, "a column of type unknown is always null and cannot be required.")
        if "was" in read.items:
            self._renamed(read, path, at)
        initial, write = self._defaults(read, of, at)
        return Field(name, of, required, read.get("doc"), None, initial, write)

    def _renamed(self, read: Read, path: Path, at: str) -> None:
        if read.get("was") == path[-1]:
            self.complaints.add(read.node_of("was"), at, f"was: {path[-1]!r} is the name it has.", "Remove was:.")
        else:
            self.out.was[path] = read.get("was")

    def _inside(self, read: Read, path: Path, at: str) -> tuple[Type, bool]:
        """The type: by its text, or by the keys of what is inside it."""
        text = read.get("type")
        inner: list[str] = [key for key in ("fields", "element", "key", "value") if key in read.node.entries]
        if not inner:
            if text is not None and text.strip() in _NESTED:
                needs = " and ".join(f"{key}:" for key in _NESTED[text.strip()])
                self.complaints.add(read.node_of("type"), at, f"a {text.strip()} needs {needs}.")
                return BROKEN, False
            return (BROKEN, False) if text is None else self._type(text, read.node_of("type"), at)
        word = next((word for word, keys in _NESTED.items() if tuple(inner) in {keys, keys[::-1]}), None)
        if word is None or (text is not None and text.strip() != word):
            self._confused(read, inner, text, at)
            return BROKEN, False
        if any(key not in read.items for key in inner):
            return BROKEN, False
        return self._nested(word, read, path), False

    def _confused(self, read: Read, inner: list[str], text: str | None, at: str) -> None:
        keys = " and ".join(f"{key}:" for key in inner)
        problem = f"{keys} do not go together." if text is None else f"{keys} does not belong to the type {text!r}."
        if inner in (["key"], ["value"]) and text in (None, "map"):
            problem = f"a map needs both key: and value:; only {keys} is here."
        hint = "A struct has fields:, a list element:, a map key: and value:."
        self.complaints.add(read.node_of(inner[0]), at, problem, hint)

    def _nested(self, word: str, read: Read, path: Path) -> Type:
        if word == "struct":
            return Struct(self.fields(read.get("fields"), path))
        inside = {key: self._element(read, key, (*path, key)) for key in _NESTED[word]}
        if word == "list":
            return ListOf(*inside["element"])
        key, value = inside["key"], inside["value"]
        return MapOf(key[0], value[0], value[1])

    def _element(self, read: Read, key: str, path: Path) -> tuple[Type, bool]:
        value, node = read.items[key]
        at = f"columns.{show_path(path)}"
        self._place(path, node)
        if not isinstance(value, Read):
            return self._type(value, node, at)
        of, required = self._inside(value, path, at)
        said = value.get("required")
        if key == "key" and said is False:
            self.complaints.add(value.node_of("required"), at, "the key of a map is always required.", "Remove it.")
        return of, required if said is None else said or required

    def _defaults(self, read: Read, of: Type, at: str) -> tuple[Json, Json]:
        both, initial, write = (
            self._default(read, key, of, at) for key in ("default", "initial-default", "write-default")
        )
        if "default" in read.items and {"initial-default", "write-default"} & read.items.keys():
            hint = "Keep default:, or the other two."
            self.complaints.add(read.node_of("default"), at, "default: already says both defaults.", hint)
        return (both, both) if "default" in read.items else (initial, write)

    def _default(self, read: Read, key: str, of: Type, at: str) -> Json:
        node = read.get(key)
        if not isinstance(node, Scalar) or node.value is None or of == BROKEN:
            return None
        # Numbers lose their digits as floats; hexadecimal digits can look like a number.
        as_written = isinstance(of, Decimal | Fixed) or (isinstance(of, Primitive) and of.name in _AS_WRITTEN)
        try:
            return defaults.canonical(node.text if as_written else node.value, of)
        except BadInput as error:
            self.complaints.add(node, under(at, key), error.what, error.next_step)
            return None

    def check_whole(self) -> None:
        """What only the whole shows: names inside types written on one line, and dotted names that collide.

        Iceberg finds fields by their dotted name: `a.b` as a column and `b` inside `a` cannot both be.
        """
        dotted: dict[str, Path] = {}
        met: set[Path] = set()
        for path, found in walk(self.out.struct):
            node = self.out.places.get(path) or self.out.places[path[:-1]]
            if path in met:
                self._twice(path, node)
            elif path not in self.out.places:
                self._name_fits(found.name, node, path[:-1])
                self._place(path, node)
            met.add(path)
            first = dotted.setdefault(".".join(path), path)
            if first != path:
                problem = f"it and {show_path(first)} have the same dotted name, by which Iceberg finds fields."
                self.complaints.add(node, f"columns.{show_path(path)}", problem, "Rename one of the two.")
        if len(met) > FIELDS_MAX:
            node = next(iter(self.out.places.values()))
            problem = f"there are {len(met):,} fields; at most {FIELDS_MAX:,} are read."
            self.complaints.add(node, "columns", problem, "Use a map.")

"""Types as people write them on one line: `list<struct<sku: string required, qty: int>>`."""

from __future__ import annotations

import re

from firnline.config.yaml import DEPTH_MAX
from firnline.core.errors import BadInput
from firnline.core.suggest import nearest
from firnline.core.types import PRIMITIVES, Field, ListOf, MapOf, Struct, Type, parse_atom

# What other systems call these types. Refused with the Iceberg word rather than taken: one idea, one word.
_FOREIGN = {
    "bigint": "long", "int64": "long", "integer": "int", "int32": "int", "smallint": "int", "tinyint": "int",
    "short": "int", "byte": "int", "bool": "boolean", "varchar": "string", "char": "string", "text": "string",
    "str": "string", "real": "float", "float32": "float", "float64": "double", "numeric": "decimal(P,S)",
    "number": "decimal(P,S)", "decimal": "decimal(P,S)", "datetime": "timestamp", "timestamp_ntz": "timestamp",
    "timestamp_ltz": "timestamptz", "timestamp_tz": "timestamptz", "timestampz": "timestamptz", "bytes": "binary",
    "blob": "binary", "bytea": "binary", "json": "variant or string", "array": "list<TYPE>",
    "row": "struct<NAME: TYPE>",
    "fixed": "fixed(LENGTH)", "list": "list<TYPE>", "map": "map<TYPE, TYPE>", "struct": "struct<NAME: TYPE>",
}  # fmt: skip
_ATOM = re.compile(r"[A-Za-z_][\w-]*(?:\s*(?:\([^()<>]*\)|\[[^\[\]<>]*\]))?")
_NAME = re.compile(r"`(?:[^`]|``)*`|[^\s<>,:`]+")
_SPACE = re.compile(r"\s*")
_REQUIRED = re.compile(r"\s+required(?![\w-])")
_NULLITY = re.compile(r"\s+(not\s+null|optional|nullable|null)(?![\w-])", re.IGNORECASE)


def parse(text: str) -> tuple[Type, bool]:
    """The type and whether `required` follows it. Raises BadInput with what is wrong and what was probably meant."""
    reader = _Reader(text)
    found = reader.type(0)
    required = reader.required()
    if reader.rest():
        raise BadInput(f"{text!r} has {reader.rest()[:40]!r} after the type.", next_step=_trailing_hint(text))
    return found, required


def _trailing_hint(text: str) -> str | None:
    if _NULLITY.search(text):
        return "Columns may be null unless `required` follows the type."
    return "Check the brackets." if text.count("<") != text.count(">") else None


class _Reader:
    """One pass over the text, left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    def rest(self) -> str:
        return self.text[self.place :].strip()

    def _take(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.text, self.place)
        if found is None:
            return None
        self.place = found.end()
        return found.group()

    def _sign(self, sign: str, after: str) -> None:
        self._take(_SPACE)
        if not self.text.startswith(sign, self.place):
            seen = repr(self.rest()[:20]) if self.rest() else "the end"
            raise BadInput(f"{self.text!r} has {seen} where {sign!r} belongs, after {after}.")
        self.place += 1

    def _has(self, sign: str) -> bool:
        self._take(_SPACE)
        if self.text.startswith(sign, self.place):
            self.place += 1
            return True
        return False

    def required(self) -> bool:
        return self._take(_REQUIRED) is not None

    def type(self, depth: int) -> Type:
        if depth > DEPTH_MAX:
            raise BadInput(f"The type is nested more than {DEPTH_MAX} deep.")
        self._take(_SPACE)
        start = self.place
        word = self._take(_ATOM)
        if word is None:
            seen = repr(self.rest()[:20]) if self.rest() else "the end"
            raise BadInput(f"{self.text!r} has {seen} where a type belongs.")
        folded = word.strip().lower()
        if folded in {"list", "map", "struct"} and self._has("<"):
            return {"list": self._list, "map": self._map, "struct": self._struct}[folded](depth)
        atom = parse_atom(word)
        if atom is None:
            raise _unknown(word, self.text if start == 0 and not self.rest() else None)
        return atom

    def _list(self, depth: int) -> Type:
        element = self.type(depth + 1)
        required = self.required()
        self._sign(">", "the element")
        return ListOf(element, required)

    def _map(self, depth: int) -> Type:
        key = self.type(depth + 1)
        self.required()  # keys always are
        self._sign(",", "the key")
        value = self.type(depth + 1)
        required = self.required()
        self._sign(">", "the value")
        return MapOf(key, value, required)

    def _struct(self, depth: int) -> Type:
        fields: list[Field] = []
        while not self._has(">"):
            if fields:
                self._sign(",", f"the field {fields[-1].name!r}")
            self._take(_SPACE)
            name = self._take(_NAME)
            if name is None:
                raise BadInput(f"{self.text!r} has {self.rest()[:20]!r} where a field's name belongs.")
            name = name[1:-1].replace("``", "`") if name.startswith("`") else name
            self._sign(":", f"the field's name {name!r}")
            inner = self.type(depth + 1)
            fields.append(Field(name, inner, self.required()))
        return Struct(tuple(fields))


def _unknown(word: str, whole: str | None) -> BadInput:
    stem = re.split(r"[\s(<\[]", word.strip())[0].lower()
    shown = (whole or word).strip()
    if stem == "decimal" and "(" in word:
        return BadInput(f"{shown!r} is not a decimal: 1 to 38 digits, and no more after the point than in all.")
    if stem == "fixed" and re.search(r"[(\[]", word):
        return BadInput(f"{shown!r} is not a fixed: its length is a number of bytes, 1 or more.")
    if stem in _FOREIGN:
        return BadInput(f"{shown!r} is not an Iceberg type.", next_step=f"Iceberg calls it {_FOREIGN[stem]}.")
    near = nearest(stem, (*PRIMITIVES, "decimal", "fixed", "list", "map", "struct", "geometry", "geography"))
    hint = (
        f"Did you mean {near!r}?"
        if near
        else f"Valid: {', '.join(PRIMITIVES)}, decimal(P,S), fixed(N), list, map, struct."
    )
    return BadInput(f"{shown!r} is not an Iceberg type.", next_step=hint)

"""YAML text → nodes that know their lines. The bottom of `config`: everything a user writes comes in through `parse`.

PyYAML supplies the events; the rest is ours because its own composer recurses in C (a few thousand brackets end the
process), keeps the last of two equal keys, and reads `on`, `no` and `12:30` by YAML 1.1. Here scalars follow the core
schema of YAML 1.2: only null, true, false, integers and floats are anything but text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import yaml

from firnline.core.errors import BadFiles, Complaint

# What a hand-written file never reaches, and a hostile or generated one must not pass.
BYTES_MAX = 4 * 1024 * 1024  # a table of 10,000 documented columns is about 1 MiB
DEPTH_MAX = 64  # types nest by this depth too; our own readers and writers recurse
NODES_MAX = 200_000  # after aliases are expanded: what stops a billion laughs

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUTH = {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_INTEGER = re.compile(r"[-+]?[0-9]{1,40}")
_BASED = re.compile(r"0o[0-7]{1,40}|0x[0-9a-fA-F]{1,40}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = {".nan": "nan", ".inf": "inf", "+.inf": "inf", "-.inf": "-inf"}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is some 15 times faster; PyYAML's wheels have it


class Scalar(NamedTuple):
    """A leaf. `text` is as written; `value` is that text read by YAML 1.2, or the text itself when it was quoted.

    `origin` is set when the value did not come from the file: the name of an environment variable.
    """

    value: str | int | float | bool | None
    text: str
    line: int
    origin: str | None = None


class Listing(NamedTuple):
    """A sequence."""

    items: tuple[Node, ...]
    line: int
    depth: int = 0


class Entry(NamedTuple):
    """A value under its key; the line is the key's."""

    line: int
    node: Node


class Mapping(NamedTuple):
    """A mapping in the order written. Keys are text as written: `no`, `1` and `null` are names here."""

    entries: dict[str, Entry]
    line: int
    depth: int = 0


Node: TypeAlias = Scalar | Listing | Mapping


def resolve(text: str) -> str | int | float | bool | None:
    """A plain scalar by the core schema of YAML 1.2."""
    if text in _NULL:
        return None
    if text in _TRUTH:
        return _TRUTH[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if text.lower() in _SPECIAL:
        return float(_SPECIAL[text.lower()])
    return float(text) if _FLOAT.fullmatch(text) else text


def kind(node: Node) -> str:
    """What a person would call it: for messages."""
    match node:
        case Mapping():
            return "a mapping"
        case Listing():
            return "a list"
        case Scalar(value=None):
            return "nothing"
        case Scalar(value=bool()):
            return f"the truth value {node.text}"
        case Scalar(value=int() | float()):
            return f"the number {node.text[:40]}"
        case _:
            return f"the text {node.text[:60]!r}"


def _depth(node: Node) -> int:
    return 0 if isinstance(node, Scalar) else node.depth


def parse(data: bytes, file: str) -> Node:
    """The one document of a file. Raises BadFiles with everything that is wrong with it as YAML."""
    text = _decode(data, file)
    composer = _Composer(file)
    try:
        root = composer.compose(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        raise BadFiles((_syntax(error, text, file),)) from None
    except yaml.YAMLError as error:  # the reader's: a character YAML does not allow
        raise BadFiles((_unreadable(error, text, file),)) from None
    if composer.complaints:
        raise BadFiles(tuple(composer.complaints))
    if root is None or (isinstance(root, Scalar) and root.value is None):
        raise _bad(file, None, "the file is empty.", "Write its keys, or delete it.")
    return root


def _bad(file: str, line: int | None, problem: str, hint: str | None = None) -> BadFiles:
    return BadFiles((Complaint(file, line, None, problem, hint),))


def _decode(data: bytes, file: str) -> str:
    if len(data) > BYTES_MAX:
        raise _bad(file, None, f"the file has {len(data):,} bytes; at most {BYTES_MAX:,} are read.", "Split it.")
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise _bad(file, 1, "the file starts with a byte order mark.", "Save it as UTF-8 without one.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _bad(file, line, f"the byte 0x{data[error.start]:02x} is not UTF-8.", "Save the file as UTF-8.") from None


def _syntax(error: yaml.MarkedYAMLError, text: str, file: str) -> Complaint:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else None
    lines = text.splitlines()
    written = lines[line - 1] if line is not None and line <= len(lines) else ""
    if "\t" in written[: len(written) - len(written.lstrip())]:
        return Complaint(file, line, None, "a tab is used for indentation.", "YAML indents with spaces.")
    problem = (error.problem or "it cannot be read").rstrip(".")
    if "alias" in problem:
        return Complaint(
            file, line, None, "an alias (*) names no anchor (&) above it.", "Quote text that starts with *."
        )
    begun = error.context_mark.line + 1 if error.context_mark else line
    where = f" for what begins on line {begun}" if begun != line else ""
    return Complaint(file, line, None, f"this is not YAML: {problem}{where}.", _syntax_hint(written))


def _syntax_hint(written: str) -> str | None:
    start = written.split(":", 1)[-1].strip()[:1] or written.strip()[:1]
    if start in {"`", "@", "%"}:
        return f"Text that starts with {start} has to be quoted."
    if written.count(": ") > 1:
        return "Text with a colon and a space in it has to be quoted."
    return None


def _unreadable(error: yaml.YAMLError, text: str, file: str) -> Complaint:
    place = getattr(error, "position", None)
    odd = re.search(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    place = odd.start() if odd else place
    line = text.count("\n", 0, place) + 1 if place is not None else None
    what = f"the character {odd.group()!a}" if odd else "a character"
    return Complaint(file, line, None, f"{what} is not allowed in YAML.", "Write it as an escape in double quotes.")


class _Composer:
    """Events → nodes, with aliases counted, keys unique and depth bounded."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.complaints: list[Complaint] = []
        self.anchors: dict[str, tuple[Node | None, int]] = {}  # None while the anchored node is still open
        self.nodes = 0

    def compose(self, events: Iterator[Any]) -> Node | None:
        """The first document; a second one is complained of."""
        root: Node | None = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._bad(event, "a second document starts here.", "One file holds one document: remove ---.")
            elif isinstance(event, yaml.NodeEvent):
                root = self._node(event, events, 0)
        return root

    def _bad(self, event: Any, problem: str, hint: str | None = None) -> BadFiles:
        return _bad(self.file, event.start_mark.line + 1, problem, hint)

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, depth)
        self._count(event, 1)
        if depth > DEPTH_MAX:
            raise self._bad(event, f"this is nested more than {DEPTH_MAX} deep.", "Flatten it.")
        if event.tag is not None:
            raise self._bad(event, f"the tag {event.tag!r} is not used here.", "Write the value without a tag.")
        before = self.nodes
        if event.anchor is not None:
            self.anchors[event.anchor] = (None, 0)
        node = self._untagged(event, events, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = (node, self.nodes - before + 1)
        return node

    def _untagged(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0]
            return Scalar(resolve(event.value) if plain else event.value, event.value, line)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            for inner in events:
                if isinstance(inner, yaml.SequenceEndEvent):
                    break
                items.append(self._node(inner, events, depth + 1))
            return Listing(tuple(items), line, 1 + max((_depth(item) for item in items), default=0))
        return self._mapping(events, line, depth)

    def _mapping(self, events: Iterator[Any], line: int, depth: int) -> Mapping:
        entries: dict[str, Entry] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._node(event, events, depth + 1)
            if not isinstance(key, Scalar):
                raise self._bad(
                    event, f"{kind(key)} is used as a key.", "Keys are text; quote text that starts with [ or {."
                )
            if key.text == "<<" and isinstance(event, yaml.ScalarEvent) and event.implicit[0]:
                raise self._bad(event, "merge keys (<<) are not part of YAML 1.2.", "Write the keys out.")
            node = self._node(next(events), events, depth + 1)
            at = event.start_mark.line + 1
            if key.text in entries:
                first = entries[key.text].line
                self.complaints.append(
                    Complaint(self.file, at, key.text, f"the key is already on line {first}.", "Keep one of the two.")
                )
            else:
                entries[key.text] = Entry(at, node)
        return Mapping(entries, line, 1 + max((_depth(entry.node) for entry in entries.values()), default=0))

    def _alias(self, event: Any, depth: int) -> Node:
        if event.anchor not in self.anchors:
            raise self._bad(
                event, f"the alias *{event.anchor} names no anchor above it.", "Quote text that starts with *."
            )
        node, size = self.anchors[event.anchor]
        if node is None:
            raise self._bad(event, f"the alias *{event.anchor} stands inside what it names.", "Write the value out.")
        if depth + _depth(node) > DEPTH_MAX:
            raise self._bad(event, f"this is nested more than {DEPTH_MAX} deep.", "Flatten it.")
        self._count(event, size)
        return node

    def _count(self, event: Any, more: int) -> None:
        self.nodes += more
        if self.nodes > NODES_MAX:
            raise self._bad(event, f"the file has more than {NODES_MAX:,} values, aliases counted.", "Split it.")

"""A declaration → the text of its table file, as a person would have written it. What it writes reads back the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from firnline.config import paths, placing, yaml
from firnline.config.tables import read
from firnline.config.values import Declaration, DeclaredPartition, DeclaredRef
from firnline.core.errors import BadFiles, Refused
from firnline.core.instants import show_duration
from firnline.core.types import Field, Json, ListOf, MapOf, Opaque, Path, Struct, Type, children, show

LINE_MAX = 110
# Plain in a block; in a flow list commas and brackets would end the item.
_PLAIN = re.compile(r"[^\W\d][\w./+-]*(?: [\w./+<>()\[\],;=-]+)*")
_PLAIN_TYPE = re.compile(r"[a-z][\w<>(), \[\]]*(?:(?<! ): ?[\w<>(), \[\]]+)*")
_PLAIN_IN_FLOW = re.compile(r"[^\W\d][\w./+()-]*(?: [\w./+()-]+)*")
_BARE_NAME = re.compile(r"[^\W\d][\w-]*")
_OLD_TRUTH = frozenset({"y", "n", "yes", "no", "on", "off"})  # truth values to tools that still read YAML 1.1
_UNPRINTABLE = re.compile(r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029]")


def declaration(of: Declaration) -> str:
    """The text of the file. Refused when no file can say it, which a name with a control character sees to."""
    text = "\n".join(_lines(of)) + "\n"
    try:
        back, _ = read(text.encode(), of.source.file)
    except BadFiles as error:
        raise Refused(
            f"{of.identifier} has something that no table file can say: {error.complaints[0].problem}",
            next_step="Rename it in the table first, with the engine that made it.",
        ) from error
    if replace(back, source=of.source) != of:
        raise Refused(
            f"{of.identifier} cannot be written as a table file that reads back the same.",
            why="A plan right after would want to change the table.",
            next_step="Please report it, with what `firnline tables show` says of the table.",
        )
    return text


def _lines(of: Declaration) -> Iterator[str]:
    yield f"table: {_scalar(str(of.identifier))}"
    for key, text in (("description", of.description), ("owner", of.owner)):
        if text is not None:
            yield f"{key}: {_scalar(text)}"
    if of.format_version is not None:
        yield f"format-version: {of.format_version}"
    if of.location is not None:
        yield f"location: {_scalar(of.location)}"
    yield "columns:"
    for field in of.schema.fields:
        yield from _column(field, (field.name,), of.was, "  ")
    yield from _listed("identifier", (paths.show(path) for path in of.identifier_fields))
    yield from _partition(of.partition)
    yield from _listed("sort", (placing.show_sort(key) for key in of.order))
    yield from _mapping("properties", of.properties.items(), lambda value: "null" if value is None else _scalar(value))
    for key, kind in (("branches", "branch"), ("tags", "tag")):
        yield from _mapping(key, ((ref.name, ref) for ref in of.refs if ref.kind == kind), _ref)
    yield from _rest(of)


def _rest(of: Declaration) -> Iterator[str]:
    yield from _mapping("policy", of.policy.items(), _json)
    yield from _listed("readers", of.readers)
    yield from _listed("subjects", (paths.show(path) for path in of.subjects))
    if of.consumers:
        yield "consumers:"
    for consumer in of.consumers:
        lag = f", max-lag: {show_duration(consumer.lag_max)}" if consumer.lag_max is not None else ""
        yield f"  - {{id: {_in_flow(consumer.id)}{lag}}}"
    if of.protect:
        yield "protect: true"
    if of.accept:
        yield "accept:"
    for one in of.accept:
        column = f"column: {_in_flow(paths.show(one.column))}, " if one.column is not None else ""
        yield f"  - {{change: {one.change}, {column}reason: {_quoted(one.reason)}}}"
    if of.drop is not None:
        yield f"drop: {{purge: {str(of.drop.purge).lower()}, reason: {_quoted(of.drop.reason)}}}"


def _column(field: Field, path: Path, was: Mapping[Path, str], indent: str) -> Iterator[str]:
    """A column or a field of a struct: `name: type` where that says everything."""
    former = was.get(path)
    text = _one_line(field.type, path, was)
    plain = field.doc is None and field.initial_default is None and field.write_default is None and former is None
    short = None if text is None else text + (" required" if field.required else "")
    if plain and short is not None and len(short) <= LINE_MAX:
        yield f"{indent}- {_in_flow(field.name)}: {_type(short)}"
        return
    yield f"{indent}- name: {_scalar(field.name)}"
    inner = indent + "  "
    if former is not None:
        yield f"{inner}was: {_scalar(former)}"
    if field.doc is not None:
        yield f"{inner}doc: {_scalar(field.doc)}"
    yield from _inside(field.type, path, was, inner)
    if field.required:
        yield f"{inner}required: true"
    for key, value in (("initial-default", field.initial_default), ("write-default", field.write_default)):
        if value is not None:
            yield f"{inner}{key}: {_json(value)}"


def _inside(of: Type, path: Path, was: Mapping[Path, str], indent: str) -> Iterator[str]:
    text = _one_line(of, path, was)
    if text is not None and len(text) <= LINE_MAX:
        yield f"{indent}type: {_type(text)}"
        return
    match of:
        case Struct():
            yield f"{indent}type: struct"
            yield f"{indent}fields:" if of.fields else f"{indent}fields: []"
            for field in of.fields:
                yield from _column(field, (*path, field.name), was, indent + "  ")
        case ListOf() | MapOf():
            yield f"{indent}type: {'list' if isinstance(of, ListOf) else 'map'}"
            for child in children(of):
                yield f"{indent}{child.name}:"
                yield from _inside(child.type, (*path, child.name), was, indent + "  ")
                if child.required and child.name != "key":
                    yield f"{indent}  required: true"
        case _:
            yield f"{indent}type: {_type(text or show(of))}"


def _one_line(of: Type, path: Path, was: Mapping[Path, str]) -> str | None:
    """The type on one line; None also when a field inside it was renamed, which one line cannot say."""
    inside = any(len(renamed) > len(path) and renamed[: len(path)] == path for renamed in was)
    return None if inside else _type_text(of)


def _type_text(of: Type) -> str | None:
    """The type on one line; None when something inside has words or a default, which one line cannot say."""
    match of:
        case Struct():
            inner = [_field_text(field) for field in of.fields]
            return None if None in inner else f"struct<{', '.join(part for part in inner if part)}>"
        case ListOf():
            element = _type_text(of.element)
            return None if element is None else f"list<{element}{' required' if of.element_required else ''}>"
        case MapOf():
            key, value = _type_text(of.key), _type_text(of.value)
            required = " required" if of.value_required else ""
            return None if key is None or value is None else f"map<{key}, {value}{required}>"
        case Opaque():
            return of.text
        case _:
            return show(of)


def _field_text(field: Field) -> str | None:
    text = _type_text(field.type)
    if text is None or field.doc is not None or field.initial_default is not None or field.write_default is not None:
        return None
    name = field.name if _BARE_NAME.fullmatch(field.name) else f"`{field.name.replace('`', '``')}`"
    return f"{name}: {text}{' required' if field.required else ''}"


def _partition(parts: tuple[DeclaredPartition, ...]) -> Iterator[str]:
    if any(part.name is not None for part in parts):
        yield "partition:"
        for part in parts:
            name = f", name: {_in_flow(part.name)}" if part.name is not None else ""
            yield f"  - {{transform: {_quoted(part.transform)}, column: {_in_flow(paths.show(part.column))}{name}}}"
    else:
        yield from _listed("partition", (placing.show_partition(part) for part in parts))


def _listed(key: str, values: Iterable[str]) -> Iterator[str]:
    items = [_in_flow(value) for value in values]
    line = f"{key}: [{', '.join(items)}]"
    if not items:
        return
    if len(line) <= LINE_MAX:
        yield line
    else:
        yield f"{key}:"
        yield from (f"  - {item}" for item in items)


def _mapping(key: str, items: Iterable[tuple[str, Json]], show_value: Callable[[Json], str]) -> Iterator[str]:
    lines = [f"  {_in_flow(name)}: {show_value(value)}" for name, value in items]
    if lines:
        yield f"{key}:"
        yield from lines


def _ref(ref: DeclaredRef) -> str:
    if ref.absent:
        return "null"
    parts = [
        f"snapshot: {ref.snapshot}" if ref.snapshot is not None else "",
        f"keep: {show_duration(ref.ref_age_max)}" if ref.ref_age_max is not None else "",
        f"max-snapshot-age: {show_duration(ref.snapshot_age_max)}" if ref.snapshot_age_max is not None else "",
        f"min-snapshots: {ref.snapshots_min}" if ref.snapshots_min is not None else "",
    ]
    return f"{{{', '.join(part for part in parts if part)}}}"


def _json(value: Json) -> str:
    """JSON is YAML, but for characters that YAML will not have written out: they are escaped."""
    return _UNPRINTABLE.sub(_escape, json.dumps(value, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _quoted(text: str) -> str:
    return _json(text)


def _scalar(text: str) -> str:
    return text if _is_plain(text, _PLAIN) else _quoted(text)


def _in_flow(text: str) -> str:
    return text if _is_plain(text, _PLAIN_IN_FLOW) else _quoted(text)


def _type(text: str) -> str:
    return text if ": " not in text and _is_plain(text, _PLAIN_TYPE) else _quoted(text)


def _is_plain(text: str, pattern: re.Pattern[str]) -> bool:
    return bool(pattern.fullmatch(text)) and text.casefold() not in _OLD_TRUTH and yaml.resolve(text) == text

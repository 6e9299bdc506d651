"""Random declarations and random changes of them, for Hypothesis. What comes out is always valid, however odd."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from hypothesis import strategies as st

from firnline.config.values import Acceptance, Declaration, DeclaredPartition, DeclaredSort, Source
from firnline.core import layout
from firnline.core.types import (
    PRIMITIVES,
    V3_ONLY,
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
    children,
    show_path,
    walk,
    with_children,
)
from tests.decisions.drafts import ORDERS, REASON

ODD_NAMES = (
    "id", "select", "from", "element", "key", "value", "a.b", "a.b.c", "with space", 'with "quotes"', "it's",
    "back`tick", "größe", "数量", "🦆", "_", "a_day", "UPPER", "Mixed", "1st", "null", "x:y", "#", "-", "%s", "{}",
    "order", "naïve.é",
)  # fmt: skip
_LETTERS = st.characters(exclude_categories=["C", "Z"])
names = st.sampled_from(ODD_NAMES) | st.text(_LETTERS, min_size=1, max_size=12)
docs = st.none() | st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=30)
_PRECISIONS = st.integers(1, 38).flatmap(lambda digits: st.builds(Decimal, st.just(digits), st.integers(0, digits)))


def atoms(version: int) -> st.SearchStrategy[Type]:
    """Types without an inside that this format has."""
    known = [Primitive(name) for name in PRIMITIVES if version >= 3 or name not in V3_ONLY]
    opaque = st.sampled_from([Opaque("geometry(OGC:CRS84)"), Opaque("geography(OGC:CRS84, vincenty)")])
    plain = st.sampled_from(known) | _PRECISIONS | st.builds(Fixed, st.integers(1, 64))
    return plain | opaque if version >= 3 else plain


def keyable(of: Type) -> bool:
    """Whether a map may have such keys: neither variants nor nulls compare."""
    inside = (of, *(child.type for child in children(of)))
    return not any(one in {Primitive("variant"), Primitive("unknown")} for one in inside)


def types(version: int, inside: st.SearchStrategy[Type] | None = None) -> st.SearchStrategy[Type]:
    """Any type, nested to some depth."""
    return st.recursive(
        atoms(version) if inside is None else inside,
        lambda inner: st.one_of(
            st.builds(lambda of, must: ListOf(of, must and of != Primitive("unknown")), inner, st.booleans()),
            st.builds(MapOf, inner.filter(keyable), inner, st.just(value=False)),
            structs(inner, most=3),
        ),
        max_leaves=5,
    )


def _nullable(field: Field) -> Field:
    """A column of nulls alone is never required."""
    return replace(field, required=False) if field.type == Primitive("unknown") else field


def structs(inner: st.SearchStrategy[Type], most: int = 6) -> st.SearchStrategy[Struct]:
    """Fields with names of their own."""
    one = st.builds(Field, names, inner, st.booleans(), docs).map(_nullable)
    return st.lists(one, min_size=1, max_size=most, unique_by=lambda field: field.name.casefold()).map(
        lambda fields: Struct(tuple(fields))
    )


def unambiguous(struct: Struct) -> bool:
    """Whether no two fields have one dotted name: `a.b` beside a struct `a` with `b`. Iceberg has no such schema."""
    dotted = [".".join(path).casefold() for path, _ in walk(struct)]
    return len(set(dotted)) == len(dotted)


def reachable(struct: Struct, prefix: Path = (), *, required: bool = True) -> list[tuple[Path, Field, bool]]:
    """The fields that stand in no list and no map, and whether everything above them is required."""
    found: list[tuple[Path, Field, bool]] = []
    for field in struct.fields:
        path = (*prefix, field.name)
        found.append((path, field, required))
        if isinstance(field.type, Struct):
            found += reachable(field.type, path, required=required and field.required)
    return found


_TRANSFORMS = ("identity", "year", "month", "day", "hour", "bucket[16]", "truncate[4]")
_DURATION = st.timedeltas(timedelta(milliseconds=1), timedelta(days=400))


@st.composite
def layouts(
    draw: st.DrawFn, struct: Struct, transforms: tuple[str, ...] = _TRANSFORMS
) -> tuple[tuple[DeclaredPartition, ...], tuple[DeclaredSort, ...]]:
    """A partition, each of its fields with a name of its own, and a sort order."""
    fits = [
        (transform, path)
        for path, field, _ in reachable(struct)
        for transform in transforms
        if layout.accepts(transform, field.type)
    ]
    if not fits:
        return (), ()
    parts = draw(st.lists(st.sampled_from(fits), max_size=3, unique_by=lambda fit: fit[1]))
    keys = draw(st.lists(st.sampled_from(fits), max_size=2, unique_by=lambda fit: fit[1]))
    partition = tuple(
        DeclaredPartition(transform, path, f"part {number}") for number, (transform, path) in enumerate(parts)
    )
    order = tuple(
        DeclaredSort(
            transform,
            path,
            draw(st.sampled_from(["asc", "desc"])),
            draw(st.sampled_from(["nulls-first", "nulls-last"])),
        )
        for transform, path in keys
    )
    return partition, order


_DEFAULTS: dict[str, list[Json]] = {
    "boolean": [False, True],
    "int": [0, -(2**31)],
    "long": [2**63 - 1],
    "double": [0.1, -1e300],
    "string": ["", "null", "a: b", "é 🦆"],
    "date": ["2026-11-18"],
    "timestamptz": ["2026-11-18T09:30:00.000001+00:00"],
    "uuid": ["f79c3e09-677c-4bbd-a479-3f349cb785e7"],
    "binary": ["00FF"],
}


def _defaulted(field: Field) -> st.SearchStrategy[Field]:
    """With or without defaults, as canonical JSON."""
    known = _DEFAULTS.get(field.type.name, []) if isinstance(field.type, Primitive) else []
    default = st.none() | st.sampled_from(known) if known else st.none()
    return st.builds(lambda old, new: replace(field, initial_default=old, write_default=new), default, default)


def _identifies(field: Field, above: bool) -> bool:  # one of a tuple's parts
    plain = not children(field.type) and not isinstance(field.type, Opaque)
    name = field.type.name if isinstance(field.type, Primitive) else ""
    return above and field.required and plain and name not in {"float", "double", "variant", "unknown"}


_keys = st.text("abcdefghijk.-_", min_size=1, max_size=12).map(lambda text: f"custom.{text}")
_values = st.text(st.characters(exclude_categories=["C"]), max_size=20)


@st.composite
def declarations(
    draw: st.DrawFn,
    version: int,
    inside: st.SearchStrategy[Type] | None = None,
    transforms: tuple[str, ...] = _TRANSFORMS,
) -> Declaration:
    """A whole table file of this format."""
    struct = draw(structs(types(version, inside)).filter(unambiguous))
    if version >= 3:
        struct = Struct(tuple(draw(_defaulted(field)) for field in struct.fields))
    partition, order = draw(layouts(struct, transforms))
    possible = [path for path, field, above in reachable(struct) if _identifies(field, above)]
    identifier = draw(st.lists(st.sampled_from(possible), max_size=2, unique=True)) if possible else []
    return Declaration(
        ORDERS,
        Source("tables/orders.yaml"),
        struct,
        identifier_fields=tuple(identifier),
        partition=partition,
        order=order,
        properties=draw(st.dictionaries(_keys, _values, max_size=3)),
        format_version=version,
        owner=draw(st.none() | st.just("ann")),
        description=docs_or_none(draw(docs)),
    )


def docs_or_none(text: str | None) -> str | None:
    """A description is kept as a property, and an empty one is none."""
    return text or None


Change = Callable[[Struct], Struct]


@st.composite
def evolutions(
    draw: st.DrawFn, before: Declaration, version: int, inside: st.SearchStrategy[Type] | None = None
) -> Declaration:
    """The same table after some changes that a plan may make: columns, layout, properties."""
    was: dict[Path, str] = {}
    accept: list[Acceptance] = []
    used = (
        [part.column for part in before.partition] + [key.column for key in before.order] + [*before.identifier_fields]
    )
    standing = {path for column in used for path in _above(column)}
    fields = _evolved(draw, before.schema.fields, (), standing, was, accept)
    fresh = draw(st.lists(st.builds(Field, names, types(version, inside), st.just(False), docs), max_size=2))
    # Neither a name that is there nor one that was: a dropped column that comes back under its name is another one.
    taken = {field.name.casefold() for field in (*before.schema.fields, *fields)}
    for new in fresh:
        if new.name.casefold() not in taken and unambiguous(Struct((*fields, new))):
            fields = (*fields, new)
            taken.add(new.name.casefold())
    struct = Struct(tuple(draw(st.permutations(fields))))
    if not unambiguous(struct):
        struct, was, accept = before.schema, {}, []
    partition = before.partition[: draw(st.integers(0, len(before.partition)))]
    order = before.order if draw(st.booleans()) else ()
    properties = {**before.properties, **draw(st.dictionaries(_keys, _values, max_size=2))}
    gone = {key: None for key in before.properties if draw(st.booleans())}
    return replace(
        before,
        schema=struct,
        was=was,
        accept=tuple(accept),
        partition=partition,
        order=order,
        properties={**properties, **gone},
    )


def _above(path: Path) -> list[Path]:
    return [path[:length] for length in range(1, len(path) + 1)]


def _evolved(
    draw: st.DrawFn,
    fields: tuple[Field, ...],
    prefix: Path,
    standing: set[Path],
    was: dict[Path, str],
    accept: list[Acceptance],
) -> tuple[Field, ...]:
    found: list[Field] = []
    taken = {field.name for field in fields}
    for field in fields:
        path = (*prefix, field.name)
        held = path in standing
        what = draw(
            st.sampled_from(["keep", "keep", "widen", "relax", "document", *(() if held else ("drop", "rename"))])
        )
        if what == "drop" and (found or field is not fields[-1]):  # something stays: a struct without fields is none
            accept.append(Acceptance("drop-column", path, REASON))
            continue
        new = _changed(draw, field, what, held=held)
        if what == "rename":
            name = f"{field.name} 2"
            if name not in taken:
                new, was[(*prefix, name)] = replace(field, name=name), field.name
        if isinstance(new.type, Struct) and new.name == field.name:
            inside = _evolved(draw, new.type.fields, path, standing, was, accept)
            new = replace(new, type=with_children(new.type, inside))
        found.append(new)
    return tuple(found)


_WIDER = {"int": Primitive("long"), "float": Primitive("double")}


def _changed(draw: st.DrawFn, field: Field, what: str, *, held: bool) -> Field:
    match what, field.type:
        case "widen", Primitive(name=name) if name in _WIDER:
            return replace(field, type=_WIDER[name])
        case "widen", Decimal(precision=digits, scale=scale) if digits < 38:
            return replace(field, type=Decimal(digits + 1, scale))
        case "relax", _ if not held:
            return replace(field, required=False)
        case "document", _:
            return replace(field, doc=draw(docs), write_default=None)
        case _:
            return field


def described(struct: Struct) -> dict[str, int]:
    """Field ids by path."""
    return {show_path(path): field.id for path, field in walk(struct) if field.id is not None}

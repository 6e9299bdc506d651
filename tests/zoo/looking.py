"""Facts by path, and how they are compared with what was expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firnline.core.figures import Figure, show, total
from firnline.core.ids import Identifier
from firnline.facts.values import DeleteFacts, DeleteKind, HistoryFacts, StorageFacts, TableFacts

if TYPE_CHECKING:
    from firnline.facts.slices import FileSlice
    from firnline.lakehouse.opening import Lakehouse


def facts_of(lakehouse: Lakehouse, identifier: Identifier) -> TableFacts:
    """What Firnline says of a table."""
    return lakehouse.facts.table(str(identifier))


def slice_of(lakehouse: Lakehouse, identifier: Identifier) -> FileSlice:
    """Every live data file with the deletes attached to it, as Firnline sees them."""
    return lakehouse.facts.slice(str(identifier))


def history_of(lakehouse: Lakehouse, identifier: Identifier) -> HistoryFacts:
    """What Firnline says of what old snapshots and refs keep."""
    return lakehouse.facts.history(str(identifier))


def storage_of(lakehouse: Lakehouse, identifier: Identifier, now_millis: int) -> StorageFacts:
    """What Firnline says lies under the table's location."""
    from firnline.adapters.local.files import LocalFiles
    from firnline.facts import references, storage
    from firnline.lakehouse import catalogs

    source = lakehouse.facts.source(catalogs.entry(lakehouse, str(identifier)))
    referenced = references.references(source.meta, source.manifests)
    return storage.look(source.meta, referenced, LocalFiles(), lakehouse.blobs, now_millis=now_millis)


@dataclass(frozen=True, slots=True)
class Within:
    """A figure whose interval must hold this number, however wide it is: what metadata alone cannot settle."""

    number: int


def at(facts: object, path: str) -> Any:
    """`deletes.equality.files`, `specs.0.rows`, `refs.main.kind`; `#` is how many there are, `*` the sum over all."""
    head, star, tail = path.partition(".*.")
    value: Any = facts
    for part in head.split("."):
        value = _step(value, part)
    return total(at(each, tail) for each in value.values()) if star else value


def _step(value: Any, part: str) -> Any:
    if part == "#":
        return len(value)
    if isinstance(value, Mapping):
        named = {str(key).lower(): each for key, each in value.items()}
        if part in set(DeleteKind):
            return named.get(part, DeleteFacts())
        return named.get(part)
    if isinstance(value, tuple):
        return next((each for each in value if part in {str(getattr(each, key, None)) for key in _NAMES}), None)
    return None if value is None else getattr(value, part)


_NAMES = ("name", "spec_id", "ref")


def differences(facts: object, expected: Mapping[str, object]) -> Iterator[str]:
    """Each path where facts are not what is expected."""
    for path, wanted in expected.items():
        found = at(facts, path)
        if not _agrees(found, wanted):
            yield f"{path}: {show(found) if isinstance(found, Figure) else found!r}, expected {wanted!r}"


def _agrees(found: object, wanted: object) -> bool:
    if isinstance(wanted, Within):
        figure = Figure(found, found) if isinstance(found, int) else found
        assert isinstance(figure, Figure), found
        return figure.low <= wanted.number and (figure.high is None or wanted.number <= figure.high)
    return found.exact and found.low == wanted if isinstance(found, Figure) else found == wanted

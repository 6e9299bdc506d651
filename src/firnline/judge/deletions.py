"""The live deletes of a table by kind, as several rules ask for them. Pure."""

from __future__ import annotations

from firnline.core.figures import NONE, UNKNOWN, Figure, total
from firnline.facts.values import DeleteFacts, DeleteKind, TableFacts

POSITION = (DeleteKind.POSITION_FILE, DeleteKind.POSITION_FILES)
EQUALITY = (DeleteKind.EQUALITY, DeleteKind.GLOBAL_EQUALITY)
VECTORS = (DeleteKind.VECTOR,)
_NONE = DeleteFacts(oldest_millis=NONE)
_UNKNOWN = DeleteFacts(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)


def of(facts: TableFacts, kind: DeleteKind) -> DeleteFacts:
    """The deletes of a kind. Of one that nobody saw there are none, unless something could not be read."""
    return facts.deletes.get(kind, _UNKNOWN if facts.damage else _NONE)


def files(facts: TableFacts, kinds: tuple[DeleteKind, ...]) -> Figure:
    """How many live delete files there are of these kinds."""
    return total(of(facts, kind).files for kind in kinds)

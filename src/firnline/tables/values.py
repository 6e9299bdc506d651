"""The values of tables as code: changes, their classes and prices, and the bodies of this capability's steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from firnline.core.ids import Identifier
from firnline.loop.commits import CommitRequest

CHANGE = "table.change"
CREATE = "table.create"
DROP = "table.drop"
RENAME = "table.rename"
NAMESPACE = "namespace.change"


class ChangeKind(StrEnum):
    """Every kind of change there is."""

    CREATE_TABLE = "create-table"
    DROP_TABLE = "drop-table"
    ADD_COLUMN = "add-column"
    DROP_COLUMN = "drop-column"
    RENAME_COLUMN = "rename-column"
    WIDEN_COLUMN = "widen-column"
    CHANGE_TYPE = "change-type"
    REQUIRE_COLUMN = "require-column"
    RELAX_COLUMN = "relax-column"
    DOCUMENT_COLUMN = "document-column"
    DEFAULT_COLUMN = "default-column"
    MOVE_COLUMNS = "move-columns"
    IDENTIFY = "identifier-fields"
    PARTITION = "partition"
    SORT = "sort"
    SET_PROPERTY = "set-property"
    REMOVE_PROPERTY = "remove-property"
    UPGRADE_FORMAT = "upgrade-format"
    DOWNGRADE_FORMAT = "downgrade-format"
    MOVE_LOCATION = "move-location"
    SET_REF = "set-ref"
    REMOVE_REF = "remove-ref"
    CREATE_NAMESPACE = "create-namespace"
    UPDATE_NAMESPACE = "update-namespace"


class ChangeClass(StrEnum):
    """What a change costs or breaks. One change may carry several."""

    METADATA_ONLY = "metadata only"
    LAYOUT_DEBT = "leaves layout debt"
    NEEDS_REWRITE = "needs rewrite"
    ONE_WAY = "one-way"
    BREAKS_READERS = "breaks these readers"
    BREAKS_TIME_TRAVEL = "breaks time travel for this column"


@dataclass(frozen=True, slots=True)
class Price:
    """How much existing data a change concerns. None is *unknown*, never zero."""

    files: int | None = None
    rows: int | None = None
    bytes: int | None = None


NOTHING = Price(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a change is not planned. `acceptable` ones go ahead once the declaration accepts them with a reason."""

    reason: str
    recipe: str = ""
    acceptable: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `subject` is the column path, property, ref or table it is about."""

    kind: ChangeKind
    subject: str
    before: str | None = None
    after: str | None = None
    classes: tuple[ChangeClass, ...] = (ChangeClass.METADATA_ONLY,)
    price: Price = NOTHING
    detail: str = ""
    readers: tuple[str, ...] = ()
    refusal: Refusal | None = None
    accepted: str | None = None  # the recorded reason, when a refusal was overridden


@dataclass(frozen=True, slots=True)
class SpecFacts:
    """Live data files of one partition spec, from the manifest list."""

    files: int | None
    rows: int | None
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What planning knows about the data without reading it. An empty table has no specs and no nulls."""

    specs: Mapping[int, SpecFacts] = field(default_factory=dict)
    nulls: Mapping[int, int | None] = field(default_factory=dict)  # by field id; None: metrics cannot tell
    counted: bool = False  # nulls were counted, not taken from metrics

    def total(self) -> Price:
        """All live data files."""
        return self.without(None)

    def without(self, spec_id: int | None) -> Price:
        """Live data files of every other spec."""
        others = [facts for spec, facts in self.specs.items() if spec != spec_id]
        return Price(
            _sum([facts.files for facts in others]),
            _sum([facts.rows for facts in others]),
            _sum([facts.bytes for facts in others]),
        )


def _sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


@dataclass(frozen=True, slots=True)
class TableChange:
    """Body of `table.change` and `table.create`: one commit request, and what it means."""

    identifier: Identifier
    uuid: str  # the table's; of a table to be created, the one it will get
    changes: tuple[Change, ...]
    request: CommitRequest
    creates: bool = False


@dataclass(frozen=True, slots=True)
class TableDrop:
    """Body of `table.drop`."""

    identifier: Identifier
    uuid: str
    purge: bool
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class TableRename:
    """Body of `table.rename`. Not a `Change`: no table file asks for it."""

    identifier: Identifier
    uuid: str
    to: Identifier
    location: str  # the table's folder, which stays
    readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamespaceChange:
    """Body of `namespace.change`."""

    namespace: tuple[str, ...]
    creates: bool
    updates: Mapping[str, str]
    removals: tuple[str, ...]
    changes: tuple[Change, ...]

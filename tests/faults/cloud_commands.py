"""Every command that writes: what is declared for it, what is typed, and how it shows in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.faults.cloud_worlds import COLUMNS, IDS

Metadata = Mapping[str, Any]
CHANGED = f"{COLUMNS}  - amount: long\nproperties: {{shade: green}}\n"


def _dropped(purge: str) -> str:
    return f"{COLUMNS}drop: {{purge: {purge}, reason: nobody reads it}}\n"


@dataclass(frozen=True, slots=True)
class Command:
    """`words` and what follows them; TABLE and SNAPSHOT stand for what only the trial knows."""

    name: str
    words: tuple[str, ...]
    there: Callable[[Metadata | None], bool]  # whether the table, or that there is none, shows the command
    declared: str = COLUMNS
    creates: bool = False
    drops: bool = False
    purges: bool = False
    rows: tuple[int, ...] = IDS[0] + IDS[1]  # of main, once it is done

    @property
    def applies(self) -> bool:
        """Whether it is `apply`: declared, and so asked for again by every later apply."""
        return self.words[0] == "apply"


def _ref(metadata: Metadata | None, name: str) -> int | None:
    """The number of the snapshot a ref is at, counted from 1; None for no ref."""
    assert metadata is not None
    ref = metadata["refs"].get(name)
    in_order = sorted(metadata["snapshots"], key=lambda each: int(each["sequence-number"]))
    numbers = {each["snapshot-id"]: number for number, each in enumerate(in_order, 1)}
    return None if ref is None else numbers[ref["snapshot-id"]]


def _changed(metadata: Metadata | None) -> bool:
    assert metadata is not None
    current = next(each for each in metadata["schemas"] if each["schema-id"] == metadata["current-schema-id"])
    names = [each["name"] for each in current["fields"]]
    halves = {names == ["id", "note", "amount"], metadata["properties"].get("shade") == "green"}
    assert len(halves) == 1, f"half of a change: {names}, {metadata['properties']}"
    return halves == {True}


APPLY = ("apply", "--yes", "-t", "TABLE")
COMMANDS = (
    Command("create", APPLY, lambda now: now is not None, creates=True, rows=()),
    Command("change", APPLY, _changed, CHANGED),
    Command("drop", APPLY, lambda now: now is None, _dropped("false"), drops=True),
    Command("drop with purge", APPLY, lambda now: now is None, _dropped("true"), drops=True, purges=True),
    Command(
        "rollback",
        ("rollback", "TABLE", "--to", "SNAPSHOT", "--yes"),
        lambda now: _ref(now, "main") == 1,
        rows=IDS[0],
    ),
    Command("branch create", ("branch", "create", "TABLE", "new", "--yes"), lambda now: _ref(now, "new") == 2),
    Command("branch drop", ("branch", "drop", "TABLE", "ahead", "--yes"), lambda now: _ref(now, "ahead") is None),
    Command(
        "branch forward",
        ("branch", "forward", "TABLE", "main", "--to", "ahead", "--yes"),
        lambda now: _ref(now, "main") == 3,
        rows=IDS[0] + IDS[1] + IDS[2],
    ),
    Command("tag create", ("tag", "create", "TABLE", "mark", "--yes"), lambda now: _ref(now, "mark") == 2),
    Command("tag drop", ("tag", "drop", "TABLE", "old", "--yes"), lambda now: _ref(now, "old") is None),
)

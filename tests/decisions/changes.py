"""THE table of changes: what a file says, what comes of it, and at what price. Printed as docs/reference/changes.md."""

from __future__ import annotations

from collections.abc import Iterator

from firnline.core.types import PRIMITIVES
from firnline.tables.values import NOTHING, ChangeKind
from tests.decisions import column_cases, table_cases
from tests.decisions.case import Case, Expected, Result

CASES: tuple[Case, ...] = (*column_cases.CASES, *table_cases.CASES)

# The specification's table of type promotions ("Schema Evolution"), pair by pair. Everything else is refused.
TYPES = (*PRIMITIVES, "decimal(9,2)", "decimal(18,2)", "decimal(18,4)", "fixed[8]", "fixed[16]")
PROMOTED = frozenset({("int", "long"), ("float", "double"), ("decimal(9,2)", "decimal(18,2)")})
PROMOTED_FROM_3 = frozenset(
    {
        ("date", "timestamp"),
        ("date", "timestamp_ns"),
        *(("unknown", other) for other in TYPES if other != "unknown"),
    }
)


def promoted(before: str, after: str, version: int) -> bool:
    """Whether the specification lets this type become that one in this format."""
    return (before, after) in PROMOTED or (version >= 3 and (before, after) in PROMOTED_FROM_3)


def markdown() -> str:
    """The page docs/reference/changes.md."""
    return "\n".join(_page()).rstrip() + "\n"


def _page() -> Iterator[str]:
    yield from ("# Changes", "", "<!-- Made by `make docs` from the code: edit it there. -->", "")
    yield "What `firnline plan` makes of a difference between a table file and a table. A test holds every line of it."
    yield "*Refused until accepted* needs the decision in the file, with a reason: see [table files](table-file.md)."
    yield from ("", "## Kinds and outcomes", "", f"| change | {' | '.join(Result)} |", f"|---|{'---|' * len(Result)}")
    for kind in ChangeKind:
        found = {expected.result for one in CASES for expected in one.expect if expected.kind is kind}
        yield f"| `{kind}` | {' | '.join('yes' if result in found else '' for result in Result)} |"
    yield from ("", "## Case by case", "")
    yield "| the file says | change | class | price | outcome | because |"
    yield "|---|---|---|---|---|---|"
    for one in CASES:
        for expected in one.expect or (None,):
            yield _row(one, expected)
    yield from ("", "## Types", "")
    yield "A type may become another without a file being touched; every other pair of types is refused."
    yield from ("", "| from | to | since format |", "|---|---|---|")
    for before in TYPES:
        if before != "unknown":
            yield from (f"| {before} | {after} | 1 |" for after in TYPES if (before, after) in PROMOTED)
            yield from (f"| {before} | {after} | 3 |" for after in TYPES if (before, after) in PROMOTED_FROM_3)
    yield "| unknown | any other type | 3 |"
    yield from ("", "Decimals may gain digits before the point (`decimal(9,2)` → `decimal(18,2)`), never after it.")


def _row(one: Case, expected: Expected | None) -> str:
    if expected is None:
        return f"| {one.words} | nothing | | | | {one.note} |"
    classes = ", ".join(expected.classes)
    cells = (one.words, f"`{expected.kind}` {expected.subject}", classes, _price(expected), expected.result)
    return f"| {' | '.join(cells)} | {expected.says} |"


def _price(expected: Expected) -> str:
    if expected.price == NOTHING:
        return "none"
    return "unknown" if expected.price.files is None else "counted"

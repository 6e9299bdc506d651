"""One table, seen by Firnline and by the oracles: every difference, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from firnline.core.figures import show
from firnline.facts.values import DeleteKind, TableFacts
from firnline.lakehouse.opening import Lakehouse
from tests.zoo import looking, oracle
from tests.zoo.held import held
from tests.zoo.pen import Pen
from tests.zoo.planned import Planned, planned

# Bounds of columns may take files out of the scope of these; without them `touched` must be exact.
VAGUE = {DeleteKind.EQUALITY, DeleteKind.GLOBAL_EQUALITY}


def with_oracle(facts: TableFacts, pen: Pen, *, partitions: bool = True) -> Iterator[str]:
    """Where facts are not what Spark's `entries` and plain loops say."""
    entries = oracle.entries(pen.lake, pen.name)
    told = oracle.facts(entries, facts.thresholds.target)
    of_partitions = ("partition", "data.removable", *(path for path in told if path.endswith(".partitions")))
    yield from looking.differences(
        facts, {path: value for path, value in told.items() if partitions or not path.startswith(of_partitions)}
    )
    if partitions:
        yield from _partitions(facts, oracle.partition_rows(entries, facts.thresholds.target))
    yield from _touched(facts, oracle.touched_most(entries), sum(map(bool, planned(pen.java).values())))


def _partitions(facts: TableFacts, expected: Counter[oracle.PartitionRow]) -> Iterator[str]:
    found: Counter[oracle.PartitionRow] = Counter(
        (
            each.key[0], each.files, each.bytes, each.rows, each.small_files,
            each.delete_files, each.delete_bytes, each.delete_rows,
        )
        for each in facts.partitions
    )  # fmt: skip
    if found != expected:
        yield f"partitions: {found - expected} are not {expected - found}"


def _touched(facts: TableFacts, most: int, applied: int) -> Iterator[str]:
    """Between the files a reader must apply deletes to and those in their scope; the same where nothing is vague."""
    low, high = facts.touched.low, facts.touched.high
    if not (low <= applied and (high is None or applied <= high <= most)):
        yield f"touched: {show(facts.touched)}, but {applied} have deletes to apply, and {most} are in scope of one"
    if not facts.touched.exact and not VAGUE & facts.deletes.keys():
        yield f"touched: {show(facts.touched)} where there are no equality deletes"


def with_plan(lakehouse: Lakehouse, pen: Pen) -> Iterator[str]:
    """Where the slice of the whole table is not what the JVM plans to read."""
    expected = planned(pen.java)
    taken = looking.slice_of(lakehouse, pen.identifier)
    found: Planned = {
        file.path: frozenset((each.path, each.content_offset) for each in file.deletes) for file in taken.files
    }
    if len(found) != len(taken.files):
        yield f"slice: {len(taken.files)} files, of which {len(found)} are different ones"
    for path in sorted(found.keys() | expected.keys()):
        if found.get(path) != expected.get(path):
            yield f"slice: {path}: {_sorted(found.get(path))}, planned {_sorted(expected.get(path))}"


def with_snapshots(lakehouse: Lakehouse, pen: Pen) -> Iterator[str]:
    """Where the history is not what the files of every snapshot say."""
    facts = looking.history_of(lakehouse, pen.identifier)
    yield from looking.differences(facts, held(pen))
    yield from (f"{each.location}: {each.reason}" for each in facts.damage)


def _sorted(attached: frozenset[tuple[str, int | None]] | None) -> object:
    return "not there" if attached is None else sorted(attached, key=str)

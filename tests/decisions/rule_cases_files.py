"""What the rules about data files, deletes and layout say, at their thresholds and beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from firnline.core.figures import UNKNOWN, Figure, exactly
from firnline.core.ids import SnapshotId
from firnline.core.layout import PartitionField, PartitionSpec, SortField, SortOrder
from firnline.facts.values import Damage, DeleteKind, SpecFacts
from firnline.judge import examples
from firnline.judge.values import Health, Subject
from tests.decisions.rule_case import DAY, HOUR, MIB, SIZE, Case, bounded, deleted, files, on, policy

_POSITION, _MANY, _VECTOR = DeleteKind.POSITION_FILE, DeleteKind.POSITION_FILES, DeleteKind.VECTOR
_EQUALITY, _GLOBAL = DeleteKind.EQUALITY, DeleteKind.GLOBAL_EQUALITY
_DAMAGE = (Damage("s3://lake/m.avro", "it is cut."),)


def _hot(removable: int, small: int, total: int) -> Subject:
    """One partition of small files beside a hundred thousand files in good order."""
    partition = examples.partition(files=total, small_files=small, removable=removable)
    data = examples.data(files=100_000 + total, small=small, removable=removable)
    return on(data=data, partitions=(partition,), partition_count=2)


def _data(**counts: Any) -> Subject:
    return on(data=replace(examples.data(), **counts), partitions=())


def _large(number: Figure, share: float) -> Subject:
    size = exactly(round(120 * SIZE * share))
    return _data(large_files=number, large_bytes=UNKNOWN if number.unknown else size)


SMALL = (
    Case("small-files", "at both thresholds", files(500, 100, 100), True, Health.UNTIDY),
    Case("small-files", "one file less to save", files(500, 120, 99), False),
    Case("small-files", "a share just below", files(501, 100, 100), False),
    Case("small-files", "three files, all small", files(3, 3, 2), False),
    Case("small-files", "no files at all", files(0, 0, 0), False),
    Case("small-files", "one hot partition among a hundred thousand cold files", _hot(100, 110, 150), True),
    Case("small-files", "a partition with as many, of many more", _hot(100, 110, 600), False),
    Case(
        "small-files", "manifests that could not be read may hold more",
        _data(removable=bounded(3, None), small_files=bounded(4, None), files=bounded(9, None)), None,
    ),
    Case(
        "small-files", "not sure how many, and surely few",
        _data(removable=bounded(3, 9), small_files=exactly(9), files=exactly(9)), False,
    ),
    Case(
        "small-files", "so many, and read so often, that the cost is felt",
        policy(files(200_000, 190_000, 180_000), "reads-per-day", 96), True, Health.COSTLY,
    ),
    Case("large-files", "at both thresholds", _large(exactly(10), 0.2), True, Health.WATCH),
    Case("large-files", "one less", _large(exactly(9), 0.9), False),
    Case("large-files", "a share just below", _large(exactly(10), 0.19), False),
    Case("large-files", "nobody could count them", _large(UNKNOWN, 0), None),
)  # fmt: skip


def _both() -> Subject:
    """Positions beside equality deletes: the files that are touched belong to either."""
    kinds = {_POSITION: examples.deletes(30, 10), _EQUALITY: examples.deletes(2, 10)}
    return on(deletes=kinds, touched=exactly(90), touched_bytes=exactly(90 * SIZE))


def _first_format(by_operation: dict[str, int]) -> Subject:
    return on(format_version=1, snapshots=replace(examples.facts().snapshots, by_operation=by_operation))


def _of_spec(*specs: SpecFacts) -> Subject:
    return on(specs=specs)


def _spec(number: int, share: float, *, current: bool = False) -> SpecFacts:
    return SpecFacts(1 if current else 0, current, 1, exactly(number), exactly(round(share * 120 * SIZE)), exactly(1))


def _deleted_rows(number: int) -> Subject:
    return deleted(_POSITION, 1, number, touched=1, data=examples.data(rows=exactly(500_000)))


DELETES = (
    Case("delete-debt", "none at all", on(), False),
    Case("delete-debt", "twenty files, and few of all", deleted(_POSITION, 20, 10, touched=20), False),
    Case("delete-debt", "a third of the files", deleted(_POSITION, 36, 10, touched=36), True, Health.UNTIDY),
    Case("delete-debt", "a share just below", deleted(_POSITION, 35, 10, touched=35), False),
    Case("delete-debt", "vectors count like position deletes", deleted(_VECTOR, 36, 10, touched=36), True),
    Case("delete-debt", "a tenth of the rows", deleted(_MANY, 1, 12_000_000, touched=1), True),
    Case("delete-debt", "just less than a tenth of the rows", deleted(_MANY, 1, 11_999_999, touched=1), False),
    Case("delete-debt", "a hundred thousand rows of few", _deleted_rows(100_000), True),
    Case("delete-debt", "one row less", _deleted_rows(99_999), False),
    Case(
        "delete-debt", "half of a tiny table",
        deleted(_POSITION, 2, 900, touched=2, data=examples.data(files=3, rows=exactly(1_000))), False,
    ),
    Case("delete-debt", "beside equality deletes nobody knows which files", _both(), None),
    Case("delete-debt", "delete manifests that could not be read", on(damage=_DAMAGE, touched=UNKNOWN), None),
    Case("equality-deletes", "none at all", on(), False),
    Case("equality-deletes", "one, a day old", deleted(_EQUALITY, 1, age_ms=DAY), True, Health.UNTIDY),
    Case("equality-deletes", "many, an hour old", deleted(_EQUALITY, 99, age_ms=HOUR), False),
    Case("equality-deletes", "very many, an hour old", deleted(_EQUALITY, 100, age_ms=HOUR), True),
    Case("equality-deletes", "global ones count too", deleted(_GLOBAL, 1, age_ms=DAY), True),
    Case("equality-deletes", "position deletes do not", deleted(_POSITION, 500, age_ms=9 * DAY), False),
    Case(
        "equality-deletes", "old ones whose snapshot was expired",
        on(deletes={_EQUALITY: examples.deletes(1, oldest_millis=bounded(0, examples.NOW - 2 * DAY))}), True,
    ),
    Case(
        "equality-deletes", "younger than some moment, and maybe much",
        on(deletes={_EQUALITY: examples.deletes(1, oldest_millis=bounded(0, examples.NOW - HOUR))}), None,
    ),
    Case("equality-deletes", "delete manifests that could not be read", on(damage=_DAMAGE), None),
    Case("dangling-deletes", "none at all", on(), False),
    Case("dangling-deletes", "twenty of two hundred", deleted(_POSITION, 200, dangling=examples.deletes(20)), True),
    Case("dangling-deletes", "nineteen of twenty", deleted(_POSITION, 20, dangling=examples.deletes(19)), False),
    Case("dangling-deletes", "twenty of many", deleted(_POSITION, 201, dangling=examples.deletes(20)), False),
    Case(
        "dangling-deletes", "data manifests that could not be read",
        deleted(_POSITION, 200, dangling=examples.deletes(0, files=UNKNOWN)), None,
    ),
    Case("format-upgrade", "two hundred position delete files", deleted(_POSITION, 200), True, Health.WATCH),
    Case("format-upgrade", "one less", deleted(_POSITION, 199), False),
    Case("format-upgrade", "vectors are format 3 already", deleted(_VECTOR, 900, format_version=3), False),
    Case("format-upgrade", "old position deletes in format 3", deleted(_POSITION, 900, format_version=3), False),
    Case(
        "format-upgrade", "a reader could not read it",
        replace(deleted(_POSITION, 200), readers=("spark", "athena")), False,
    ),
    Case("format-upgrade", "readers that can", replace(deleted(_POSITION, 200), readers=("spark", "trino")), True),
    Case("format-upgrade", "a reader nobody knows", replace(deleted(_POSITION, 200), readers=("oracle",)), False),
    Case("format-upgrade", "nobody could count them", on(damage=_DAMAGE), None),
    Case(
        "format-upgrade", "format 1, and rows are changed",
        _first_format({"overwrite": 15, "delete": 5}), True,
    ),
    Case(
        "format-upgrade", "format 1, and rows are only added",
        _first_format({"append": 500}), False,
    ),
)  # fmt: skip


def _sorted(depth: Figure | None, *, number: int = 120, order: SortOrder = examples.BY_CUSTOMER) -> Subject:
    column = () if depth is None else (examples.column(examples.CUSTOMER, "customer", depth=depth),)
    meta = examples.meta(orders=(order,), default_order_id=order.order_id or 0)
    return examples.subject(of=meta, on=examples.facts(data=examples.data(number)), columns=column)


def _partitions(count: int, mean: int, *, fields: bool = True) -> Subject:
    data = examples.data(files=count, size=mean)
    spec = examples.DAYS if fields else PartitionSpec((), 0)
    return examples.subject(of=examples.meta(specs=(spec,)), on=examples.facts(data=data, partition_count=count))


def _skewed(most: int, median: int, count: int = 30) -> Subject:
    return on(partition_rows_most=most, partition_rows_median=median, partition_count=count)


def _bounds(customer: int | None, ordered_at: int | None, *, total: int = 120) -> Subject:
    columns = [
        examples.column(field_id, name, files=total, bounds=bounds)
        for field_id, name, bounds in (
            (examples.CUSTOMER, "customer", customer),
            (examples.ORDERED_AT, "ordered_at", ordered_at),
        )
        if bounds is not None
    ]
    return examples.subject(columns=tuple(columns))


_BUCKETS = SortOrder((SortField("bucket[8]", (examples.CUSTOMER,)),), 1)
_BY_REGION = PartitionSpec((PartitionField("customer", "identity", (examples.CUSTOMER,), 1000),), 0)

LAYOUT = (
    Case("clustering", "four files deep", _sorted(exactly(400)), True, Health.UNTIDY),
    Case("clustering", "just less", _sorted(exactly(399)), False),
    Case("clustering", "few files", _sorted(exactly(900), number=63), False),
    Case("clustering", "nobody looked", _sorted(None), None),
    Case("clustering", "nobody looked, and few files", _sorted(None, number=3), False),
    Case("clustering", "files without bounds", _sorted(UNKNOWN), None),
    Case("clustering", "surely deep, nobody knows how much", _sorted(bounded(700, None)), True),
    Case("clustering", "no sort order", _sorted(exactly(900), order=SortOrder((), 0)), False),
    Case("clustering", "sorted by buckets", _sorted(exactly(900), order=_BUCKETS), False),
    Case("old-specs", "every file under the current one", on(), False),
    Case(
        "old-specs", "fifty files with a fifth of the bytes",
        _of_spec(_spec(50, 0.2), _spec(70, 0.8, current=True)), True,
    ),
    Case("old-specs", "one file less", _of_spec(_spec(49, 0.9), _spec(70, 0.1, current=True)), False),
    Case("old-specs", "less than a fifth of the bytes", _of_spec(_spec(90, 0.19), _spec(70, 0.8, current=True)), False),
    Case(
        "old-specs", "nobody could count them",
        _of_spec(SpecFacts(0, False, 1, UNKNOWN, UNKNOWN, UNKNOWN), _spec(70, 0.8, current=True)), None,
    ),
    Case("fine-partitions", "many with little", _partitions(500, 16 * MIB - 1), True, Health.UNTIDY),
    Case("fine-partitions", "many with just enough", _partitions(500, 16 * MIB), False),
    Case("fine-partitions", "fewer with little", _partitions(499, MIB), False),
    Case("fine-partitions", "no partitions", _partitions(500, MIB, fields=False), False),
    Case(
        "fine-partitions", "nobody could add up the bytes",
        on(data=replace(examples.data(), bytes=Figure(MIB, None)), partition_count=900), None,
    ),
    Case("partition-skew", "ten times the median", _skewed(10_000_000, 1_000_000), True, Health.WATCH),
    Case("partition-skew", "just less", _skewed(10_000_000, 1_000_001), False),
    Case("partition-skew", "few partitions", _skewed(90_000_000, 1_000, 7), False),
    Case("partition-skew", "small partitions", _skewed(9_999_999, 10), False),
    Case("partition-skew", "no rows", _skewed(0, 0), False),
    Case("column-metrics", "bounds everywhere", _bounds(120, 120), False),
    Case("column-metrics", "twenty files without", _bounds(100, 120), True, Health.UNTIDY),
    Case("column-metrics", "nineteen files without", _bounds(101, 120), False),
    Case("column-metrics", "a tenth of the files without", _bounds(180, 200, total=200), False),
    Case("column-metrics", "just more than a tenth", _bounds(179, 200, total=200), True),
    Case("column-metrics", "nobody looked", _bounds(None, None), None),
    Case("column-metrics", "nobody looked, and few files", on(data=examples.data(19)), False),
    Case("column-metrics", "nobody looked at one of them", _bounds(None, 120), None),
    Case("column-metrics", "one lacks them, nobody looked at the other", _bounds(None, 0), True),
    Case("column-metrics", "no files", _bounds(0, 0, total=0), False),
    Case(
        "column-metrics", "partitions tell the column themselves",
        examples.subject(of=examples.meta(specs=(_BY_REGION,))), False,
    ),
    Case(
        "column-metrics", "no filter columns",
        examples.subject(of=examples.meta(specs=(PartitionSpec((), 0),), orders=(SortOrder((), 1),))), False,
    ),
)  # fmt: skip


def _statistics(age_ms: int, changed: int, *, kept: bool = True, operation: str = "append") -> Subject:
    """Statistics of the first of two snapshots; the second one changed rows."""
    first, second = examples.snapshots(
        2, age_ms - HOUR, summary={"added-records": str(changed), "operation": operation}
    )
    meta = examples.meta((first, second) if kept else (replace(second, parent=None),))
    healthy = examples.facts().metadata
    assert healthy is not None
    told = replace(healthy, statistics=1, statistics_snapshot=SnapshotId(1))
    return examples.subject(of=meta, on=examples.facts(metadata=told))


STATISTICS = (
    Case("statistics", "none are kept", on(), False),
    Case("statistics", "a week old, a fifth of the rows changed", _statistics(7 * DAY, 24_000_000), True, Health.WATCH),
    Case("statistics", "just less of the rows", _statistics(7 * DAY, 23_999_999), False),
    Case("statistics", "younger", _statistics(7 * DAY - 1, 90_000_000), False),
    Case("statistics", "rewrites change no rows", _statistics(9 * DAY, 90_000_000, operation="replace"), False),
    Case("statistics", "their snapshot is gone", _statistics(9 * DAY, 90_000_000, kept=False), None),
)  # fmt: skip

CASES = (*SMALL, *DELETES, *LAYOUT, *STATISTICS)

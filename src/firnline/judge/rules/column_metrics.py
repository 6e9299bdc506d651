"""Filter columns of which files have no bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from firnline.core.figures import exactly
from firnline.core.types import show_path, walk
from firnline.facts.values import ColumnFacts
from firnline.judge import cost, examples, ranges, remedies, subjects, words
from firnline.judge.measures import against, every, some
from firnline.judge.ranges import UNKNOWN
from firnline.judge.values import Health, Measure, Reading, Rule, Subject, Work

_SHARE, _FILES = "column-metrics.share", "column-metrics.files"


def _measures(subject: Subject, name: str, column: ColumnFacts | None) -> tuple[Measure, Measure]:
    if column is None:
        share, without = UNKNOWN, ranges.Range(0, subject.facts.data.files.high)
    else:
        share = ranges.share(exactly(column.with_bounds), exactly(column.files)) if column.files else ranges.exactly(1)
        without = ranges.exactly(max(0, column.files - column.with_bounds))
    return (
        against(subject, _SHARE, f"files with bounds of {name}", share, above=False),
        against(subject, _FILES, f"files without bounds of {name}", without),
    )


def look(subject: Subject) -> Reading:
    """Untidy, when a filter column lacks bounds in many files."""
    ids = subjects.filter_ids(subject.meta)
    if not ids:
        said = "No column of partitions, sort order or identifier needs bounds."
        none = against(subject, _FILES, "files without bounds of a filter column", ranges.exactly(0))
        return Reading(False, Health.UNTIDY, said, (none,))
    names = {field.id: show_path(path) for path, field in walk(subject.meta.schema.struct)}
    looked_at = {column.field_id: column for column in subject.columns}
    by_name = {name: _measures(subject, name, looked_at.get(each)) for each, name in _named(ids, names)}
    fired = some(*(every(*(measure.past for measure in own)) for own in by_name.values()))
    lacking = [name for name, own in by_name.items() if every(*(measure.past for measure in own))]
    without = max((by_name[name][1].value.low for name in lacking), default=0)
    wanted = {f"write.metadata.metrics.column.{name}": "truncate(16)" for name in lacking}
    return Reading(
        fired=fired,
        health=Health.UNTIDY,
        sentence=_sentence(lacking, list(by_name), looked=set(ids) <= set(looked_at)),
        measures=tuple(measure for own in by_name.values() for measure in own),
        waiting=cost.opened(subject, without),
        acting=cost.rewritten(subject, round(_mean_size(subject) * without), int(without)),
        next_step=remedies.properties(subject, wanted) if lacking else None,
    )


def _named(ids: Iterable[int], names: Mapping[int | None, str]) -> Iterator[tuple[int, str]]:
    return ((each, names.get(each, str(each))) for each in ids)


def _sentence(lacking: list[str], names: list[str], *, looked: bool) -> str:
    if lacking:
        return f"Many files have no bounds of {words.listed(lacking)}: a filter on it skips none of them."
    return f"{'Files have' if looked else 'Nobody looked at the'} bounds of {words.listed(names)}."


def _mean_size(subject: Subject) -> float:
    data = subject.facts.data
    return data.bytes.low / max(1, data.files.low)


def _example() -> Subject:
    return examples.subject(
        columns=(
            examples.column(examples.CUSTOMER, "customer", bounds=0),
            examples.column(examples.ORDERED_AT, "ordered_at"),
        )
    )


RULE = Rule(
    id="column-metrics",
    title="Filter columns without bounds",
    what="Fires when less than `column-metrics.share` of the files have bounds of a column that partitions, the "
    "sort order or the identifier are made of, and `column-metrics.files` files lack them. A column that "
    "partitions take as it is needs none. A file in which the column is null throughout has none either and "
    "counts as lacking. Unless somebody looked at these columns, nobody can tell.",
    why="A reader skips a file when its bounds exclude what is asked for. Without bounds it opens every file, "
    "however well they are sorted.",
    remedy="Set the column's metrics, and rewrite the files that lack them. Writers keep metrics of the first hundred "
    "columns only, and some engines of none: move filter columns to the front, or name them in the properties.",
    work=Work.COMPACTION,
    look=look,
    example=_example,
)

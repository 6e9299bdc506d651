"""Values of personal columns in the metadata."""

from __future__ import annotations

from firnline.core.figures import exactly
from firnline.core.types import show_path, walk
from firnline.judge import examples, remedies, words
from firnline.judge.measures import beside, none_allowed, some
from firnline.judge.ranges import UNKNOWN
from firnline.judge.values import Health, Measure, Reading, Rule, Subject, Work

_AS_THEY_ARE = ("identity", "truncate")  # transforms whose results are values of the column, or begin like them


def look(subject: Subject) -> Reading:
    """Risky when manifests hold bounds of a personal column, or partitions are made of its values."""
    if not subject.personal_ids:
        said = "No columns are declared to identify a person."
        return Reading(False, Health.RISKY, said, (beside("personal columns that are declared", exactly(0)),))
    names = {field.id: show_path(path) for path, field in walk(subject.meta.schema.struct)}
    looked_at = {column.field_id: column for column in subject.columns}
    bounds: list[Measure] = []
    for field_id in subject.personal_ids:
        column = looked_at.get(field_id)
        value = UNKNOWN if column is None else exactly(column.with_bounds)
        bounds.append(none_allowed(f"files with bounds of {names.get(field_id, field_id)}", value))
    fields = [
        field.name
        for field in subject.meta.spec.fields
        if field.transform.startswith(_AS_THEY_ARE) and set(field.source_ids) & set(subject.personal_ids)
    ]
    measures = (none_allowed("partition fields made of personal values", exactly(len(fields))), *bounds)
    fired = some(*(measure.past for measure in measures))
    named = [names.get(field_id, str(field_id)) for field_id in subject.personal_ids]
    if fired is not True:
        told = "Nobody looked at the metrics" if fired is None else "No metadata holds values"
        return Reading(fired, Health.RISKY, f"{told} of {words.listed(named)}.", measures)
    held = [
        names.get(each, str(each)) for each in looked_at if each in subject.personal_ids and looked_at[each].with_bounds
    ]
    what = [f"manifests hold bounds of {words.listed(held)}"] if held else []
    what += [f"partitions are named after people ({words.listed(fields)})"] if fields else []
    return Reading(
        fired=True,
        health=Health.RISKY,
        sentence=f"{words.capital(' and '.join(what))}.",
        measures=measures,
        next_step=remedies.properties(subject, {f"write.metadata.metrics.column.{name}": "counts" for name in held})
        if held
        else "Partition by a bucket of the column instead, and rewrite what is there.",
    )


def _example() -> Subject:
    return examples.subject(
        personal_ids=(examples.EMAIL,), columns=(examples.column(examples.EMAIL, "email", bounds=120),)
    )


RULE = Rule(
    id="personal-bounds",
    title="Personal values in metadata",
    what="Fires when manifests hold lower and upper bounds of a column under `subjects:`, in however few files, or "
    "when a partition field is made of such a column as it is. Unless somebody looked at the metrics of these "
    "columns, nobody can tell.",
    why="Bounds are values of real people. They stand in manifests that whoever may list the table can read, and "
    "they outlive the row: an erasure that rewrites data files leaves them in every manifest of history.",
    remedy="Set the column's metrics to `counts`, rewrite the files that have bounds, and let history expire. Queries "
    "by this column then skip no files: where that matters, sort by a hash of it that is a column of its own.",
    work=Work.DECLARATION,
    look=look,
    example=_example,
)

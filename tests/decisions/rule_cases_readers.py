"""What the rules about readers, consumers, people and owners say."""

from __future__ import annotations

from dataclasses import replace

from firnline.core.figures import UNKNOWN
from firnline.core.ids import SnapshotId
from firnline.core.layout import PartitionField, PartitionSpec
from firnline.facts.meta import Ref
from firnline.facts.values import Damage, DeleteKind, RefFacts
from firnline.judge import examples
from firnline.judge.values import Consumer, Health, Subject
from tests.decisions.rule_case import DAY, HOUR, Case, deleted, history, on, storage

_DAMAGE = (Damage("s3://lake/m.avro", "it is cut."),)
_BOUND = (Damage(examples.METADATA, "9 manifests were left unread: there is room for 10 files."),)
_VECTOR, _EQUALITY, _POSITION = DeleteKind.VECTOR, DeleteKind.EQUALITY, DeleteKind.POSITION_FILES


def _read_by(subject: Subject, *readers: str) -> Subject:
    return replace(subject, readers=readers)


READABLE = (
    Case("damage", "all of it could be read", on(), False),
    Case("damage", "one manifest could not", on(damage=_DAMAGE), True, Health.UNREADABLE),
    Case("damage", "one manifest of an older snapshot", history(damage=_DAMAGE), True, Health.BROKEN),
    Case("damage", "the same, seen while listing", storage(damage=_DAMAGE), True, Health.BROKEN),
    Case("damage", "a look at history that reached its bound", history(damage=_BOUND), False),
    Case("missing-files", "nobody listed", on(), None),
    Case("missing-files", "all there", storage(), False),
    Case("missing-files", "one is not", storage(missing=("s3://a",), missing_files=1), True, Health.BROKEN),
    Case("missing-files", "a listing that stopped early", storage(after="s3://b", whole=False), None),
    Case(
        "missing-files", "one is not, as far as it went",
        storage(missing=("s3://a",), missing_files=1, whole=False), True,
    ),
    Case("broken-refs", "none", on(refs=(RefFacts("main", "branch", SnapshotId(12), 1, None),)), False),
    Case(
        "broken-refs", "a tag",
        on(refs=(RefFacts("t", "tag", SnapshotId(9), None, None, missing=True),)), True, Health.BROKEN,
    ),
    Case("reader-contract", "no deletes, any reader", _read_by(on(), "spark", "databricks", "athena"), False),
    Case("reader-contract", "deletes, no readers declared", deleted(_EQUALITY, 9), False),
    Case(
        "reader-contract", "equality deletes and redshift",
        _read_by(deleted(_EQUALITY, 1), "redshift"), True, Health.BROKEN,
    ),
    Case("reader-contract", "global ones too", _read_by(deleted(DeleteKind.GLOBAL_EQUALITY, 1), "pyiceberg"), True),
    Case("reader-contract", "equality deletes and spark", _read_by(deleted(_EQUALITY, 900), "spark"), False),
    Case("reader-contract", "position deletes and databricks", _read_by(deleted(_POSITION, 1), "databricks"), True),
    Case("reader-contract", "position deletes and athena", _read_by(deleted(_POSITION, 1), "athena"), False),
    Case("reader-contract", "vectors and athena", _read_by(deleted(_VECTOR, 1, format_version=3), "athena"), True),
    Case(
        "reader-contract", "vectors and databricks",
        _read_by(deleted(_VECTOR, 1, format_version=3), "databricks"), False,
    ),
    Case("reader-contract", "format 3 without deletes and athena", _read_by(on(format_version=3), "athena"), True),
    Case("reader-contract", "format 3 and trino", _read_by(on(format_version=3), "trino"), False),
    Case("reader-contract", "a reader nobody knows, no deletes", _read_by(on(), "oracle"), False),
    Case("reader-contract", "a reader nobody knows", _read_by(deleted(_POSITION, 1), "oracle"), True),
    Case("reader-contract", "delete manifests that could not be read", _read_by(on(damage=_DAMAGE), "redshift"), None),
    Case("reader-contract", "the same, and a reader that reads all", _read_by(on(damage=_DAMAGE), "spark"), False),
    Case(
        "reader-contract", "nobody could count them",
        _read_by(deleted(_EQUALITY, 1, deletes={_EQUALITY: examples.deletes(0, files=UNKNOWN)}), "redshift"), None,
    ),
)  # fmt: skip


def _consumer(needs: int | None, *, kept: int = 30, refs: dict[str, Ref] | None = None, **properties: str) -> Subject:
    """A consumer of a table with a snapshot every 6 hours, the newest an hour old. Snapshots live five days."""
    meta = examples.meta(examples.snapshots(kept))
    meta = replace(meta, refs={**meta.refs, **(refs or {})})
    needed = None if needs is None else SnapshotId(needs)
    named = {name.replace("_", "-").replace("--", "."): value for name, value in properties.items()}
    return examples.subject(named, of=meta, consumers=(Consumer("feed", HOUR, needed),))


def _tag(snapshot: int) -> dict[str, Ref]:
    return {"kept": Ref("kept", "tag", SnapshotId(snapshot))}


CONSUMERS = (
    Case("consumers", "none are registered", on(), False),
    Case("consumers", "at the newest snapshot", _consumer(30), False),
    Case("consumers", "a day and five hours left", _consumer(15), False),
    Case("consumers", "a day less an hour left", _consumer(14), True, Health.RISKY),
    Case("consumers", "overdue, and still there", _consumer(2), True, Health.RISKY),
    Case("consumers", "overdue, and a tag keeps it", _consumer(2, refs=_tag(2)), False),
    Case("consumers", "overdue, and a tag keeps another", _consumer(2, refs=_tag(9)), True),
    Case("consumers", "what it needs is gone", _consumer(77), True, Health.BROKEN),
    Case("consumers", "nobody knows what it needs", _consumer(None), None),
    Case(
        "consumers", "a least number of snapshots keeps it",
        _consumer(2, history__expire__min_snapshots_to_keep="29"), False,
    ),
    Case(
        "consumers", "the table keeps snapshots longer",
        _consumer(2, history__expire__max_snapshot_age_ms=str(30 * DAY)), False,
    ),
)  # fmt: skip


def _personal(bounds: int | None, *, transform: str | None = None, declared: bool = True) -> Subject:
    columns = () if bounds is None else (examples.column(examples.EMAIL, "email", bounds=bounds),)
    meta = examples.meta()
    if transform is not None:
        spec = PartitionSpec((PartitionField("email_part", transform, (examples.EMAIL,), 1000),), 0)
        meta = examples.meta(specs=(spec,))
    return examples.subject(of=meta, columns=columns, personal_ids=(examples.EMAIL,) if declared else ())


OWNERS = (
    Case("foreign-owner", "nobody listed", on(), None),
    Case("foreign-owner", "alone", storage(), False),
    Case("foreign-owner", "another table's metadata", storage(foreign=("s3://a.metadata.json",)), True, Health.RISKY),
    Case("foreign-owner", "a listing that stopped early", storage(after="s3://b"), None),
    Case("foreign-owner", "too many metadata files to look into", storage(unchecked=3), None),
    Case("personal-bounds", "no personal columns", _personal(120, declared=False), False),
    Case("personal-bounds", "bounds in one file", _personal(1), True, Health.RISKY),
    Case("personal-bounds", "bounds in none", _personal(0), False),
    Case("personal-bounds", "nobody looked", _personal(None), None),
    Case(
        "personal-bounds", "nobody looked, and partitions are named after people",
        _personal(None, transform="identity"), True,
    ),
    Case("personal-bounds", "partitions named by how people begin", _personal(0, transform="truncate[4]"), True),
    Case("personal-bounds", "partitions by a bucket of people", _personal(0, transform="bucket[16]"), False),
)  # fmt: skip

CASES = (*READABLE, *CONSUMERS, *OWNERS)

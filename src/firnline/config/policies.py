"""The keys of `policy:`, as data: which there are, what each holds, and its default.

The names of the rules stand here too, without the rules: a file is held against this grammar when it is read, and
judging is a layer above. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firnline.config import amounts
from firnline.config.amounts import Unit
from firnline.config.shapes import Amount, Key, Record, Text
from firnline.core.types import Json

ON, OFF = "on", "off"


@dataclass(frozen=True, slots=True)
class PolicyKey:
    """A key of a policy that holds an amount. `default` is as one would write it.

    `table_property` is the property of Iceberg's that gives the default where it is set.
    """

    name: str
    unit: Unit
    default: Json
    doc: str
    table_property: str | None = None

    @property
    def number(self) -> float:
        """The default as a number."""
        return amounts.parse(self.default, self.unit)


def _count(name: str, default: int, doc: str) -> PolicyKey:
    return PolicyKey(name, Unit.COUNT, default, doc)


def _bytes(name: str, default: str, doc: str) -> PolicyKey:
    return PolicyKey(name, Unit.BYTES, default, doc)


def _age(name: str, default: str, doc: str, property_: str | None = None) -> PolicyKey:
    return PolicyKey(name, Unit.DURATION, default, doc, property_)


def _share(name: str, default: float, doc: str) -> PolicyKey:
    return PolicyKey(name, Unit.SHARE, default, doc)


def _times(name: str, default: float, doc: str) -> PolicyKey:
    return PolicyKey(name, Unit.TIMES, default, doc)


TABLE_KEYS = (
    PolicyKey(
        "target-file-size",
        Unit.BYTES,
        "512MiB",
        "The size data files are meant to have. Unless said, that of `write.target-file-size-bytes`.",
        "write.target-file-size-bytes",
    ),
    _share("small-file-share", 0.75, "A file is small below this share of the target size."),
    _times("large-file-times", 1.8, "A file is large from this many target sizes on."),
    _age("young-file-age", "3d", "Files younger than this may belong to a commit on its way: they are no orphans."),
    _count("reads-per-day", 24, "How often the table is read: what waiting costs rests on it."),
    _share("read-share", 0.1, "The share of the table that one read opens."),
    PolicyKey("costly-from", Unit.MONEY, 0.5, "From this much a day on, leaving something as it is counts as costly."),
)

# By rule, in the order rules are explained. Iceberg's merging of manifests starts at 100 of them and its snapshots live
# five days unless told otherwise: thresholds near such a number would come and go with every commit.
RULES: Mapping[str, tuple[PolicyKey, ...]] = {
    "damage": (),
    "missing-files": (),
    "reader-contract": (),
    "broken-refs": (),
    "consumers": (_age("warning", "1d", "How long before expiry takes what a consumer needs."),),
    "foreign-owner": (),
    "personal-bounds": (),
    "equality-deletes": (
        _age("age", "1d", "The age of the oldest equality delete."),
        _count("files", 100, "Equality delete files, however young."),
    ),
    "delete-debt": (
        _count("files", 20, "Data files that a position delete or vector applies to."),
        _share("touched-share", 0.3, "Their share of all data files."),
        _count("rows", 100_000, "Deleted rows that the files still hold."),
        _share("rows-share", 0.1, "Their share of all rows."),
    ),
    "small-files": (
        _count("files", 100, "Files that merging would save, in the table or in one partition."),
        _share("share", 0.2, "The share of small files among all, in the same place."),
    ),
    "manifest-debt": (
        _count("manifests", 200, "Manifests that rewriting would save."),
        _share("small-share", 0.5, "The share of small manifests among all."),
        _count("tombstones", 10_000, "Entries of files that have left."),
        _share("tombstone-share", 0.3, "Their share of all entries."),
    ),
    "manifest-fanout": (
        _count("manifests", 10, "Manifests, beside the small ones, that a look at one partition opens."),
        _share("share", 0.2, "Their share of those that are not small."),
    ),
    "clustering": (
        _times("depth", 4, "Files that one value of the sort column may be in, on average."),
        _count("files", 64, "Data files a table must have for it to matter."),
    ),
    "history": (
        _times("times", 1, "Bytes kept by history alone, in live bytes."),
        _bytes("bytes", "10GiB", "Bytes kept by history alone."),
    ),
    "pinned-by-refs": (
        _bytes("bytes", "10GiB", "Bytes that one branch or tag alone keeps."),
        _share("share", 0.2, "Those bytes as a share of the live ones."),
    ),
    "orphans": (
        _bytes("bytes", "1GiB", "Bytes that nothing refers to."),
        _share("share", 0.05, "Their share of what lies under the location."),
    ),
    "expiry-effect": (
        _bytes("bytes", "1GiB", "Bytes that only the expired snapshots needed."),
        _share("freed", 0.5, "The share of them that should at least have gone: less is too little."),
    ),
    "snapshots": (
        _age("age", "5d", "How old a snapshot may get that no ref points at.", "history.expire.max-snapshot-age-ms"),
        _count("overdue", 100, "Snapshots older than that."),
        _count("count", 10_000, "Snapshots of any age."),
    ),
    "metadata-json": (_bytes("bytes", "16MiB", "The size of the metadata file, which every commit writes anew."),),
    "dangling-deletes": (
        _count("files", 20, "Deletes that apply to no live file."),
        _share("share", 0.1, "Their share of all deletes."),
    ),
    "old-specs": (
        _count("files", 50, "Data files under partition specs that are no longer the current one."),
        _share("share", 0.2, "Their share of the bytes."),
    ),
    "fine-partitions": (
        _count("partitions", 500, "Partitions."),
        _bytes("bytes", "16MiB", "Bytes in a partition, on average: fewer is too fine."),
    ),
    "partition-skew": (
        _times("times", 10, "Rows of the largest partition, in rows of the median one."),
        _count("partitions", 8, "Partitions a table must have for it to matter."),
        _count("rows", 10_000_000, "Rows the largest partition must have for it to matter."),
    ),
    "large-files": (
        _count("files", 10, "Large files."),
        _share("share", 0.2, "Their share of the bytes."),
    ),
    "column-metrics": (
        _share("share", 0.9, "The share of files with bounds of a filter column: less is too little."),
        _count("files", 20, "Data files without them."),
    ),
    "statistics": (
        _share("changed", 0.2, "Rows changed since the newest statistics, as a share of all rows."),
        _age("age", "7d", "The age of the newest statistics."),
    ),
    "properties": (),
    "conflicts": (
        _count("count", 5, "Lost races of our own runs, of late."),
        _share("share", 0.2, "Their share of all tries."),
        _times("rise", 1.5, "That share, in shares of the time before."),
    ),
    "other-maintainer": (
        _count("commits", 3, "Rewriting commits by somebody else."),
        _age("age", "7d", "How long ago the last of them may be."),
    ),
    "format-upgrade": (
        _count("delete-files", 200, "Position delete files of a format 2 table."),
        _count("rewrites", 20, "Kept snapshots of a format 1 table that rewrote files in order to change rows."),
    ),
}


def full_name(rule: str, key: PolicyKey) -> str:
    """`small-files.files`: how a policy names a threshold."""
    return f"{rule}.{key.name}"


AMOUNTS: Mapping[str, PolicyKey] = {
    **{key.name: key for key in TABLE_KEYS},
    **{full_name(rule, key): key for rule, keys in RULES.items() for key in keys},
}


def _shapes() -> dict[str, Key]:
    shapes = {key.name: _key(key) for key in TABLE_KEYS}
    for rule, keys in RULES.items():
        shapes[rule] = Key(Text("on or off", (ON, OFF)), f"off: the rule {rule} is not held against the table.")
        shapes.update({full_name(rule, key): _key(key) for key in keys})
    return shapes


def _key(key: PolicyKey) -> Key:
    return Key(Amount(key.unit), f"{key.doc} {key.default} unless said.")


POLICY = Record("policy", _shapes(), too_many="`firnline policy show TABLE` lists them all.")

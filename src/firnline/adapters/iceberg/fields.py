"""Which fields of manifest lists and manifests are read, by the ids of Iceberg's specification.

The names stand in where a hand-made file has no ids. Those of the counts in manifest lists were changed over time.
"""

from __future__ import annotations

from firnline.adapters.iceberg.avro.plans import Inside, Keyed, Kind, Want
from firnline.facts.lines import DELETE_PATH_ID, Metric, Wanted

# Of a line of a manifest list
PATH, LENGTH, SPEC, CONTENT = 500, 501, 502, 517
SEQUENCE, SEQUENCE_MIN, SNAPSHOT = 515, 516, 503
ADDED_FILES, EXISTING_FILES, DELETED_FILES = 504, 505, 506
ADDED_ROWS, EXISTING_ROWS, DELETED_ROWS = 512, 513, 514
PARTITIONS, KEY_METADATA, FIRST_ROW_ID = 507, 519, 520
# Of a summary in it
HAS_NULL, HAS_NAN, LOWER, UPPER = 509, 518, 510, 511

# Of an entry of a manifest
STATUS, ENTRY_SNAPSHOT, DATA_FILE, DATA_SEQUENCE, FILE_SEQUENCE = 0, 1, 2, 3, 4
# Of its file
FILE_CONTENT, FILE_PATH, FILE_FORMAT, PARTITION, RECORDS, SIZE = 134, 100, 101, 102, 103, 104
EQUALITY_IDS, SORT_ORDER, FILE_FIRST_ROW_ID, REFERENCED, BLOB_OFFSET, BLOB_SIZE = 135, 140, 142, 143, 144, 145

SUMMARY_NAMES = {"contains_null": HAS_NULL, "contains_nan": HAS_NAN, "lower_bound": LOWER, "upper_bound": UPPER}
_LINE_NAMES = {
    "manifest_path": PATH,
    "manifest_length": LENGTH,
    "partition_spec_id": SPEC,
    "content": CONTENT,
    "sequence_number": SEQUENCE,
    "min_sequence_number": SEQUENCE_MIN,
    "added_snapshot_id": SNAPSHOT,
    "added_files_count": ADDED_FILES,
    "added_data_files_count": ADDED_FILES,
    "existing_files_count": EXISTING_FILES,
    "existing_data_files_count": EXISTING_FILES,
    "deleted_files_count": DELETED_FILES,
    "deleted_data_files_count": DELETED_FILES,
    "added_rows_count": ADDED_ROWS,
    "existing_rows_count": EXISTING_ROWS,
    "deleted_rows_count": DELETED_ROWS,
    "partitions": PARTITIONS,
    "key_metadata": KEY_METADATA,
    "first_row_id": FIRST_ROW_ID,
}
_ENTRY_NAMES = {
    "status": STATUS,
    "snapshot_id": ENTRY_SNAPSHOT,
    "data_file": DATA_FILE,
    "sequence_number": DATA_SEQUENCE,
    "data_sequence_number": DATA_SEQUENCE,
    "file_sequence_number": FILE_SEQUENCE,
}
_FILE_NAMES = {
    "content": FILE_CONTENT,
    "file_path": FILE_PATH,
    "file_format": FILE_FORMAT,
    "partition": PARTITION,
    "record_count": RECORDS,
    "file_size_in_bytes": SIZE,
    "value_counts": Metric.VALUES.value,
    "null_value_counts": Metric.NULLS.value,
    "nan_value_counts": Metric.NANS.value,
    "lower_bounds": Metric.LOWER.value,
    "upper_bounds": Metric.UPPER.value,
    "equality_ids": EQUALITY_IDS,
    "sort_order_id": SORT_ORDER,
    "first_row_id": FILE_FIRST_ROW_ID,
    "referenced_data_file": REFERENCED,
    "content_offset": BLOB_OFFSET,
    "content_size_in_bytes": BLOB_SIZE,
}
_FILE_NUMBERS = (FILE_CONTENT, RECORDS, SIZE, SORT_ORDER, FILE_FIRST_ROW_ID, BLOB_OFFSET, BLOB_SIZE)
_FILE_TEXTS = (FILE_PATH, FILE_FORMAT, REFERENCED)

LINE = Inside(
    {
        **dict.fromkeys(_LINE_NAMES.values(), Kind.NUMBER),
        PATH: Kind.TEXT,
        PARTITIONS: Kind.SPAN,
        KEY_METADATA: Kind.SPAN,
    },
    _LINE_NAMES,
)


def metrics(wanted: Wanted, *, deletes: bool) -> frozenset[tuple[Metric, int]]:
    """Those a manifest can have: only delete files hold the paths they are about, and only their bounds tell them."""
    return wanted.metrics if deletes else frozenset(each for each in wanted.metrics if each[1] != DELETE_PATH_ID)


def entry(kept: frozenset[tuple[Metric, int]]) -> Inside:
    """What is wanted of an entry, with these metrics."""
    file: dict[int, Want] = {
        **dict.fromkeys(_FILE_NUMBERS, Kind.NUMBER),
        **dict.fromkeys(_FILE_TEXTS, Kind.TEXT),
        PARTITION: Kind.SPAN,
        EQUALITY_IDS: Kind.SPAN,
    }
    for metric in Metric:
        keys = frozenset(column for each, column in kept if each is metric)
        if keys:
            file[metric.value] = Keyed(keys)
    own: dict[int, Want] = dict.fromkeys((STATUS, ENTRY_SNAPSHOT, DATA_SEQUENCE, FILE_SEQUENCE), Kind.NUMBER)
    return Inside({**own, DATA_FILE: Inside(file, _FILE_NAMES)}, _ENTRY_NAMES)

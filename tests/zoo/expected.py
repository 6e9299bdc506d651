"""What is true of each inhabitant, counted by hand from how it was made. Paths lead into `TableFacts`.

Everything is tiny against the default target of 512 MiB: so every file is small, and of the n files of a partition
n - 1 can be removed. `Within` stands where metadata alone cannot tell.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.zoo.looking import Within

PARQUET = "formats.parquet"
FILE, FILES, EQUALITY, EVERYWHERE, VECTOR = (
    f"deletes.{kind}"
    for kind in ("position, one file", "position, many files", "equality", "global equality", "deletion vector")
)


def data(files: int, rows: int, *, partitions: int, removable: int) -> dict[str, object]:
    """Live data files, all of them small."""
    return {
        "data.files": files,
        "data.rows": rows,
        "data.small_files": files,
        "data.removable": removable,
        "data.large_files": 0,
        "partition_count": partitions,
    }


def whole(files: int, rows: int) -> dict[str, object]:
    """The same, unpartitioned."""
    return data(files, rows, partitions=1, removable=files - 1)


def deletes(kind: str, files: int, rows: int, containers: int | None = None) -> dict[str, object]:
    """Live deletes of a kind."""
    return {f"{kind}.files": files, f"{kind}.rows": rows, f"{kind}.containers": containers or files}


def commits(**by_operation: int) -> dict[str, object]:
    """Every snapshot that is kept, all reachable."""
    counted = {f"snapshots.by_operation.{name}": number for name, number in by_operation.items()}
    return {"snapshots.count": sum(by_operation.values()), "snapshots.unreachable": 0, **counted}


CLEAN: dict[str, object] = {"dangling.files": 0, "damage.#": 0}

SIZES: dict[str, Mapping[str, object]] = {
    "small_files": {
        **whole(24, 240), **commits(append=1), PARQUET: 24, "manifests.data": 1, "manifests.entries": 24,
        "specs.0.files": 24, "specs.#": 1, "refs.#": 1, "refs.main.kind": "branch", "format_version": 2,
    },
    "skewed": {
        **data(11, 920, partitions=3, removable=8), **commits(append=3),
        "partition_rows_most": 900, "partition_rows_median": 10, "manifests.data": 3,
    },
    "oversized": {
        "thresholds.target": 4096, "data.files": 6, "data.rows": 643, "data.large_files": 2, "data.small_files": 3,
        "data.removable": 2, "partition_count": 1,
    },
    "too_fine": {
        **data(40, 40, partitions=40, removable=0), **commits(append=1),
        "partition_rows_most": 1, "partition_rows_median": 1,
    },
    "many_manifests": {
        **data(12, 12, partitions=1, removable=11), **commits(append=12), "manifests.data": 12, "manifests.small": 12,
        "manifests.fanout": 12, "manifests.tombstones": 0,
    },
}  # fmt: skip

LAYOUTS: dict[str, Mapping[str, object]] = {
    "two_specs": {
        **data(6, 50, partitions=6, removable=0), "specs.#": 2, "specs.0.files": 4, "specs.0.partitions": 4,
        "specs.0.current": False, "specs.1.files": 2, "specs.1.partitions": 2, "specs.1.current": True,
        "metadata.specs": 2,
    },
    "three_specs": {
        **data(6, 41, partitions=4, removable=2), "specs.#": 3, "specs.0.files": 3, "specs.2.files": 1,
        "specs.4.files": 2, "specs.4.current": True, "metadata.specs": 5,
    },
    "null_partitions": {**data(6, 8, partitions=4, removable=2), **commits(append=3)},
    "void_transform": {
        **data(3, 8, partitions=3, removable=0), "format_version": 1, "specs.0.partitions": 2, "specs.1.partitions": 1,
    },
    "dropped_source": {
        **data(3, 8, partitions=3, removable=0), "specs.0.files": 2, "specs.1.files": 1, "specs.1.current": True,
    },
    "every_partition_type": {**data(4, 4, partitions=3, removable=1), "manifests.data": 2},
    "float_partitions": {
        **data(8, 16, partitions=4, removable=4), **deletes(FILES, 2, 4), "touched": 4, "partition_rows_most": 4,
    },
    "half_sorted": {**whole(5, 50), "sort_orders.0": 3, "sort_orders.1": 2, "metadata.orders": 2},
}  # fmt: skip

DELETES: dict[str, Mapping[str, object]] = {
    "position_deletes_by_file": {
        **data(6, 60, partitions=1, removable=5), **commits(append=1, delete=1), **deletes(FILE, 4, 5), "touched": 4,
        "manifests.deletes": 1, f"{FILE}.oldest_sequence": 2,
    },
    "position_deletes_by_partition": {
        **data(6, 60, partitions=2, removable=4), **deletes(FILES, 1, 4), "touched": 4,
    },
    "position_delete_by_bounds": {
        **data(2, 4, partitions=1, removable=1), **deletes(FILE, 1, 1), **deletes(FILES, 0, 0), "touched": 1,
    },
    "position_delete_by_field": {
        **data(2, 4, partitions=1, removable=1), **deletes(FILE, 1, 1), **deletes(FILES, 0, 0), "touched": 1,
    },
    "equality_deletes": {
        **data(4, 6, partitions=2, removable=2), **deletes(EQUALITY, 2, 3), **deletes(EVERYWHERE, 0, 0),
        "touched": Within(2), f"{EQUALITY}.oldest_sequence": 2,
    },
    "equality_deletes_unpartitioned": {**whole(2, 2), **deletes(EVERYWHERE, 1, 1), "touched": Within(1)},
    "global_equality_deletes": {
        **data(3, 3, partitions=3, removable=0), **deletes(EVERYWHERE, 1, 2), **deletes(EQUALITY, 0, 0),
        "touched": Within(2), "specs.0.files": 2, "specs.1.files": 1,
    },
    "upserted": {
        **data(3, 5, partitions=2, removable=1), **deletes(EQUALITY, 2, 2), **deletes(FILE, 1, 1),
        "dangling.files": 1, "dangling.rows": 1, "touched": Within(2),
    },
    "dangling_deletes": {
        **data(2, 3, partitions=2, removable=0), **deletes(FILE, 1, 1), **deletes(FILES, 1, 2),
        **deletes(EQUALITY, 2, 2), "dangling.files": 3, "dangling.rows": 4, "touched": Within(1),
        "snapshots.by_operation.replace": 1,
    },
    "deletes_in_other_formats": {
        **data(3, 30, partitions=1, removable=2), **deletes(FILE, 1, 1), **deletes(FILES, 2, 2), "touched": 3,
        "formats.orc": 2, "formats.avro": 1,
    },
}  # fmt: skip

BOUNDS: dict[str, Mapping[str, object]] = {
    "pruned_equality_deletes": {**whole(4, 7), **deletes(EVERYWHERE, 7, 7), "touched": Within(3)},
    "equality_deletes_of_nulls": {**whole(3, 6), **deletes(EVERYWHERE, 4, 5), "touched": Within(3)},
    "equality_deletes_over_wider_columns": {**whole(2, 2), **deletes(EVERYWHERE, 4, 4), "touched": Within(2)},
    "equality_deletes_over_changed_columns": {**whole(2, 2), **deletes(EVERYWHERE, 4, 4), "touched": Within(2)},
}

VECTORS: dict[str, Mapping[str, object]] = {
    "deletion_vectors": {
        **whole(14, 140), **deletes(VECTOR, 12, 12, containers=1), "touched": 12, "format_version": 3,
    },
    "replaced_vectors": {
        **data(4, 40, partitions=1, removable=3), **deletes(VECTOR, 4, 7, containers=2), "touched": 4,
        "manifests.tombstones": 3, "manifests.deletes": 2,
    },
    "half_upgraded_deletes": {
        **data(3, 30, partitions=1, removable=2), **deletes(FILES, 1, 3), **deletes(VECTOR, 2, 4, containers=1),
        "touched": 3, "format_version": 3,
    },
    "half_upgraded_file_deletes": {
        **data(3, 30, partitions=1, removable=2), **deletes(FILE, 2, 2), **deletes(VECTOR, 1, 2), "touched": 3,
    },
    "half_upgraded_to_3": {**data(4, 30, partitions=2, removable=2), "format_version": 3, "manifests.data": 3},
    "half_upgraded_to_2": {
        **data(4, 30, partitions=2, removable=2), **deletes(FILE, 3, 3), "touched": 3, "format_version": 2,
    },
    "variant": {**whole(2, 6), "format_version": 3},
}  # fmt: skip

HISTORY: dict[str, Mapping[str, object]] = {
    "staged_snapshot": {**whole(1, 1), "snapshots.count": 2, "snapshots.unreachable": 1},
    "rolled_back": {**whole(2, 2), "snapshots.count": 4, "snapshots.unreachable": 2, "snapshots.broken_parents": 0},
    "tag_off_main": {**whole(1, 1), "snapshots.count": 3, "snapshots.unreachable": 1, "refs.#": 2},
    "expired_middle": {
        **whole(5, 5), "snapshots.count": 3, "snapshots.broken_parents": 1, "snapshots.unreachable": 1,
    },
    "diverged_branch": {
        **whole(2, 2), **commits(append=3), "refs.#": 2, "refs.audit.kind": "branch", "refs.audit.missing": False,
    },
    "tagged": {
        **whole(1, 1), **commits(append=3, delete=2), "refs.#": 4, "refs.september.kind": "tag",
        "refs.dev.kind": "branch",
    },
    "many_snapshots": {**whole(5, 5), **commits(append=10_000), "snapshots.broken_parents": 0},
    "emptied": {
        **data(0, 0, partitions=0, removable=0), **commits(append=1, delete=1), "manifests.data": 1,
        "manifests.tombstones": 2, "manifests.entries": 2,
    },
    "never_written": {
        **data(0, 0, partitions=0, removable=0), **commits(), "snapshot": None, "refs.#": 0, "manifests.data": 0,
    },
    "tombstones": {
        **data(5, 32, partitions=2, removable=3), "manifests.data": 3, "manifests.tombstones": 6,
        "manifests.entries": 11,
    },
    "stale_statistics": {
        **data(3, 30, partitions=2, removable=1), "metadata.statistics": 1, "metadata.partition_statistics": 1,
        "snapshots.count": 2,
    },
    "summaries_without_totals": {
        **data(2, 10, partitions=1, removable=1), "manifests.data": 2, "manifests.tombstones": 1,
    },
    "gzip_metadata": {**whole(2, 20), "metadata.gzip": True},
    "lost_tag": {**whole(1, 10), "refs.lost.missing": True, "refs.main.missing": False},
}  # fmt: skip

DAMAGE: dict[str, Mapping[str, object]] = {
    "missing_data_file": whole(2, 2),
    "truncated_manifest": {"data.files": Within(4), "data.rows": Within(4), "damage.#": 1},
    "missing_manifest": {"data.files": Within(4), "data.rows": Within(4), "damage.#": 1},
    "manifest_cut_between_blocks": {"data.files": Within(3), "data.rows": Within(3), "damage.#": 1},
    "truncated_delete_manifest": {
        "data.files": 2, "data.rows": 20, "damage.#": 1, f"{FILE}.files": Within(2), f"{FILE}.rows": Within(2),
        "touched": Within(2), "manifests.deletes": 1,
    },
    "truncated_manifest_list": {
        "data.files": Within(4), "data.rows": Within(4), "damage.#": 1, "manifests.entries": Within(4),
    },
    "foreign_owner": whole(1, 10),
    "orphans": whole(1, 1),
}  # fmt: skip

FORMS: dict[str, Mapping[str, object]] = {
    "format_1": {**data(2, 20, partitions=1, removable=1), "format_version": 1, "manifests.tombstones": 1},
    "orc": {**whole(2, 20), "formats.orc": 2, PARQUET: None},
    "avro": {**whole(2, 20), "formats.avro": 2},
    "mixed_formats": {**data(4, 40, partitions=1, removable=3), PARQUET: 2, "formats.orc": 1, "formats.avro": 1},
    "manifest_codecs": {**whole(4, 4), "manifests.data": 4},
    "wide": whole(2, 2),
    "few_metrics": whole(2, 20),
    "odd_names": data(3, 3, partitions=3, removable=0),
    "by_pyiceberg": {**data(5, 5, partitions=5, removable=0), "snapshots.count": 4, "format_version": 2},
}

BY_HOUSE = (SIZES, LAYOUTS, DELETES, BOUNDS, VECTORS, HISTORY, DAMAGE, FORMS)
EXPECTED: dict[str, Mapping[str, object]] = {
    name: {**({} if house is DAMAGE else CLEAN), **facts} for house in BY_HOUSE for name, facts in house.items()
}

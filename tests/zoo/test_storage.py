"""What lies under a table's location: against a walk of the folder, and by hand where something is wrong on purpose."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from firnline.facts.values import StorageFacts
from tests.zoo import engines, looking, strays
from tests.zoo.zoo import INHABITANTS, Zoo

pytestmark = pytest.mark.spark

MONTH = 30 * 24 * 3600 * 1000
NO_FILES = {name for name, tables in engines.SPARK_CANNOT.items() if tables.keys() & {"data_files", "delete_files"}}
SLOW = {"many_snapshots"}  # Spark reads each of 10,000 manifest lists for its all_files


def seen(zoo: Zoo, name: str, *, later: int = 0) -> StorageFacts:
    """What Firnline sees, so many milliseconds from now."""
    return looking.storage_of(zoo.lakehouse, zoo[name], int(time.time() * 1000) + later)


def size(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


@pytest.mark.parametrize("name", [name for name in INHABITANTS if name not in NO_FILES | SLOW])
def test_listings_are_what_a_walk_finds(zoo: Zoo, name: str) -> None:
    """A month from now every file is referenced or is not, as a walk and Spark's metadata tables say."""
    walked = strays.walked(zoo.pen(name))
    found = seen(zoo, name, later=MONTH)
    assert (found.referenced_files, found.referenced_bytes) == (len(walked.known), size(walked.known))
    strange = found.unreferenced_files + found.unknown_files
    assert (strange, found.unreferenced_bytes + found.unknown_bytes) == (len(walked.strange), size(walked.strange))
    assert found.missing_files == len(walked.missing)
    assert found.young_files == 0


def test_orphans_are_counted(zoo: Zoo) -> None:
    """Three data files with their checksums, a manifest and a metadata file are orphans; what is new is not."""
    found = seen(zoo, "orphans")
    assert (found.unreferenced_files, found.young_files, found.unknown_files) == (8, 2, 1)
    assert not found.foreign


def test_a_foreign_owner_is_found(zoo: Zoo) -> None:
    """Metadata of another table in the folder is named."""
    found = seen(zoo, "foreign_owner")
    assert [each.rsplit("/", 1)[1] for each in found.foreign] == [
        "00007-0a0a0a0a-1111-4222-8333-444444444444.metadata.json"
    ]


def test_a_missing_file_is_named(zoo: Zoo) -> None:
    """A live data file that is not on the disk is counted and named."""
    (missing,) = strays.walked(zoo.pen("missing_data_file")).missing
    found = seen(zoo, "missing_data_file")
    assert (found.missing_files, [Path(each).name for each in found.missing]) == (1, [missing.name])

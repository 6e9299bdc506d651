"""What the JVM plans to read of a table: `planFiles` of Iceberg's own scan."""

from __future__ import annotations

from typing import TypeAlias

from tests.zoo.javatable import JavaTable, iterated

Attached: TypeAlias = frozenset[tuple[str, int | None]]  # delete files by location, vectors by their offset in it too
Planned: TypeAlias = dict[str, Attached]  # by location of the data file


def planned(table: JavaTable) -> Planned:
    """Each live data file with the deletes a reader must apply to it."""
    tasks = table.table.newScan().planFiles()
    try:
        return {
            task.file().location(): frozenset((each.location(), each.contentOffset()) for each in task.deletes())
            for task in iterated(tasks)
        }
    finally:
        tasks.close()

"""What a filter spares, beside what Iceberg's own planner leaves out for the same words."""

from __future__ import annotations

import pytest

from firnline.core.figures import exactly
from tests.zoo.javatable import iterated
from tests.zoo.zoo import Zoo

pytestmark = pytest.mark.spark
TABLES = ("two_specs", "three_specs", "null_partitions", "void_transform", "dropped_source", "position_deletes_by_file")
FILTERS = (
    "id = 3",
    "id > 4 AND id <= 7",
    "id IN (1, 8, 40)",
    "NOT (id < 5)",
    "id IS NULL",
    "id BETWEEN 100 AND 200",
    "note LIKE 'n%'",
    "at >= TIMESTAMP '2026-11-03 00:00:00Z' AND at < TIMESTAMP '2026-11-04 00:00:00Z'",
    "at IS NOT NULL OR id = 2",
)
BY_REGION = ("region = 'eu'", "region IS NULL", "region <> 'eu' AND id < 3", "region IN ('us', 'asia')")
CASES = [
    *((table, words) for table in TABLES for words in FILTERS),
    *((table, words) for table in ("two_specs", "null_partitions", "void_transform") for words in BY_REGION),
]


@pytest.mark.parametrize(("name", "words"), CASES)
def test_a_filter_spares_what_iceberg_spares(zoo: Zoo, name: str, words: str) -> None:
    """For the same filter, as many files of as many bytes are left as `planFiles` plans."""
    pen = zoo.pen(name)
    found = zoo.lakehouse.facts.scan_cost(str(pen.identifier), words)
    converter = pen.java.jvm.org.apache.spark.sql.execution.datasources.SparkExpressionConverter
    resolved = converter.collectResolvedSparkExpression(pen.lake.session._jsparkSession, pen.name, words)
    tasks = pen.java.table.newScan().filter(converter.convertToIcebergExpression(resolved)).planFiles()
    planned = {task.file().location(): task.file().fileSizeInBytes() for task in iterated(tasks)}
    tasks.close()
    assert (found.files.count, found.files.bytes) == (exactly(len(planned)), exactly(sum(planned.values())))

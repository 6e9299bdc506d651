"""The versions of EMR and Glue. CI pays for one slice; `make test-cloud` runs every Spark test on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sparklake import ICEBERG, SparkLake

CLOUD = "1.11.0"
PROGRAM = """
import json, sys
from pathlib import Path
from firnline.core.ids import Identifier
from firnline.adapters.spark.commits import SparkCommits
from tests.committing import properties
from tests.sparklake import CATALOG, spark_lake

lake = spark_lake(Path(sys.argv[1]))
lake.sql("CREATE NAMESPACE shop")
columns, layout = "id BIGINT, at TIMESTAMP", "PARTITIONED BY (days(at)) TBLPROPERTIES ('format-version'='3')"
lake.sql(f"CREATE TABLE shop.orders ({columns}) {layout}")
lake.sql("INSERT INTO shop.orders SELECT id, timestamp_seconds(id * 86400) FROM range(5)")
lake.sql("DELETE FROM shop.orders WHERE id = 3")
outcome = SparkCommits(lake.session, CATALOG).commit(Identifier(("shop",), "orders"), properties(lane="cloud"))
session = lake.isolated()
print(json.dumps({
    "version": session._jvm.org.apache.iceberg.IcebergBuild.version(),
    "outcome": outcome.kind.value,
    "ids": [row.id for row in session.sql("SELECT id FROM lake.shop.orders ORDER BY id").collect()],
    "lane": session.sql("SHOW TBLPROPERTIES lake.shop.orders ('lane')").collect()[0].value,
}))
"""


@pytest.mark.spark
def test_a_slice_runs_on_the_jar_of_the_cloud(tmp_path: Path) -> None:
    """Create, append, delete, commit a request and read back, on the Iceberg that EMR and Glue bring."""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "project")],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), ICEBERG: CLOUD},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found == {"version": CLOUD, "outcome": "done", "ids": [0, 1, 2, 4], "lane": "cloud"}


@pytest.mark.cloud
@pytest.mark.spark
def test_the_lane_is_what_it_says(lake: SparkLake) -> None:
    """`make test-cloud` tests the versions it is for, and not by accident the newest."""
    jvm = lake.session._jvm
    assert jvm is not None
    assert (lake.session.version, jvm.org.apache.iceberg.IcebergBuild.version()) == ("4.1.1", CLOUD)
    assert os.environ[ICEBERG] == CLOUD

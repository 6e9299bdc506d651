"""Functions of ours on executors that are processes of their own: what a cluster has, and threads do not show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

PROGRAM = """
import json, os, sys
from pathlib import Path
from firnline.config.values import CatalogSettings, EngineSettings, Environment, LakehouseSettings
from firnline.lakehouse.spark import Spark
from tests.sparklake import silent

def visit(batches):
    import pyarrow as pa
    import firnline
    from firnline.adapters.parquet import rowhash  # a kernel, with what it stands on
    from firnline.core import sizes
    for batch in batches:
        seen = [os.getpid(), os.getppid(), firnline.__file__, rowhash.__file__, sizes.show_bytes(batch.num_rows)]
        yield pa.RecordBatch.from_pylist([{"seen": json.dumps(seen)}])

folder = Path(sys.argv[1])
environment = Environment(
    "cluster", {"lake": CatalogSettings("lake", "sqlite")}, engine=EngineSettings(master="local-cluster[2,1,1024]")
)
session = Spark(LakehouseSettings("shop", str(folder), environment, ("cluster",)), silent).isolated()
session.sql("CREATE NAMESPACE shop")
session.sql("CREATE TABLE shop.orders AS SELECT id FROM range(0, 100, 1, 4)")
rows = session.table("shop.orders").repartition(4).mapInArrow(visit, "seen string").collect()
print(json.dumps({"driver": os.getpid(), "path": sys.path, "seen": [json.loads(row.seen) for row in rows]}))
"""


def test_the_package_works_on_executors(tmp_path: Path) -> None:
    """Two executors in two processes write a table and run our code from the zip we shipped, not from the driver's
    folder; nothing is printed on the way.
    """
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    found = json.loads(done.stdout)
    seen = found["seen"]
    assert seen
    assert found["driver"] not in {each[0] for each in seen} | {each[1] for each in seen}
    assert all(".zip/firnline/" in each[2] and ".zip/firnline/" in each[3] for each in seen), seen
    assert not [path for path in found["path"] if path.endswith(".zip") and "firnline" in path]

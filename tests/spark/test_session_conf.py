"""What `firnline spark-conf` prints is what a Spark of the user's own needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark
YAML = "version: 1\nname: shop\nenvironments: {local: {catalogs: {lake: {type: sqlite}}}}\n"
PRINT = "from firnline.cli import app; app.main()"
# The user's program: ours as it was printed, then their own work, then ours in their session.
PROGRAM = """
{printed}
import json
spark.sql("CREATE NAMESPACE shop")
spark.sql("CREATE TABLE shop.orders AS SELECT 1 AS id")
from firnline.lakehouse.opening import Lakehouse
lakehouse = Lakehouse.open(".", spark=spark)
rows = list(lakehouse.sql("SELECT id FROM shop.orders", at="main").rows)
print(json.dumps([rows, lakehouse.spark.root.given, spark.sparkContext._jsc is not None]))
"""


def test_a_session_of_the_printed_settings_is_taken(tmp_path: Path) -> None:
    """A program that starts Spark with the printed settings writes our tables, and its session may be given to us."""
    (tmp_path / "lakehouse.yaml").write_text(YAML)
    (tmp_path / ".lake").mkdir()
    # A job of the user's has no launcher of ours: it finds its Java, and prints what Spark says, by itself.
    environ = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    printed = subprocess.run(
        [sys.executable, "-c", PRINT, "spark-conf", "--format", "python"],
        cwd=tmp_path, env=environ, capture_output=True, text=True,
    )  # fmt: skip
    assert printed.returncode == 0, printed.stderr
    assert "spark.jars.packages" not in printed.stdout
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(printed=printed.stdout)],
        cwd=tmp_path, env=environ, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [[[1]], True, True]

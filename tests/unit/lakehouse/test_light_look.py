"""What looking loads: numpy to read manifests, and no library of Iceberg, Arrow or Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.fleet_building import TABLES, project

HEAVY = ("pyspark", "py4j", "pyarrow", "pandas", "pyiceberg", "sqlalchemy", "duckdb")
COMMANDS = (
    ["status"],
    ["status", "shop.calm"],
    ["explain", "shop.calm", "--quick"],
    ["explain", "shop.calm"],
    ["policy", "show", "shop.calm"],
    ["scan-cost", "shop.calm", "--where", "day = '2026-11-02' and id > 0"],
)
PROGRAM = (
    "import sys\n"
    "from firnline.cli import app\n"
    f"for words in {COMMANDS!r}:\n"
    "    assert app.run([*words, '-C', sys.argv[1]]) == 0\n"
    f"    print(*[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
)


def test_what_looks_load(tmp_path: Path) -> None:
    """After every command that looks, one after the other in a new process, no heavy library is loaded."""
    lake = project(tmp_path / "project", {"shop.calm": TABLES["shop.calm"]}, {"shop.calm": (0,)})
    run = subprocess.run([sys.executable, "-c", PROGRAM, str(lake.root)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert [line for line in run.stderr.splitlines() if not line.startswith("note: ")] == [""] * len(COMMANDS)

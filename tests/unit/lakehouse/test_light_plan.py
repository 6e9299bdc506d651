"""What a plan loads: nothing that a project at rest does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from firnline.cli import app
from tests.committing import Shelf

LAKEHOUSE = (
    "version: 1\nname: shop\nenvironments:\n  local:\n    catalogs: {lake: {type: sqlite}}\n    engine: {type: spark}\n"
)
TABLE = "table: shop.orders\nowner: ann\ncolumns:\n  - id: long required\n  - name: string\n"
HEAVY = ("numpy", "pyiceberg", "pyarrow", "pyspark")
PROGRAM = (
    "import sys\n"
    "from firnline.cli import app\n"
    "app.run(('plan', '-C', sys.argv[1]))\n"
    f"print(*[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one applied table that has rows."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "lakehouse.yaml").write_text(LAKEHOUSE)
    (tmp_path / "tables" / "orders.yaml").write_text(TABLE)
    assert app.run(("apply", "--yes", "-C", str(tmp_path))) == 0
    catalog = Shelf(tmp_path).sql_catalog()
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())])
    catalog.load_table("shop.orders").append(pa.table({"id": [1], "name": ["a"]}, schema=schema))
    catalog.engine.dispose()
    return tmp_path


@pytest.mark.parametrize(
    ("change", "loaded", "words"),
    [
        ("", [], "Nothing to do"),
        ("  - note: string\n", ["numpy"], "note"),
    ],
    ids=["unchanged", "a new column"],
)
def test_what_a_plan_loads(project: Path, change: str, loaded: list[str], words: str) -> None:
    """An unchanged project is planned without numpy; the price of a change takes numpy, and no library of Iceberg."""
    (project / "tables" / "orders.yaml").write_text(TABLE + change)
    run = subprocess.run([sys.executable, "-c", PROGRAM, str(project)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert words.lower() in run.stdout.lower(), run.stdout
    assert run.stderr.split() == loaded

"""The whole room is pure, and light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from firnline import judge
from tests.tidy import rules

FILES = sorted(Path(judge.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_judging_is_pure(path: Path) -> None:
    """No file of the room reads a clock, the environment, the network, or throws dice."""
    assert list(rules.impurity(path.read_text(encoding="utf-8"))) == []


def test_judging_needs_no_library() -> None:
    """Importing every rule brings in no engine, no catalog, no Arrow and no numpy."""
    heavy = ("numpy", "pyarrow", "pyspark", "pyiceberg", "sqlalchemy", "duckdb")
    told = f"import sys; import firnline.judge.judging; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"

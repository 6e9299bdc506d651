"""Looking stays light: the command line starts without Spark, Arrow or a database library."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("pyspark", "py4j", "pyarrow", "pandas", "numpy", "pyiceberg", "sqlalchemy", "duckdb", "pydantic")


def test_the_command_line_imports_nothing_heavy() -> None:
    """Importing every module of firnline.cli loads none of the heavy libraries."""
    program = (
        "import importlib, pkgutil, sys, firnline.cli\n"
        "for each in pkgutil.iter_modules(firnline.cli.__path__):\n"
        "    importlib.import_module(f'firnline.cli.{each.name}')\n"
        f"print(*[name for name in {HEAVY!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []

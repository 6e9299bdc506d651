"""Looking stays light: the command line starts without Spark, Arrow or a database library."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "pyspark", "py4j", "pyarrow", "pandas", "numpy", "pyiceberg", "sqlalchemy", "duckdb", "pydantic", "boto3",
    "botocore", "urllib3", "thrift", "moto", "flask",
)  # fmt: skip


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


ROOMS = ("lakehouse", "tables", "history", "judge", "facts", "loop", "config", "adapters")


def test_help_loads_no_capability() -> None:
    """`firnline --help` builds the whole command line without importing a room it does not show anything of."""
    program = (
        "import sys\nfrom firnline.cli import app\nassert app.run(['--help']) == 0\n"
        f"print(*[room for room in {ROOMS!r} if f'firnline.{{room}}' in sys.modules], file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0
    assert run.stderr.split() == []

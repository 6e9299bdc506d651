"""A plan of 500 tables beside PyIceberg's bare `load_table` of the same 500: time and memory. No JVM in either.

    python -m benchmarks.plan_500 [TABLES]

Method: a project of 500 declared and applied tables of 30 columns (nested ones, documented ones) with three metadata
versions each. Fresh processes, the two in turn, 7 times: wall time of the whole process, imports included, and its peak
resident memory (VmHWM); medians. Ours reads and checks 500 YAML files, reads the catalog and 500 metadata files, and
compares; the rival lists nothing and compares nothing: it loads 500 tables by name with SqlCatalog. The bound on time
is 1.5, the aim 1.0. Cost grows linearly with the number of tables on both sides.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TABLES = 500
TURNS = 7
BOUND = 1.5
_LAKEHOUSE = """\
version: 1
name: bench
environments:
  local:
    catalogs: {lake: {type: sqlite}}
    engine: {type: spark}
"""
# Not getrusage: what it tells of a child begins at the size of the process that started it.
_ENDING = "\nprint(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
OURS = "import sys\nfrom firnline.cli import app\nassert app.run(('plan', '--expect-empty', '-C', sys.argv[1])) == 0"
RIVAL = """
import sys
from pyiceberg.catalog.sql import SqlCatalog
root = sys.argv[1]
io = "firnline.adapters.iceberg.fileio.LocalFileIO"
catalog = SqlCatalog(
    "lake", uri=f"sqlite:///{root}/.lake/catalog.db", warehouse=f"file://{root}/warehouse", **{"py-io-impl": io}
)
for number in range(int(sys.argv[2])):
    catalog.load_table(f"bench.t{number:04d}")
"""


def table(number: int, note: str) -> str:
    """A table file; `note` makes one more metadata version."""
    columns = "\n".join(
        f"  - c{at:02d}: {('long', 'string', 'decimal(12,2)', 'timestamptz')[at % 4]}" for at in range(26)
    )
    return (
        f"table: bench.t{number:04d}\nowner: {note}\ncolumns:\n  - id: long required\n{columns}\n"
        '  - {name: noted, type: string, doc: "what it means, in some words"}\n'
        '  - nested: "struct<a: long required, b: list<string>, c: map<string, double>>"\n'
        "  - at: timestamptz\npartition: [day(at)]\nsort: [id]\nproperties: {write.format.default: parquet}\n"
    )


def prepare(root: Path, tables: int) -> None:
    """The project, applied three times."""
    from firnline.cli import app

    (root / "tables").mkdir()
    (root / "lakehouse.yaml").write_text(_LAKEHOUSE, encoding="utf-8")
    for note in ("ann", "bob", "carla"):
        for number in range(tables):
            (root / "tables" / f"t{number:04d}.yaml").write_text(table(number, note), encoding="utf-8")
        devnull = os.open(os.devnull, os.O_WRONLY)
        keep = os.dup(1)
        os.dup2(devnull, 1)
        try:
            assert app.run(("apply", "--yes", "-C", str(root))) == 0
        finally:
            sys.stdout.flush()
            os.dup2(keep, 1)


def once(program: str, *arguments: str) -> tuple[float, float]:
    """Seconds and MiB of one fresh process."""
    import time

    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program + _ENDING, *arguments], check=True, capture_output=True, text=True
    )
    return time.perf_counter() - begun, int(done.stdout.split()[-1]) / 1024


def measure(root: Path, tables: int, turns: int = TURNS) -> dict[str, tuple[float, float]]:
    """Median seconds and MiB of both."""
    found: dict[str, list[tuple[float, float]]] = {"ours": [], "rival": []}
    for turn in range(turns + 1):
        pair = {"ours": once(OURS, str(root)), "rival": once(RIVAL, str(root), str(tables))}
        if turn:  # the first pair warms the disk
            for name, figures in pair.items():
                found[name].append(figures)
    return {
        name: (statistics.median(each[0] for each in figures), statistics.median(each[1] for each in figures))
        for name, figures in found.items()
    }


def main() -> None:
    """Print the figures; exit 1 past the bound."""
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else TABLES
    with tempfile.TemporaryDirectory(prefix="firnline-bench-") as folder:
        prepare(Path(folder), tables)
        figures = measure(Path(folder), tables)
    (ours, ours_mib), (rival, rival_mib) = figures["ours"], figures["rival"]
    print(f"firnline plan of {tables} tables     {ours:6.2f} s  {ours_mib:6.0f} MiB")
    print(f"PyIceberg load_table, {tables} times {rival:6.2f} s  {rival_mib:6.0f} MiB")
    print(
        f"ratio                          {ours / rival:6.2f}    {ours_mib / rival_mib:6.2f}    (bound {BOUND} on time)"
    )
    print(json.dumps({"tables": tables, "time": ours / rival, "memory": ours_mib / rival_mib}))
    sys.exit(ours / rival > BOUND)


if __name__ == "__main__":
    main()

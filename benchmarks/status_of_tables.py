"""`firnline status` of a fleet of small tables, per table, beside PyIceberg's bare `load_table` of the same tables.

    python -m benchmarks.status_of_tables [TABLES]         1000 unless said; 5000 takes minutes to make

Method: tables of ten columns in days, three appends each, written by PyIceberg into one SQLite catalog; half of them
are declared. Fresh processes in turn, five times, medians; CPU and wall of the work after the imports, and the peak
(VmHWM). Ours reads the catalog, every table file, metadata file, manifest list and manifest, folds them, holds thirty
rules against each table and writes the cache (first look) or reads it (second look); the rival loads metadata by name
and looks at nothing. One table is judged at a time. The bound is 15 and the aim 1.0, which is not
reached: the rules alone take as long as the rival. The cost grows linearly with tables.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TABLES = 1000
TURNS = 5
BOUND = 15.0
_LAKEHOUSE = "version: 1\nname: bench\nenvironments:\n  local:\n    catalogs: {lake: {type: sqlite}}\n"
_TABLE = "table: bench.t{number:04d}\ncolumns:\n{columns}\n  - at: timestamp\npartition: [day(at)]\n"
_HEAD = """
import json, resource, sys, time
root, count = sys.argv[1], int(sys.argv[2])
def spent():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
def tell(begun, clock):
    peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) * 1024
    print(json.dumps({"cpu": spent() - begun, "wall": time.perf_counter() - clock, "peak": peak}))
"""
OURS = (
    _HEAD
    + """
import firnline.facts.table, firnline.adapters.iceberg.batches, firnline.adapters.local.cache
from firnline.lakehouse.opening import Lakehouse
lakehouse = Lakehouse.open(root)
judging = lakehouse.judging
begun, clock = spent(), time.perf_counter()
fleet = judging.status(parallel=1)
tell(begun, clock)
assert len(fleet.tables) == count and not any(each.health.value == "unreadable" for each in fleet.tables)
"""
)
RIVAL = (
    _HEAD
    + """
from pyiceberg.catalog.sql import SqlCatalog
io = "firnline.adapters.iceberg.fileio.LocalFileIO"
catalog = SqlCatalog(
    "lake", uri=f"sqlite:///{root}/.lake/catalog.db", warehouse=f"file://{root}/warehouse", **{"py-io-impl": io}
)
begun, clock = spent(), time.perf_counter()
for number in range(count):
    catalog.load_table(f"bench.t{number:04d}")
tell(begun, clock)
"""
)
MAKE = """
import datetime as dt, sys, warnings
warnings.simplefilter("ignore")
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
root, count = sys.argv[1], int(sys.argv[2])
catalog = SqlCatalog("lake", uri=f"sqlite:///{root}/.lake/catalog.db", warehouse=f"file://{root}/warehouse")
at = [dt.datetime(2026, 11, 1 + day, 9, 30) for day in range(4)]
for number in range(count):
    table = catalog.load_table(f"bench.t{number:04d}")
    names = [field.name for field in table.schema().fields if field.name != "at"]
    rows = pa.table({**{name: pa.array([1, 2, 3, 4], pa.int64()) for name in names}, "at": at})
    for _ in range(3):
        table.append(rows)
"""


def prepare(root: Path, tables: int) -> None:
    """The project: everything declared, applied and filled; then half of the files are taken away."""
    (root / "tables").mkdir()
    (root / "lakehouse.yaml").write_text(_LAKEHOUSE, encoding="utf-8")
    columns = "\n".join(f"  - c{at:02d}: long" for at in range(9))
    for number in range(tables):
        text = _TABLE.format(number=number, columns=columns)
        (root / "tables" / f"t{number:04d}.yaml").write_text(text, encoding="utf-8")
    firnline = str(Path(sys.executable).with_name("firnline"))
    subprocess.run([firnline, "apply", "--yes", "-C", str(root)], check=True, capture_output=True)
    subprocess.run([sys.executable, "-c", MAKE, str(root), str(tables)], check=True)
    for number in range(0, tables, 2):
        (root / "tables" / f"t{number:04d}.yaml").unlink()


def once(program: str, root: Path, tables: int) -> dict[str, float]:
    """One fresh process."""
    command = [sys.executable, "-c", program, str(root), str(tables)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(root: Path, tables: int) -> dict[str, dict[str, float]]:
    """The medians of each."""
    runs: dict[str, list[dict[str, float]]] = {"PyIceberg load_table": [], "firnline status": [], "second look": []}
    for _ in range(TURNS):
        (root / ".lake" / "cache" / "facts.db").unlink(missing_ok=True)
        runs["firnline status"].append(once(OURS, root, tables))
        runs["PyIceberg load_table"].append(once(RIVAL, root, tables))
        runs["second look"].append(once(OURS, root, tables))
    return {name: {key: statistics.median(run[key] for run in own) for key in own[0]} for name, own in runs.items()}


def main() -> None:
    """Print the figures; exit 1 past the bound."""
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else TABLES
    with tempfile.TemporaryDirectory(prefix="firnline-bench-") as folder:
        prepare(Path(folder), tables)
        found = measure(Path(folder), tables)
    rival = found["PyIceberg load_table"]
    for name, run in found.items():
        each, ratio = 1000 * run["cpu"] / tables, run["cpu"] / rival["cpu"]
        print(f"{name:<22} {each:6.2f} ms CPU a table  {1000 * run['wall'] / tables:6.2f} ms  "
              f"{run['peak'] / 2**20:5.0f} MiB  {ratio:5.2f}x")  # fmt: skip
    sys.exit(found["firnline status"]["cpu"] / rival["cpu"] > BOUND)


if __name__ == "__main__":
    main()

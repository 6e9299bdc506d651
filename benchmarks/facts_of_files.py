"""Facts of a table with many files beside the ways there are: PyIceberg's inspect, its raw reading, Spark's tables.

    python -m benchmarks.facts_of_files [ENTRIES ...]      10000 and 100000 unless said; 1000000 takes some minutes

Method: real manifests, written by Iceberg's own Java classes (4,500 entries each, ten columns with metrics, days and
buckets), without data files. Every candidate runs in a fresh process, one after the other, twice for the short ones;
the better run counts. CPU is user and system time of the process after its imports (ours looks at a tiny table first),
memory its peak (VmHWM). Spark runs in a session that is warm: its second answer counts, and its JVM's memory is not
told. `firnline` is what `status` reads: every fact of the table, and the fold of each manifest written to the cache.
The second look follows a commit that makes one manifest in a hundred new (at least one).

Bounds: 25 times PyIceberg's `inspect.files()` and 10 times its raw reading in CPU at 100,000 entries and more, 20 times
the first look for the second, 200 MiB at a million. Cost grows linearly with entries on the first look, with manifests
and partitions on the second.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.made_files import PER_MANIFEST, make, more

SIZES = (10_000, 100_000)
INSPECT_RATIO, RAW_RATIO, SECOND_RATIO = 25, 10, 20
MEMORY_MAX = 200 << 20
JUDGED_FROM = 100_000  # below, start-up and the clock's grain say more than the work
TURNS_BELOW = 1_000_000

_HEAD = """
import json, os, resource, sys, time
root = sys.argv[1]
def spent():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
def tell(begun, clock, files):
    peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) * 1024
    print(json.dumps({"cpu": spent() - begun, "wall": time.perf_counter() - clock, "peak": peak, "files": files}))
"""
OURS = (
    _HEAD
    + """
import firnline.facts.table, firnline.adapters.iceberg.batches, firnline.adapters.local.cache
from firnline.lakehouse.opening import Lakehouse
lakehouse = Lakehouse.open(root)
lakehouse.facts.table("bench.tiny")
begun, clock = spent(), time.perf_counter()
facts = lakehouse.facts.table("bench.made")
tell(begun, clock, facts.data.files.value)
"""
)
_PYICEBERG = (
    _HEAD
    + """
import warnings
warnings.simplefilter("ignore")
import pyarrow
from pyiceberg.catalog.sql import SqlCatalog
catalog = SqlCatalog("lake", uri=f"sqlite:///{root}/.lake/catalog.db", warehouse=f"file://{root}/warehouse")
table = catalog.load_table("bench.made")
begun, clock = spent(), time.perf_counter()
"""
)
RAW = (
    _PYICEBERG
    + """
files = 0
for manifest in table.current_snapshot().manifests(table.io):
    files += len(manifest.fetch_manifest_entry(table.io, discard_deleted=True))
tell(begun, clock, files)
"""
)
INSPECT = _PYICEBERG + "tell(begun, clock, table.inspect.files().num_rows)\n"
SPARK = (
    _HEAD
    + """
from firnline.lakehouse.opening import Lakehouse
session = Lakehouse.open(root).spark.isolated()
pid = session._jvm.java.lang.ProcessHandle.current().pid()
def cpu():
    with open(f"/proc/{pid}/stat") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
query = (
    "SELECT sum(n) FROM (SELECT partition, count(*) AS n, sum(file_size_in_bytes), sum(record_count)"
    " FROM lake.bench.made.files GROUP BY partition)"
)
for _ in range(2):
    begun, clock = cpu(), time.perf_counter()
    files = session.sql(query).collect()[0][0]
print(json.dumps({"cpu": cpu() - begun, "wall": time.perf_counter() - clock, "peak": 0, "files": files}))
"""
)


def once(program: str, root: Path) -> dict[str, float]:
    """One fresh process."""
    done = subprocess.run([sys.executable, "-c", program, str(root)], stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def best(program: str, root: Path, turns: int) -> dict[str, float]:
    """The run with the least CPU."""
    return min((once(program, root) for _ in range(turns)), key=lambda run: run["cpu"])


def measure(root: Path, entries: int) -> dict[str, dict[str, float]]:
    """Every candidate on one table, all of which must see the same files."""
    make(root, entries)
    cache = root / ".lake" / "cache" / "facts.db"
    turns = 2 if entries < TURNS_BELOW else 1
    firsts = []
    for _ in range(turns):
        cache.unlink(missing_ok=True)
        firsts.append(once(OURS, root))
    found = {"firnline": min(firsts, key=lambda run: run["cpu"])}
    found["PyIceberg, raw"] = best(RAW, root, turns)
    found["PyIceberg, inspect.files()"] = best(INSPECT, root, turns)
    found["Spark, warm"] = once(SPARK, root)
    assert {run["files"] for run in found.values()} == {float(entries)}, found
    added = more(root, max(1, entries // PER_MANIFEST // 100), entries)
    found["firnline, second look"] = once(OURS, root)
    assert found["firnline, second look"]["files"] == entries + added
    return found


def report(entries: int, found: dict[str, dict[str, float]]) -> list[str]:
    """Print the figures; what is past its bound comes back."""
    ours = found["firnline"]
    print(f"{entries:,} entries")
    for name, run in found.items():
        ratio = run["cpu"] / ours["cpu"]
        peak = f"{run['peak'] / 2**20:6.0f} MiB" if run["peak"] else " " * 10
        print(f"  {name:<28} {run['cpu']:8.2f} s CPU  {run['wall']:8.2f} s  {peak}  {ratio:8.2f}x")
    if entries < JUDGED_FROM:
        return []
    ratios = {
        f"inspect.files() is {INSPECT_RATIO} times": found["PyIceberg, inspect.files()"]["cpu"]
        / ours["cpu"]
        / INSPECT_RATIO,
        f"raw reading is {RAW_RATIO} times": found["PyIceberg, raw"]["cpu"] / ours["cpu"] / RAW_RATIO,
        f"memory is within {MEMORY_MAX >> 20} MiB": MEMORY_MAX / ours["peak"],
    }
    if entries >= TURNS_BELOW:
        ratios[f"the second look is {SECOND_RATIO} times faster"] = (
            ours["cpu"] / found["firnline, second look"]["cpu"] / SECOND_RATIO
        )
    return [f"{entries:,}: not so: {claim} ({share:.2f} of it)" for claim, share in ratios.items() if share < 1]


def main() -> None:
    """Measure each size; exit 1 past a bound."""
    missed: list[str] = []
    for entries in [int(each) for each in sys.argv[1:]] or SIZES:
        with tempfile.TemporaryDirectory(prefix="firnline-bench-") as folder:
            missed += report(entries, measure(Path(folder), entries))
    for claim in missed:
        print(claim)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()

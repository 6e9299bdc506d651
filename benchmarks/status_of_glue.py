"""`firnline status` of Glue tables on S3, beside PyIceberg's GlueCatalog that lists and loads the same tables.

    python -m benchmarks.status_of_glue

Method: the catalog of the first-minute tests, 160 Iceberg tables among 200 entries, on the local AWS server behind a
proxy that counts; fresh processes in turn, three times, medians. CPU and wall of the whole process. The rival calls
list_tables of each database and load_table of each table, goes on where that fails, and looks at nothing: it reads
metadata files, and neither manifest lists nor manifests. Ours lists, reads all three, holds every rule against each
table and writes the cache (first look) or reads it (second look). Loopback has no latency, which the rival would pay
one request after the other. Bounds: no more requests than the rival on the second look, 2 times its CPU on the first.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.first_minute_building import Fleet, fleet

TURNS = 3
BOUND = 2.0
RIVAL = """
import sys
from pyiceberg.catalog.glue import GlueCatalog
catalog = GlueCatalog("lake", **{
    "glue.endpoint": sys.argv[1], "glue.region": "us-east-1", "s3.endpoint": sys.argv[1], "s3.region": "us-east-1",
    "s3.access-key-id": "a", "s3.secret-access-key": "b",
})
loaded = 0
for namespace in ("bronze", "broken", "legacy", "sales"):
    for name in catalog.list_tables(namespace):
        try:
            catalog.load_table(name)
        except Exception:
            continue
        loaded += 1
assert loaded >= 150, loaded
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One process."""

    cpu: float
    wall: float
    requests: int


def once(found: Fleet, command: list[str], codes: tuple[int, ...]) -> Run:
    """One fresh process."""
    found.gate.calls.clear()
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    environ = {**os.environ, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode in codes, done.stderr
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(cpu, wall, len(found.gate.calls))


def measure(found: Fleet, root: Path) -> dict[str, Run]:
    """The medians of each."""
    ours = [str(Path(sys.executable).with_name("firnline")), "status", "--env", "prod", "-C", str(root)]
    rival = [sys.executable, "-c", RIVAL, found.gate.endpoint]
    runs: dict[str, list[Run]] = {"PyIceberg load_table": [], "firnline status": [], "second look": []}
    for _ in range(TURNS):
        (root / ".lake" / "cache" / "facts.db").unlink(missing_ok=True)
        runs["firnline status"].append(once(found, ours, (4,)))
        runs["PyIceberg load_table"].append(once(found, rival, (0,)))
        runs["second look"].append(once(found, ours, (4,)))
    return {
        name: Run(*(statistics.median(getattr(run, key) for run in own) for key in Run.__slots__))
        for name, own in runs.items()
    }


def main() -> None:
    """Print the figures; exit 1 past a bound."""
    with tempfile.TemporaryDirectory(prefix="firnline-bench-") as folder, fleet() as found:
        (Path(folder) / "lakehouse.yaml").write_text(found.yaml(), encoding="utf-8")
        figures = measure(found, Path(folder))
    rival = figures["PyIceberg load_table"]
    for name, run in figures.items():
        print(f"{name:<22} {run.cpu:5.2f} s CPU  {run.wall:5.2f} s  {run.requests:4.0f} requests  "
              f"{run.cpu / rival.cpu:5.2f}x CPU  {run.requests / rival.requests:5.2f}x requests")  # fmt: skip
    first, second = figures["firnline status"], figures["second look"]
    sys.exit(first.cpu / rival.cpu > BOUND or second.requests > rival.requests)


if __name__ == "__main__":
    main()

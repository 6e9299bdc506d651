"""The tour: a pay-later lakehouse declared, planned, applied, loaded, evolved, spoiled, undone and read back equal.

    python examples/bnpl/run.py [FOLDER]

Makes FOLDER (`demo` when none is given) from nothing each time and leaves it for you to go on with. Every line that
starts with `$ firnline` is the command you would type; it runs in this process, so that one JVM serves the whole tour.
"""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import sys
import time
from pathlib import Path

import deliveries
import pipeline
import trickle

from firnline.cli import app
from firnline.lakehouse.opening import Lakehouse

HERE = Path(__file__).parent
MARK = ".firnline-demo"  # only a folder with this file in it is ever thrown away
ROWS_A_DAY = 6_000
COMMITS = 110
CLEAN_FILE = "tables/silver/bnpl_transactions_clean.yaml"
TABLES = (pipeline.RAW, pipeline.CLEAN, pipeline.SUMMARY, pipeline.PROFILES)


class Tour:
    """One walk through the demo. Stops at the first command that does not end as it should."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.begun = time.monotonic()
        self.chapters = 0

    def chapter(self, title: str, *words: str) -> None:
        """A heading, and what is about to be seen."""
        self.chapters += 1
        print(f"\n── {self.chapters}. {title} " + "─" * max(3, 90 - len(title)), flush=True)
        for line in words:
            print(f"   {line}")
        print(flush=True)

    def firnline(self, *arguments: str, expect: int = 0) -> None:
        """Show a command and run it."""
        print(f"$ firnline {shlex.join(arguments)}", flush=True)
        code = app.run(arguments)
        print(flush=True)
        if code != expect:
            sys.exit(f"The demo stops here: that command was to end with {expect} and ended with {code}.")

    def lakehouse(self) -> Lakehouse:
        """The project, as a library sees it."""
        return Lakehouse.open(self.folder)


def prepare(folder: Path) -> None:
    """A fresh copy of the example project."""
    if folder.exists():
        if not (folder / MARK).is_file():
            sys.exit(f"{folder} exists and was not made by this demo: name another folder.")
        shutil.rmtree(folder)
    shutil.copytree(HERE / "project", folder)
    (folder / MARK).write_text("Made by the demo, and made anew by its next run.\n", encoding="utf-8")


def load(tour: Tour, days: range) -> None:
    """Land and refine some days' deliveries."""
    session = tour.lakehouse().spark.isolated()
    for day in days:
        delivered = session.createDataFrame(deliveries.delivery(day, ROWS_A_DAY))
        pipeline.land(session, delivered)
        pipeline.merge_silver(session, delivered)
        print(f"   {deliveries.FIRST_DAY.date()} + {day}d: {delivered.count():,} rows delivered", flush=True)
    pipeline.build_gold(session)
    print(flush=True)


def declare(tour: Tour) -> None:
    """Plan and apply the three layers."""
    tour.chapter(
        "Tables are code",
        f"{tour.folder}/lakehouse.yaml and one file per table. The plan says what would happen; apply makes it so,",
        "each table in one atomic commit, recorded in a ledger.",
    )
    tour.firnline("plan")
    tour.firnline("apply", "--yes")


def fill(tour: Tour) -> None:
    """Three days of data."""
    tour.chapter(
        "Load with PySpark",
        "Three days of deliveries: some rows late, some twice, some with holes, a few customers buying most of it.",
    )
    load(tour, range(3))
    tour.firnline("tables", "list")


def evolve(tour: Tour) -> None:
    """Change the schema and the layout of the live table."""
    tour.chapter("Change a live table", f"An edit of {CLEAN_FILE}:")
    path = tour.folder / CLEAN_FILE
    before, after = path.read_text(encoding="utf-8"), (HERE / "evolved" / path.name).read_text(encoding="utf-8")
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=0):
        if not line.startswith(("---", "+++", "@@")):
            print(f"   {line}")
    print()
    path.write_text(after, encoding="utf-8")
    tour.firnline("plan", pipeline.CLEAN, "--save", "evolve.plan.json")
    tour.firnline("apply", "evolve.plan.json", "--yes")
    load(tour, range(3, 4))
    tour.firnline("plan", "--expect-empty")


def spoil_and_undo(tour: Tour) -> tuple[int, int]:
    """A mistake, found and rolled back. The snapshots: the good one and the spoilt one."""
    tour.chapter("Make a mistake, and undo it", "Somebody converts cents to euros. The amounts were euros already.")
    lakehouse = tour.lakehouse()
    good = lakehouse.tables.load(pipeline.CLEAN).current_snapshot_id
    session = lakehouse.spark.isolated()
    session.sql(f"UPDATE {pipeline.CLEAN} SET amount = amount / 100 WHERE currency = 'EUR'")
    spoilt = lakehouse.tables.load(pipeline.CLEAN).current_snapshot_id
    assert good is not None
    assert spoilt is not None
    total = (
        f"SELECT currency, count(*) AS transactions, sum(amount) AS total FROM {pipeline.CLEAN} GROUP BY 1 ORDER BY 1"
    )
    tour.firnline("sql", total)
    tour.firnline("history", pipeline.CLEAN, "--limit", "3")
    tour.firnline("rollback", pipeline.CLEAN, "--to", str(good), "--yes")
    tour.firnline("sql", total)
    return good, spoilt


def travel(tour: Tour, spoilt: int) -> None:
    """Read the table as it was."""
    tour.chapter(
        "Travel in time", "The spoilt snapshot is still there to be looked at, by an engine that is not Spark."
    )
    span = (
        f"SELECT merchant_name, min(amount) AS least, max(amount) AS most FROM {pipeline.CLEAN} GROUP BY 1 ORDER BY 1"
    )
    tour.firnline("sql", span, "--engine", "duckdb", "--at", str(spoilt))
    tour.firnline("sql", span, "--engine", "duckdb")


def prove(tour: Tour) -> None:
    """Three readers, one answer."""
    tour.chapter(
        "Prove it", "Spark, PyIceberg and DuckDB read the same snapshot on their own and must see the same rows."
    )
    for table in TABLES:
        tour.firnline("verify", table)


def wear(tour: Tour) -> None:
    """A table that becomes unhealthy by itself, and what is said of it."""
    tour.chapter(
        "See what is wrong",
        "The checkout begins to deliver every few seconds. Each commit is fine, and nobody does anything wrong.",
    )
    trickle.run(tour.lakehouse(), pipeline.RAW, COMMITS)
    tour.firnline("status")
    tour.firnline("explain", pipeline.RAW, "--fired")


def summarise(tour: Tour) -> None:
    """One screen: what is there now and what to try next."""
    tour.chapter("What you have now")
    tour.firnline("tables", "list")
    tour.firnline("ledger")
    print(
        f"   Done in {time.monotonic() - tour.begun:.0f} s. The lakehouse stays in {tour.folder}: go on with it.\n\n"
        f"   cd {os.path.relpath(tour.folder, Path.cwd().parent if Path.cwd() == tour.folder else os.environ['PWD'])}\n"
        "   firnline plan                                     edit a file under tables/ first, and see its price\n"
        f"   firnline explain {pipeline.RAW}     every rule, its numbers, and why nothing else is wrong\n"
        f"   firnline tables show {pipeline.CLEAN}\n"
        '   firnline sql "SELECT * FROM gold.bnpl_daily_summary ORDER BY day" --engine duckdb\n'
        "   firnline doctor                                   is this machine fit?\n"
        "   firnline init my-lakehouse                        and then do it for your own tables\n"
    )


def main() -> None:
    """The whole tour."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo").absolute()
    prepare(folder)
    os.chdir(folder)
    tour = Tour(folder)
    declare(tour)
    fill(tour)
    evolve(tour)
    _, spoilt = spoil_and_undo(tour)
    travel(tour, spoilt)
    prove(tour)
    wear(tour)
    summarise(tour)


if __name__ == "__main__":
    main()

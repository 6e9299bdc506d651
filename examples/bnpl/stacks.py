"""The same lakehouse on every catalog: declared, loaded and evolved alike, and read back equal by readers of each kind.

    python examples/bnpl/stacks.py [FOLDER] [ENVIRONMENT…]

Starts the servers it needs (`firnline local up`), runs the pipeline in each environment in a process of its own, as one
process has one Spark, and compares a hash over the rows of each table: across readers, and across environments.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import deliveries
import pipeline
import run

from firnline.cli import app
from firnline.core.errors import FirnlineError
from firnline.lakehouse.opening import Lakehouse

ENVIRONMENTS = ("local", "cluster", "hive", "rest", "glue")
SERVICES = {"hive": "hive", "rest": "rest", "glue": "glue"}
ROWS_A_DAY = 2_000
DAYS = 3
PYSAIL_SECONDS = 120


def pipeline_in(environment: str) -> dict[str, dict[str, str]]:
    """Declare, load, evolve and load again; what each reader then sees of each table."""
    folder = Path.cwd()
    _check(app.run(["apply", "--yes", "--env", environment]))
    lakehouse = Lakehouse.open(folder, environment)
    _load(lakehouse, range(DAYS))
    declared, evolved = folder / run.CLEAN_FILE, run.HERE / "evolved" / Path(run.CLEAN_FILE).name
    before = declared.read_text(encoding="utf-8")
    declared.write_text(evolved.read_text(encoding="utf-8"), encoding="utf-8")
    try:
        _check(app.run(["apply", "--yes", "--env", environment]))
        _load(lakehouse, range(DAYS, DAYS + 1))
        _check(app.run(["plan", "--expect-empty", "--env", environment]))
    finally:
        declared.write_text(before, encoding="utf-8")
    return {table: seen(lakehouse, table) for table in run.TABLES}


def _load(lakehouse: Lakehouse, days: range) -> None:
    session = lakehouse.spark.isolated()
    for day in days:
        delivered = session.createDataFrame(deliveries.delivery(day, ROWS_A_DAY))
        pipeline.land(session, delivered)
        pipeline.merge_silver(session, delivered)
    pipeline.build_gold(session)


def seen(lakehouse: Lakehouse, table: str) -> dict[str, str]:
    """The hash of the rows each reader sees, by reader; PySail's in a process of its own."""
    found = {
        str(report.reader): f"{report.tally.rows} rows, {report.tally.whole}" if report.tally else str(report.reason)
        for report in lakehouse.verify(table).readers
    }
    return {**found, "pysail": _by_pysail(lakehouse, table)}


def _by_pysail(lakehouse: Lakehouse, table: str) -> str:
    from sail import asked

    environ = {**os.environ, **_s3(lakehouse)}
    command = [sys.executable, str(run.HERE / "sail.py")]
    request = json.dumps(asked(lakehouse.tables.load(table)))
    done = subprocess.run(
        command, input=request, env=environ, capture_output=True, text=True, check=False, timeout=PYSAIL_SECONDS
    )
    return done.stdout.strip() or f"failed: {done.stderr.strip().splitlines()[-1:]}"


def _s3(lakehouse: Lakehouse) -> dict[str, str]:
    """How PySail reaches S3; nothing where the tables lie in a folder."""
    if lakehouse.storage.aws.keys is None:
        return {}
    access = lakehouse.storage.access("")
    return {
        "AWS_ACCESS_KEY_ID": access.access or "",
        "AWS_SECRET_ACCESS_KEY": access.secret or "",
        "AWS_ENDPOINT": access.endpoint or "",
        "AWS_REGION": access.region,
        "AWS_ALLOW_HTTP": "true",
        "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "false",
    }


def _check(code: int) -> None:
    if code:
        raise SystemExit(f"A command ended with {code}.")


def _in_process(folder: Path, environment: str) -> dict[str, dict[str, str]]:
    begun = time.monotonic()
    print(f"── {environment}", flush=True)
    command = [sys.executable, str(Path(__file__)), "--one", environment]
    result = folder / f"seen-{environment}.json"
    subprocess.run(command, cwd=folder, env={**os.environ, "STACKS_RESULT": str(result)}, check=True)
    print(f"   {time.monotonic() - begun:.0f} s\n", flush=True)
    found: dict[str, dict[str, str]] = json.loads(result.read_text(encoding="utf-8"))
    return found


def _compare(found: dict[str, dict[str, dict[str, str]]]) -> bool:
    same = True
    for table in run.TABLES:
        views = {(where, reader): view for where, each in found.items() for reader, view in each[table].items()}
        same &= len(set(views.values())) == 1
        print(table)
        for view in dict.fromkeys(views.values()):
            who = [f"{where}/{reader}" for (where, reader), one in views.items() if one == view]
            print(f"   {view}  {len(who)} of {len(views)}: {', '.join(who)}")
    return same


def main() -> None:
    """Every environment, one after the other, and the comparison."""
    if sys.argv[1:2] == ["--one"]:
        seen_here = json.dumps(pipeline_in(sys.argv[2]))
        Path(os.environ["STACKS_RESULT"]).write_text(seen_here, encoding="utf-8")
        return
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-stack").absolute()
    chosen = tuple(sys.argv[2:]) or ENVIRONMENTS
    if (folder / ".lake" / "services").is_dir():
        app.run(["local", "down", "--project", str(folder)])
    run.prepare(folder)
    os.chdir(folder)
    services = [SERVICES[name] for name in chosen if name in SERVICES]
    try:
        if services:
            _check(app.run(["local", "up", *services, *(["dynamodb"] if "glue" in services else [])]))
        found = {environment: _in_process(folder, environment) for environment in chosen}
    except (FirnlineError, subprocess.CalledProcessError) as error:
        sys.exit(f"The demo stops here: {error}")
    finally:
        if services:
            app.run(["local", "down"])
    same = _compare(found)
    print(f"\n{'All see the same rows.' if same else 'NOT the same.'} The lakehouses stay in {folder}.")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()

"""What a snapshot's summary says of itself: counts, and who wrote it. Writers leave out what they like."""

from __future__ import annotations

from firnline.core import keys
from firnline.facts.meta import Snapshot


def count(snapshot: Snapshot, key: str) -> int | None:
    """A count of the summary; None where its writer left it out."""
    value = snapshot.summary.get(key, "")
    return int(value) if value.isascii() and value.isdigit() else None


def writer(snapshot: Snapshot) -> str:
    """Who wrote it, as far as the summary tells."""
    run = snapshot.summary.get(keys.RUN)
    engine, who = by(snapshot)
    return f"firnline {run}" if run else " ".join(part for part in (engine, who or "") if part)


def by(snapshot: Snapshot) -> tuple[str, str | None]:
    """The engine with its version, and the application. A commit of ours says so under `firnline.run`."""
    summary = snapshot.summary
    engine = summary.get("engine-name") or ("spark" if "spark.app.id" in summary else None)
    engine = engine or ("iceberg" if "iceberg-version" in summary else None)
    version = summary.get("engine-version", "")
    application = summary.get("app-id") or summary.get("spark.app.id") or None
    return " ".join(part for part in (engine or "unknown", version) if part), application

"""What to type next, as text. One place, so that what is said of every table is said alike. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from firnline.core import instants
from firnline.judge import words
from firnline.judge.values import Subject

# Iceberg's rewriting brings deleted rows back where deletes are committed meanwhile, unless told this.
_SAFE = {"use-starting-sequence-number": "false"}


def call(subject: Subject, procedure: str, **arguments: str) -> str:
    """One of Iceberg's procedures for the table, as a command."""
    named = {"table": _text(str(subject.facts.identifier)), **arguments}
    listed = ", ".join(f"{name} => {value}" for name, value in named.items())
    return f"firnline sql {shlex.quote(f'CALL system.{procedure}({listed})')}"


def compact(subject: Subject, *, sort: bool = False) -> str:
    """Rewrite small files into larger ones."""
    strategy = {"strategy": _text("sort")} if sort else {}
    return call(subject, "rewrite_data_files", **strategy, options=_options(_SAFE))


def rewrite_all(subject: Subject) -> str:
    """Rewrite every file, whatever its size."""
    return call(subject, "rewrite_data_files", options=_options({**_SAFE, "rewrite-all": "true"}))


def fold(subject: Subject) -> str:
    """Rewrite every data file that a delete applies to."""
    return call(subject, "rewrite_data_files", options=_options({**_SAFE, "delete-file-threshold": "1"}))


def rewrite_manifests(subject: Subject) -> str:
    """Rewrite small manifests into larger ones, by partition."""
    return call(subject, "rewrite_manifests")


def expire(subject: Subject) -> str:
    """Expire what is older than the policy's age. Iceberg's procedure asks no consumer, so that is said."""
    millis = max(0, subject.now_millis - subject.policy.whole("snapshots.age"))
    made = call(
        subject, "expire_snapshots", older_than=f"TIMESTAMP {_text(instants.show(instants.from_millis(millis)))}"
    )
    times = {snapshot.id: snapshot.millis for snapshot in subject.meta.snapshots}
    behind = [each.id for each in subject.consumers if each.needs is None or times.get(each.needs, 0) < millis]
    return f"{made}, once {words.listed(behind)} can do without" if behind else made


def list_orphans(subject: Subject) -> str:
    """List what an orphan removal would take, and take nothing."""
    return call(subject, "remove_orphan_files", dry_run="true")


def compute_statistics(subject: Subject) -> str:
    """Compute table statistics for the current snapshot."""
    return call(subject, "compute_table_stats")


def declare(subject: Subject, what: str) -> str:
    """Change the table's file, or write one first."""
    if subject.file is not None:
        return f"Write {what} in {subject.file}; `firnline plan` shows the change."
    return f"`firnline tables adopt {shlex.quote(str(subject.facts.identifier))}` writes its file; write {what} there."


def properties(subject: Subject, wanted: Mapping[str, str | None]) -> str:
    """Set table properties in the table's file; None removes one."""
    listed = ", ".join(f"{name}: {'null' if value is None else value}" for name, value in wanted.items())
    return declare(subject, f"`properties: {{{listed}}}`")


def _options(options: Mapping[str, str]) -> str:
    return f"map({', '.join(_text(text) for pair in options.items() for text in pair)})"


def _text(text: str) -> str:
    """Text in double quotes, as Spark's SQL reads it: a command line wants the single ones for itself."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

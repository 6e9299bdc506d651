"""One table on a screen: sizes, partitions, deletes, refs, rhythm, and what is wrong with it."""

from __future__ import annotations

from typing import Any

from firnline.cli import render
from firnline.config import amounts
from firnline.config.amounts import Unit
from firnline.core import figures, instants
from firnline.core.figures import Figure
from firnline.core.sizes import show_bytes, show_count
from firnline.facts.values import PartitionFacts, Rhythm, Sizes, TableFacts
from firnline.lakehouse.judging import Explained

PARTITIONS_SHOWN_MAX = 10
BAR = 40
_BLOCK = "█"


def show(explained: Explained) -> None:
    """The whole screen."""
    facts = explained.facts
    for label, value in _headline(explained):
        render.out(f"{label:<12} {value}")
    if facts.sizes.bins:
        render.out("")
        _histogram(facts)
    if facts.partition_count > 1:
        render.out("")
        _partitions(facts)
    if facts.deletes:
        render.out("")
        _deletes(facts)
    if len(facts.refs) > 1:
        render.out("")
        _refs(facts)
    for damage in facts.damage:
        render.warn(damage.reason)
    render.out("")
    fired = [each for each in explained.judgement.findings if each.fired]
    for each in fired:
        render.out(f"{each.health.value:<10} {each.sentence}")
    if not fired:
        render.out(explained.judgement.reason)


def _refs(facts: TableFacts) -> None:
    rows = [
        (ref.name, ref.kind, ref.snapshot, _when(ref.millis), _when(ref.expires_millis) or "never")
        for ref in facts.refs
    ]
    render.table(("ref", "kind", "snapshot", "at", "expires"), rows)


def as_json(explained: Explained) -> dict[str, Any]:
    """What the library returns, without what it was made from."""
    return {"facts": render.plain(explained.facts), "judgement": render.plain(explained.judgement)}


def _headline(explained: Explained) -> list[tuple[str, str]]:
    facts = explained.facts
    return [
        ("table", str(facts.identifier)),
        ("health", explained.judgement.health.value),
        ("data", _data_line(facts)),
        ("small files", _small_line(facts)),
        ("deletes", _delete_line(facts)),
        ("manifests", _manifest_line(facts)),
        ("snapshots", _snapshot_line(facts)),
        ("rhythm", _rhythm(facts.snapshots.rhythm)),
        ("writers", _writers(facts)),
        ("metadata", _metadata_line(facts)),
    ]


def _data_line(facts: TableFacts) -> str:
    data = facts.data
    files, size, rows = (
        _figure(each, how)
        for each, how in ((data.files, show_count), (data.bytes, show_bytes), (data.rows, show_count))
    )
    return f"{files} files, {size}, {rows} rows, in {facts.partition_count:,} partitions"


def _small_line(facts: TableFacts) -> str:
    small, saved = _figure(facts.data.small_files, show_count), _figure(facts.data.removable, show_count)
    return f"{small} under {show_bytes(facts.thresholds.small_below)}; merging them saves {saved} files"


def _manifest_line(facts: TableFacts) -> str:
    manifests = facts.manifests
    size, entries = _figure(manifests.bytes, show_bytes), _figure(manifests.entries, show_count)
    opened = _figure(manifests.fanout, show_count)
    counts = f"{manifests.data} of data and {manifests.deletes} of deletes"
    return f"{counts}, {size}, {entries} entries; a look at one partition opens {opened}"


def _snapshot_line(facts: TableFacts) -> str:
    oldest = _when(facts.snapshots.oldest_millis) or "never"
    return f"{facts.snapshots.count:,}, the oldest of {oldest}; {_operations(facts)}"


def _writers(facts: TableFacts) -> str:
    named = (f"{writer.engine}{' (firnline)' if writer.ours else ''}" for writer in facts.snapshots.writers)
    return "; ".join(dict.fromkeys(named)) or "none"


def _metadata_line(facts: TableFacts) -> str:
    metadata = facts.metadata
    if metadata is None:
        return "unknown"
    return f"format {facts.format_version}, {show_bytes(metadata.json_bytes)}, {metadata.versions} versions"


def _operations(facts: TableFacts) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in facts.snapshots.by_operation.items()) or "none"


def _rhythm(rhythm: Rhythm) -> str:
    if rhythm.last_millis is None:
        return "never written"
    if rhythm.gap_ms is None:
        return f"written once, {_when(rhythm.last_millis)}"
    gap = amounts.show(rhythm.gap_ms, Unit.DURATION)
    return f"a commit every {gap} (median of the newest {rhythm.commits}), the last {_when(rhythm.last_millis)}"


def _delete_line(facts: TableFacts) -> str:
    if not facts.deletes:
        return "none"
    kinds = ", ".join(f"{_figure(each.files, show_count)} {kind.value}" for kind, each in facts.deletes.items())
    touched, dangling = _figure(facts.touched, show_count), _figure(facts.dangling.files, show_count)
    return f"{kinds}; they touch {touched} data files, {dangling} apply to none"


def _histogram(facts: TableFacts) -> None:
    """Sizes by doublings, each with its share of the files and the line of the target."""
    rows = _doublings(facts.sizes)
    most = max(files for _, _, files, _ in rows)
    shown = []
    for floor, ceiling, files, size in rows:
        bar = _BLOCK * max(1, round(BAR * files / most))
        target = "  ← target" if floor <= facts.thresholds.target < ceiling else ""
        shown.append(
            (f"{show_bytes(floor)} to {show_bytes(ceiling)}", show_count(files), show_bytes(size), bar + target)
        )
    render.table(("file size", "files", "bytes", ""), shown, right=("files", "bytes"))


def _doublings(of: Sizes) -> list[tuple[int, int, int, int]]:
    found: dict[int, list[int]] = {}
    for each in of.bins:
        bits = max(0, each.floor.bit_length() - 1)
        files, size = found.setdefault(bits, [0, 0])
        found[bits] = [files + each.files, size + each.bytes]
    return [(1 << bits if bits else 0, 2 << bits, files, size) for bits, (files, size) in sorted(found.items())]


def _partitions(facts: TableFacts) -> None:
    named = facts.partitions[:PARTITIONS_SHOWN_MAX]
    columns = ("partition", "files", "size", "rows", "small", "saves", "deletes", "touched", "last commit")
    render.table(columns, [_partition(each) for each in named], right=columns[1:8])
    more = facts.partition_count - len(named)
    if more:
        render.say(f"{more:,} more partitions, with less to mend.")


def _partition(of: PartitionFacts) -> tuple[object, ...]:
    return (
        of.name, show_count(of.files), show_bytes(of.bytes), show_count(of.rows), show_count(of.small_files),
        show_count(of.removable), show_count(of.delete_files), _figure(of.touched, show_count),
        _when(of.rhythm.last_millis) or "unknown",
    )  # fmt: skip


def _deletes(facts: TableFacts) -> None:
    rows = [
        (
            kind.value,
            _figure(each.files, show_count),
            _figure(each.bytes, show_bytes),
            _figure(each.rows, show_count),
            _figure(each.containers, show_count),
            _figure(each.oldest_millis, _when),
        )
        for kind, each in facts.deletes.items()
    ]
    columns = ("deletes", "count", "size", "rows", "in files", "oldest")
    render.table(columns, rows, right=columns[1:5])


def _figure(figure: Figure, how: Any) -> str:
    return figures.show(figure, how)


def _when(millis: int | None) -> str:
    return "" if millis is None else instants.show(instants.from_millis(millis))

"""What the rules about manifests, history, storage, settings and our own runs say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from firnline.core import keys
from firnline.core.figures import UNKNOWN, Figure, exactly
from firnline.core.layout import PartitionSpec
from firnline.facts.values import Damage, ManifestFacts, RefHold
from firnline.judge import examples
from firnline.judge.values import Health, LastExpiry, RunFigures, Subject
from tests.decisions.rule_case import DAY, GIB, HOUR, MIB, NOW, Case, history, on, policy, storage


def _manifests(**changes: Any) -> Subject:
    healthy: ManifestFacts = examples.facts().manifests
    return on(manifests=replace(healthy, **changes))


def _fanout(fanout: Figure, *, small: int = 0, partitioned: bool = True) -> Subject:
    """Fifty manifests of full size, and small ones."""
    healthy = examples.facts().manifests
    manifests = replace(healthy, data=50 + small, small=small, bytes=exactly(400 * MIB), fanout=fanout)
    spec = examples.DAYS if partitioned else PartitionSpec((), 0)
    return examples.subject(of=examples.meta(specs=(spec,)), on=examples.facts(manifests=manifests))


MANIFESTS = (
    Case(
        "manifest-debt", "two hundred to save, half of them small",
        _manifests(data=201, small=101, bytes=exactly(MIB)), True, Health.UNTIDY,
    ),
    Case("manifest-debt", "one less to save", _manifests(data=200, small=200, bytes=exactly(MIB)), False),
    Case("manifest-debt", "few of them small", _manifests(data=402, small=200, bytes=exactly(8 * MIB)), False),
    Case("manifest-debt", "what Iceberg itself lets stand", _manifests(data=99, small=99, bytes=exactly(MIB)), False),
    Case(
        "manifest-debt", "delete manifests count too",
        _manifests(data=101, deletes=100, small=201, bytes=exactly(MIB)), True,
    ),
    Case("manifest-debt", "many, and large ones", _manifests(data=1000, small=0, bytes=exactly(1000 * 8 * MIB)), False),
    Case(
        "manifest-debt", "many files that left",
        _manifests(tombstones=exactly(10_000), entries=exactly(33_333)), True,
    ),
    Case("manifest-debt", "many, of many more", _manifests(tombstones=exactly(10_000), entries=exactly(33_335)), False),
    Case("manifest-debt", "few, of few", _manifests(tombstones=exactly(9_999), entries=exactly(10_000)), False),
    Case("manifest-debt", "a list that does not count", _manifests(tombstones=UNKNOWN, entries=UNKNOWN), None),
    Case("manifest-debt", "no manifests", _manifests(data=0, small=0, bytes=exactly(0), entries=exactly(0)), False),
    Case("manifest-fanout", "ten of fifty", _fanout(exactly(10)), True, Health.UNTIDY),
    Case("manifest-fanout", "nine of fifty", _fanout(exactly(9)), False),
    Case("manifest-fanout", "a hundred small ones that wait to be merged", _fanout(exactly(104), small=100), False),
    Case("manifest-fanout", "ten beside them", _fanout(exactly(110), small=100), True),
    Case("manifest-fanout", "no partitions", _fanout(exactly(50), partitioned=False), False),
    Case("manifest-fanout", "a list without ranges", _fanout(UNKNOWN), None),
)  # fmt: skip


def _snapshots(count: int, gap_ms: int, **changes: Any) -> Subject:
    kept = replace(examples.facts().snapshots, count=count)
    return examples.subject(
        of=examples.meta(examples.snapshots(count, gap_ms), **changes), on=examples.facts(snapshots=kept)
    )


def _json(size: int) -> Subject:
    healthy = examples.facts().metadata
    assert healthy is not None
    return on(metadata=replace(healthy, json_bytes=size))


def _holds(*holds: RefHold) -> Subject:
    return history(refs=holds)


def _hold(name: str, size: Figure) -> RefHold:
    return RefHold(name, exactly(1), size)


def _expired(due: int, freed: int) -> Subject:
    last = LastExpiry(NOW - DAY, 40, due, 90 * GIB, 90 * GIB - freed)
    return examples.subject(runs=RunFigures(expiry=last))


_DAMAGE = (Damage("s3://lake/m.avro", "it is cut."),)
HISTORY = (
    Case("history", "nobody looked", on(), None),
    Case("history", "as much as is live", history(live=10 * GIB, kept=10 * GIB), True, Health.UNTIDY),
    Case("history", "just less than is live", history(live=10 * GIB + 1, kept=10 * GIB), False),
    Case("history", "more than is live, and little", history(live=GIB, kept=10 * GIB - 1), False),
    Case("history", "snapshots that no ref leads to count", history(live=10 * GIB, kept=5 * GIB, loose=5 * GIB), True),
    Case("history", "an emptied table", history(live=0, kept=50 * GIB), True),
    Case("history", "so much that it costs", history(live=GIB, kept=900 * GIB), True, Health.COSTLY),
    Case("history", "manifests that could not be read", history(history_bytes=Figure(1, None)), None),
    Case("pinned-by-refs", "nobody looked", on(), None),
    Case("pinned-by-refs", "no refs", _holds(), False),
    Case("pinned-by-refs", "much, beside what is live", _holds(_hold("old", exactly(10 * GIB))), True, Health.UNTIDY),
    Case("pinned-by-refs", "just less", _holds(_hold("old", exactly(10 * GIB - 1))), False),
    Case("pinned-by-refs", "main pins what is live", _holds(_hold("main", exactly(47 * GIB))), False),
    Case("pinned-by-refs", "one of two", _holds(_hold("a", exactly(1)), _hold("b", exactly(30 * GIB))), True),
    Case(
        "pinned-by-refs", "little beside a large table",
        history(live=900 * GIB, refs=(_hold("a", exactly(11 * GIB)),)), False,
    ),
    Case("pinned-by-refs", "nobody could add it up", _holds(_hold("a", UNKNOWN)), None),
    Case("orphans", "nobody listed", on(), None),
    Case("orphans", "none", storage(), False),
    Case("orphans", "a twentieth of all, and more", storage(unreferenced=3 * GIB), True, Health.UNTIDY),
    Case("orphans", "a smaller share", storage(unreferenced=2 * GIB), False),
    Case("orphans", "a large share of little", storage(unreferenced_bytes=GIB - 1, listed_bytes=GIB), False),
    Case(
        "orphans", "another table lives here",
        storage(unreferenced=30 * GIB, foreign=("s3://a.metadata.json",)), False,
    ),
    Case("orphans", "something that may refer to them is damaged", storage(unreferenced=GIB, damage=_DAMAGE), None),
    Case("orphans", "a listing that stopped early", storage(unreferenced=30 * GIB, after="s3://b"), None),
    Case("expiry-effect", "no run told", on(), None),
    Case("expiry-effect", "runs, and no expiry", examples.subject(runs=RunFigures(tries=9)), None),
    Case("expiry-effect", "nothing went", _expired(GIB, 0), True, Health.UNTIDY),
    Case("expiry-effect", "half went", _expired(GIB, GIB // 2), False),
    Case("expiry-effect", "just less than half went", _expired(GIB, GIB // 2 - 1), True),
    Case("expiry-effect", "little was due", _expired(GIB - 1, 0), False),
    Case("expiry-effect", "nothing was due: the table only grows", _expired(0, 0), False),
    Case("snapshots", "a hundred overdue", _snapshots(219, HOUR), True, Health.UNTIDY),
    Case("snapshots", "one less", _snapshots(218, HOUR), False),
    Case("snapshots", "many and young, as of a stream", _snapshots(5_000, 60_000), False),
    Case("snapshots", "very many and young", _snapshots(10_000, 10_000), True),
    Case(
        "snapshots", "old ones that are to be kept",
        _snapshots(700, HOUR, properties={"history.expire.min-snapshots-to-keep": "700"}), False,
    ),
    Case(
        "snapshots", "none",
        _snapshots(0, HOUR), False,
    ),
    Case("metadata-json", "at the threshold", _json(16 * MIB), True, Health.UNTIDY),
    Case("metadata-json", "a byte less", _json(16 * MIB - 1), False),
    Case("metadata-json", "nobody looked", on(metadata=None), None),
)  # fmt: skip


def _runs(conflicts: int, tries: int, before: int, tries_before: int) -> Subject:
    return examples.subject(runs=RunFigures(tries, conflicts, tries_before, before))


def _rewritten(times: int, *, age_ms: int, ours: int = 0) -> Subject:
    """A table rewritten by others so often, the last time so long ago, and by us."""
    theirs = {"operation": "replace", "engine-name": "trino"}
    line = examples.snapshots(times + ours, 1000, last_millis=NOW - age_ms, summary=theirs)
    marked = tuple(replace(each, summary={**each.summary, keys.RUN: "r"}) if each.id <= ours else each for each in line)
    return examples.subject(of=examples.meta(marked or examples.snapshots(1)))


RUNS = (
    Case("conflicts", "no run told", on(), None),
    Case("conflicts", "no tries of late", _runs(0, 0, 3, 44), None),
    Case("conflicts", "many, and more than before", _runs(5, 25, 6, 50), True, Health.WATCH),
    Case("conflicts", "four of them", _runs(4, 5, 0, 50), False),
    Case("conflicts", "a share just below", _runs(5, 26, 1, 50), False),
    Case("conflicts", "as many as before", _runs(10, 40, 10, 40), False),
    Case("conflicts", "nothing to compare with", _runs(10, 40, 0, 0), None),
    Case("other-maintainer", "nobody", on(), False),
    Case("other-maintainer", "three times this week", _rewritten(3, age_ms=DAY), True, Health.WATCH),
    Case("other-maintainer", "twice", _rewritten(2, age_ms=DAY), False),
    Case("other-maintainer", "long ago", _rewritten(9, age_ms=8 * DAY), False),
    Case("other-maintainer", "we too", _rewritten(3, age_ms=DAY, ours=1), True, Health.UNTIDY),
    Case("other-maintainer", "only we", _rewritten(0, age_ms=DAY, ours=9), False),
    Case("properties", "none", on(), False),
    Case("properties", "one that hurts", examples.subject({"gc.enabled": "False"}), True, Health.WATCH),
    Case("properties", "one that is only unusual", examples.subject({"write.format.default": "orc"}), False),
    Case("properties", "somebody's own", examples.subject({"team.tier": "gold"}), False),
    Case("properties", "a name Iceberg does not know", examples.subject({"write.target-file-size": "1"}), True),
    Case(
        "small-files", "switched off",
        policy(on(data=examples.data(900, small=800, removable=790)), "small-files", 0), False,
    ),
)  # fmt: skip

CASES = (*MANIFESTS, *HISTORY, *RUNS)

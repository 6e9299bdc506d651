"""The ledger in DynamoDB: append-only.

An event is one item, added in one transaction together with what finds it again: the entry of its table, the entry of
its run, and for an intent an entry among the open ones. Entries hold no more than the event's name; only the entry of
an open intent is ever deleted, with the event that ends it. That is an index becoming shorter: the intent stays, and
whether it is open is read from the events themselves.

Events are ordered by a counter, one UpdateItem before each: clocks of several machines differ, and what was recorded
last must come last. A number may be skipped, never given twice, and the counter begins at the clock's microseconds:
even one that was lost continues above every number it ever gave.

A body that is too large for an item is compressed, and cut into parts when that is not enough. Parts are put first,
under the hash of what they hold: without their event nobody sees them, and putting them again changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from firnline.adapters.aws.items import Key, Plain, key_text
from firnline.adapters.aws.state_table import StateTable
from firnline.adapters.local.state import from_micros, to_micros
from firnline.core.errors import Failed
from firnline.core.ids import RunId, StepId
from firnline.loop import records
from firnline.loop.ports import Event, EventKind, RunSummary

PLAIN_MAX = 16_000  # characters of a body that is stored as it is, to be read in the console too
PART_BYTES = 350_000  # DynamoDB takes 400 KB an item, the names of attributes included
_ENDS = frozenset({"done", "not done"})  # what an outcome says when the commit is known to be made or not made
_ENDINGS = (EventKind.OUTCOME, EventKind.SETTLED)
_ORDER: Key = ("order", "order")
_RUNS = "runs"
# An intent's body holds its whole step and says nothing about how the run went: it has an attribute of its own.
_GLANCE = ("run", "step", "kind", "at", "lease", "subject", "order", "body", "body_parts", "pack")


class DynamoLedger:
    """The port `Ledger` on DynamoDB."""

    def __init__(self, table: StateTable) -> None:
        self._table = table

    def record(self, event: Event) -> None:
        """Append it, once."""
        text = records.canonical(event.body)
        digest = hashlib.sha256(text.encode()).hexdigest()
        order = self._next()
        values = _named(event.run, event.step, event.kind) | {
            "at": to_micros(event.at),
            "lease": event.table,
            "subject": event.subject,
            "order": order,
            "digest": digest,
            "ends": "yes" if _is_ending(event) else None,
            **self._stored(text, "intent" if event.kind is EventKind.INTENT else "body"),
        }
        key = _event_key(event.run, event.step, event.kind)
        if self._table.add(key, values, _entries(event, order)):
            return
        known = self._table.get(key, "digest")
        if known is None or known["digest"] != digest:
            raise records.already_recorded(event)

    def run(self, run: RunId, step: StepId | None = None) -> tuple[Event, ...]:
        """Every event of a run, or of one step of it."""
        partition = _run_partition(run)
        if step is None:
            return tuple(map(self._event, _in_order(self._table.query(partition))))
        found = {
            item["sk"]: item
            for of in ("", step)
            for item in self._table.query(partition, prefix=_step_prefix(of))
            if item.get("step", "") == of
        }
        return tuple(map(self._event, _in_order(found.values())))

    def runs(self, limit: int, before: RunId | None = None) -> tuple[RunSummary, ...]:
        """The newest runs."""
        below = ""
        if before is not None:
            start = self._table.get(_event_key(before, None, EventKind.STARTED), "order")
            if start is None:
                return ()
            below = _sorted_by(start["order"])
        found = self._table.query(_RUNS, below=below, newest=limit)
        return tuple(self._summary(RunId(entry["run"])) for entry in found)

    def table(self, table: str, limit: int) -> tuple[Event, ...]:
        """The newest events of a table."""
        entries = self._table.query(_table_partition(table), newest=limit)
        keys = [_entry_key(entry, EventKind(entry["kind"])) for entry in entries]
        found = self._table.get_all(keys)
        return tuple(self._event(found[key]) for key in keys)

    def open_intents(self, table: str) -> tuple[Event, ...]:
        """Intents nobody knows the end of.

        Costs what is open, not what was ever recorded: the entries are few, and say only where to look.
        """
        entries = _in_order(self._table.query(_open_partition(table)))
        kinds = (EventKind.INTENT, *_ENDINGS)
        found = self._table.get_all([_entry_key(entry, kind) for entry in entries for kind in kinds])
        intents = []
        for entry in entries:
            intent, *endings = (found.get(_entry_key(entry, kind)) for kind in kinds)
            # An entry without its intent is of a transaction that is being carried out: nobody has been told yet.
            if intent is not None and not any(ending is not None and "ends" in ending for ending in endings):
                intents.append(self._event(intent))
        return tuple(intents)

    def _next(self) -> int:
        values: dict[str, Plain] = {"first": time.time_ns() // 1_000, "one": 1}
        item = self._table.update(_ORDER, "SET #last = if_not_exists(#last, :first) + :one", values).item
        assert item is not None
        return int(item["last"])

    def _summary(self, run: RunId) -> RunSummary:
        items = _in_order(self._table.query(_run_partition(run), names=_GLANCE))
        return records.summarise([self._event(item) for item in items])

    def _stored(self, text: str, name: str) -> dict[str, Plain]:
        if len(text) <= PLAIN_MAX:
            return {name: text}
        packed = zlib.compress(text.encode())
        if len(packed) <= PART_BYTES:
            return {name: packed}
        pack = hashlib.sha256(packed).hexdigest()
        parts = range(0, len(packed), PART_BYTES)
        for number, start in enumerate(parts):
            self._table.put(_part_key(pack, number), {"part": packed[start : start + PART_BYTES]})
        return {f"{name}_parts": len(parts), "pack": pack}

    def _body(self, item: Mapping[str, Any]) -> Any:
        name = "intent" if item["kind"] == EventKind.INTENT else "body"
        stored = item.get(name)
        if f"{name}_parts" in item:
            keys = [_part_key(item["pack"], number) for number in range(item[f"{name}_parts"])]
            found = self._table.get_all(keys)
            stored = b"".join(found[key]["part"] for key in keys if key in found)
            if hashlib.sha256(stored).hexdigest() != item["pack"]:
                raise Failed(
                    f"The ledger's {item['kind']!r} of run {item['run']} is not whole.",
                    why=f"Parts of it are missing from the table {self._table.name}, or were changed there.",
                    next_step="Restore the table to a point in time before that.",
                )
        return json.loads(zlib.decompress(stored) if isinstance(stored, bytes) else stored or "{}")

    def _event(self, item: Mapping[str, Any]) -> Event:
        return Event(
            run=RunId(item["run"]),
            kind=EventKind(item["kind"]),
            at=from_micros(item["at"]),
            step=StepId(item["step"]) if "step" in item else None,
            table=item.get("lease"),
            subject=item.get("subject"),
            body=self._body(item),
        )


def _is_ending(event: Event) -> bool:
    return event.kind in _ENDINGS and isinstance(event.body, dict) and event.body.get("outcome") in _ENDS


def _named(run: RunId, step: StepId | None, kind: EventKind) -> dict[str, Plain]:
    return {"run": run, "step": step or None, "kind": kind.value}


def _entries(event: Event, order: int) -> dict[Key, dict[str, Plain] | None]:
    """What finds the event again: to be put, or, where None, deleted."""
    named, at = _named(event.run, event.step, event.kind), _sorted_by(order)
    entries: dict[Key, dict[str, Plain] | None] = {}
    if event.kind is EventKind.STARTED and event.step is None:
        entries[_RUNS, at] = {"run": event.run}
    if event.table is not None:
        entries[_table_partition(event.table), at] = named
        open_entry = _open_partition(event.table), f"{_step_prefix(event.step or '')}{key_text(event.run)}"
        if event.kind is EventKind.INTENT:
            entries[open_entry] = named | {"order": order}
        elif _is_ending(event):
            entries[open_entry] = None
    return entries


def _in_order(items: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(items, key=lambda item: int(item["order"]))


def _sorted_by(order: int) -> str:
    return f"{order:020}"


def _event_key(run: str, step: str | None, kind: EventKind) -> Key:
    return _run_partition(run), f"{_step_prefix(step or '')}{kind.value}"


def _entry_key(entry: Mapping[str, Any], kind: EventKind) -> Key:
    return _event_key(entry["run"], entry.get("step"), kind)


def _run_partition(run: str) -> str:
    return f"run#{key_text(run)}"


def _step_prefix(step: str) -> str:
    return f"{key_text(step)}#"


def _table_partition(table: str) -> str:
    return f"table#{key_text(table)}"


def _open_partition(table: str) -> str:
    return f"open#{key_text(table)}"


def _part_key(pack: str, number: int) -> Key:
    return f"body#{pack}", f"{number:06}"

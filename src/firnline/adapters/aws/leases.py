"""Leases in DynamoDB: one item per key, every verb one conditional UpdateItem.

Items are only ever updated, never put: whatever is lost or comes late, a fence and a generation cannot go back.

A request whose reply was lost is sent again by the client, so each verb must know its own work when it meets it. Most
do by the fence: what was given back cannot be given back again. `acquire` and `fail` carry a nonce of this one call.
`mark` counts twice then, which costs one extra cheap run. A request that was cut off and arrives after all, later than
its repetition, changes nothing: its condition is of the past. Only a late `acquire` may find the key free again, and
takes it for nobody; that lease lapses.

Three verbs need a second request in some cases; each is safe to lose:
`acquire` that got nothing tells the holder (lost: the next try tells it); `complete` asks first for the common case,
that nothing more was asked for, and again for the other (lost: the lease lapses and the work is done once more);
`mark` and `park` sometimes shorten the list of reasons (lost: the next one does).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeGuard

from firnline.adapters.aws.items import Key, Plain, key_text
from firnline.adapters.aws.state_table import StateTable
from firnline.adapters.local.state import from_micros, to_micros
from firnline.core.errors import Blocked
from firnline.loop.ports import REASONS_MAX, STEAL_MARGIN, WANTED_LASTS, Lease, LeaseItem, Rank

REASON_CHARACTERS_MAX = 1_000  # an item holds 400 KB, and the list may be twice its length before it is shortened
TRIES_MAX = 8  # of a second request whose condition went out of date: each time somebody else did something
_OURS = "#owner = :owner AND #fence = :fence"
_FREE = "REMOVE #owner, #until, #rank, #nonce"
_TAKE = (
    "SET #key = :key, #owner = :owner, #until = :until, #rank = :rank, #nonce = :nonce,"
    " #fence = if_not_exists(#fence, :zero) + :one, #attempt = if_not_exists(#attempt, :zero),"
    " #requested = if_not_exists(#requested, :zero), #running = if_not_exists(#requested, :zero)"
    " REMOVE #wanted, #wanted_until, #not_before"
)
_MAY_TAKE = (
    "attribute_not_exists(#parked)"
    " AND (attribute_not_exists(#not_before) OR #not_before <= :now)"
    " AND (attribute_not_exists(#owner) OR #until < :stale OR #owner = :gone)"
    " AND (attribute_not_exists(#wanted) OR #wanted <= :rank OR #wanted_until < :now)"
)
_REASON = "#key = :key, #reasons = list_append(if_not_exists(#reasons, :none), :reasons)"


class DynamoLeases:
    """The port `Leases` on DynamoDB."""

    def __init__(self, table: StateTable) -> None:
        self._table = table

    def mark(self, key: str, reason: str) -> int:
        """One generation more."""
        change = f"SET #requested = if_not_exists(#requested, :zero) + :one, {_REASON}"
        return int(self._with_reason(key, change, reason)["requested"])

    def acquire(
        self, key: str, owner: str, rank: Rank, now: datetime, length: timedelta, gone: str | None = None
    ) -> Lease | None:
        """Take it, or tell a lower-ranked holder that it is wanted."""
        nonce = secrets.token_hex(8)
        values: dict[str, Plain] = {
            "key": key,
            "owner": owner,
            "rank": int(rank),
            "now": to_micros(now),
            "until": to_micros(now + length),
            "stale": to_micros(now - STEAL_MARGIN),
            "gone": gone,
            "nonce": nonce,
            "zero": 0,
            "one": 1,
        }
        updated = self._table.update(_at(key), _TAKE, values, _MAY_TAKE)
        if updated.item is not None and updated.item.get("nonce") == nonce:
            return _lease(updated.item, now)
        self._want(key, updated.item, rank, now)
        return None

    def renew(self, lease: Lease, now: datetime, length: timedelta) -> Lease | None:
        """Longer, and with what is wanted by now."""
        values = _who(lease) | {"until": to_micros(now + length)}
        updated = self._table.update(_at(lease.key), "SET #until = :until", values, f"{_OURS} AND #until < :until")
        # Refused and still ours: it was as long already. The refusal shows the item as it stands.
        return _lease(updated.item, now) if _held(updated.item, lease) else None

    def guard(self, lease: Lease, now: datetime, budget: timedelta) -> bool:
        """Whether it is ours for at least `budget` more."""
        asked = time.monotonic()
        item = self._table.get(_at(lease.key))
        # A server that stalls, or is asked again, may answer a minute after `now`: that minute is no longer left.
        late = timedelta(seconds=int(time.monotonic() - asked))
        return _held(item, lease) and bool(item["until"] >= to_micros(now + late + budget))

    def complete(self, lease: Lease) -> bool:
        """The generation is done; whether a newer one is asked for."""
        values = _who(lease) | {"zero": 0}
        change = f"SET #done = #running, #attempt = :zero {_FREE}"
        nothing_more = f"{_OURS} AND #requested <= #running AND attribute_not_exists(#parked)"
        updated = self._table.update(_at(lease.key), f"{change}, #reasons", values, nothing_more)
        if not updated.done and _held(updated.item, lease):
            updated = self._table.update(_at(lease.key), change, values, _OURS)
        # Refused by now means lost, or done already by a request whose reply was lost: the answer is the same.
        return updated.item is not None and _count(updated.item, "requested") > _count(updated.item, "done")

    def release(self, lease: Lease) -> None:
        """Give it back, nothing held against it."""
        self._table.update(_at(lease.key), _FREE, _who(lease), _OURS)

    def fail(self, lease: Lease, not_before: datetime, attempts_max: int) -> bool:
        """Give it back after a failure."""
        nonce, attempt = secrets.token_hex(8), lease.attempt
        for _ in range(TRIES_MAX):
            change = "SET #attempt = :more, #not_before = :not_before, #failure = :nonce"
            change += ", #parked = :one" if attempt + 1 >= attempts_max else ""
            values = _who(lease) | {
                "attempt": attempt, "more": attempt + 1, "not_before": to_micros(not_before), "nonce": nonce, "one": 1,
            }  # fmt: skip
            updated = self._table.update(
                _at(lease.key), f"{change} {_FREE}", values, f"{_OURS} AND #attempt = :attempt"
            )
            if updated.item is not None and updated.item.get("failure") == nonce:
                return "parked" in updated.item
            if not _held(updated.item, lease):
                return False
            attempt = updated.item["attempt"]  # a person lifted the attempts meanwhile
        raise Blocked(
            f"The failure of {lease.key} could not be counted: its attempts were lifted {TRIES_MAX} times meanwhile.",
            next_step="Nothing is lost: the lease lapses by itself.",
        )

    def park(self, key: str, reason: str) -> None:
        """Nobody acquires it until `unpark`. Who holds it keeps it."""
        self._with_reason(key, f"SET #parked = :one, {_REASON}", reason)

    def unpark(self, key: str) -> None:
        """Lift `park`."""
        change = "SET #attempt = :zero REMOVE #parked, #not_before"
        self._table.update(_at(key), change, {"zero": 0}, "attribute_exists(#key)")

    def look(self, key: str) -> LeaseItem | None:
        """The item as stored."""
        item = self._table.get(_at(key))
        return None if item is None else _item(item)

    def _want(self, key: str, item: Mapping[str, Any] | None, rank: Rank, now: datetime) -> None:
        """Tell the holder of a lower rank. What is written rests on the item as seen, so it is written only onto that:
        the highest rank that waits must win, and DynamoDB knows no maximum.
        """
        for _ in range(TRIES_MAX):
            if item is None or "owner" not in item or item["rank"] >= rank:
                return
            wanted = _wanted(item, now)
            values: dict[str, Plain] = {
                "owner": item["owner"],
                "fence": item["fence"],
                "seen": item.get("wanted"),
                "wanted": int(rank if wanted is None else max(rank, wanted)),
                "wanted_until": to_micros(now + WANTED_LASTS),
            }
            as_seen = "#wanted = :seen" if "wanted" in item else "attribute_not_exists(#wanted)"
            change = "SET #wanted = :wanted, #wanted_until = :wanted_until"
            updated = self._table.update(_at(key), change, values, f"{_OURS} AND {as_seen}")
            if updated.done:
                return
            item = updated.item

    def _with_reason(self, key: str, change: str, reason: str) -> Mapping[str, Any]:
        """The item after a change with one reason more. The list grows to twice its length, then it is shortened,
        unless somebody adds to it at that moment: they will shorten it.
        """
        values: dict[str, Plain] = {
            "key": key, "reasons": [reason[:REASON_CHARACTERS_MAX]], "none": [], "zero": 0, "one": 1,
        }  # fmt: skip
        item = self._table.update(_at(key), change, values).item
        assert item is not None
        seen: list[str] = item["reasons"]
        if len(seen) > 2 * REASONS_MAX:
            short: dict[str, Plain] = {"seen": seen, "reasons": list(_newest(seen))}
            self._table.update(_at(key), "SET #reasons = :reasons", short, "#reasons = :seen")
        return item


def _at(key: str) -> Key:
    return f"lease#{key_text(key)}", "lease"


def _who(lease: Lease) -> dict[str, Plain]:
    return {"owner": lease.owner, "fence": lease.fence}


def _held(item: Mapping[str, Any] | None, lease: Lease) -> TypeGuard[Mapping[str, Any]]:
    return item is not None and (item.get("owner"), item.get("fence")) == (lease.owner, lease.fence)


def _newest(reasons: Iterable[str]) -> tuple[str, ...]:
    """The newest reasons, each once, the newest last."""
    last = list(dict.fromkeys(reversed(list(reasons))))[:REASONS_MAX]
    return tuple(reversed(last))


def _count(item: Mapping[str, Any], name: str) -> int:
    return int(item.get(name, 0))


def _rank(value: int | None) -> Rank | None:
    return None if value is None else Rank(value)


def _wanted(item: Mapping[str, Any], now: datetime) -> Rank | None:
    return Rank(item["wanted"]) if "wanted" in item and item["wanted_until"] >= to_micros(now) else None


def _lease(item: Mapping[str, Any], now: datetime) -> Lease:
    return Lease(
        key=item["key"],
        owner=item["owner"],
        fence=item["fence"],
        generation=item["running"],
        until=from_micros(item["until"]),
        rank=Rank(item["rank"]),
        attempt=_count(item, "attempt"),
        wanted=_wanted(item, now),
    )


def _item(item: Mapping[str, Any]) -> LeaseItem:
    return LeaseItem(
        key=item["key"],
        requested=_count(item, "requested"),
        done=_count(item, "done"),
        running=_count(item, "running"),
        fence=_count(item, "fence"),
        owner=item.get("owner"),
        until=from_micros(item["until"]) if "until" in item else None,
        rank=_rank(item.get("rank")),
        wanted=_rank(item.get("wanted")),
        attempt=_count(item, "attempt"),
        not_before=from_micros(item["not_before"]) if "not_before" in item else None,
        parked="parked" in item,
        reasons=_newest(item.get("reasons", ())),
    )

"""A move of a branch or tag as people read it: from where to where, what leaves, what comes, whom it touches."""

from __future__ import annotations

from firnline.cli import render
from firnline.core import instants
from firnline.history.values import Action, Entry, Move, Span

LISTED_MAX = 10
_TITLES = {
    Action.BACK: "roll back",
    Action.FORWARD: "roll forward",
    Action.ACROSS: "roll across",
    Action.UNRELATED: "move main to a snapshot it never was at",
    Action.CREATE: "create",
    Action.DROP: "drop",
    Action.FAST_FORWARD: "fast-forward",
}


def show(move: Move) -> None:
    """The whole move to stdout."""
    what = "" if move.ref.name == "main" else f" {move.ref.kind} {move.ref.name}"
    render.out(f"{move.identifier}  ({_TITLES[move.action]}{what}, one commit)")
    for label, entry in (("from", move.origin), ("to", move.target)):
        if entry is not None:
            render.out(f"  {label:<5} {line(entry)}")
    _show_span("leaves", move.leaving)
    _show_span("comes", move.returning)
    for consequence in move.consequences:
        render.out(f"  {consequence.concern}: {consequence.text}")
    if move.accepted:
        render.out(f"  accepted: {move.accepted}")


def _show_span(label: str, span: Span) -> None:
    if not span.count:
        return
    render.out(f"  {label}: {span.count:,} snapshot{'s' if span.count != 1 else ''}")
    for entry in span.entries[:LISTED_MAX]:
        render.out(f"      {line(entry)}")
    if span.count > LISTED_MAX:
        render.out(f"      … and {span.count - LISTED_MAX:,} older")


def line(entry: Entry) -> str:
    """`8812…  2026-11-18 09:30:00Z  append, +6,000 rows, by spark 4.1.4`."""
    changed = [
        f"{sign}{count:,} row{'s' if count != 1 else ''}"
        for sign, count in (("+", entry.added), ("-", entry.deleted))
        if count
    ]
    return f"{entry.id}  {instants.show(entry.at)}  {', '.join([entry.operation, *changed])}, by {entry.writer}"

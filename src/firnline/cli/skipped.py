"""Entries of a catalog that are no Iceberg tables: told, and briefly. A Glue catalog may have thousands."""

from __future__ import annotations

from collections.abc import Iterable

from firnline.cli import render

NAMED_MAX = 10
_WORDS = {"view": ("a view", "views")}
_OTHERS = ("an entry of another kind", "entries of another kind")


def say(entries: Iterable[tuple[str, str]]) -> None:
    """One line for each kind, with the first names. JSON has them all."""
    by_kind: dict[tuple[str, str], list[str]] = {}
    for name, kind in entries:
        by_kind.setdefault(_WORDS.get(kind, _OTHERS), []).append(name)
    for (one, many), names in by_kind.items():
        if len(names) == 1:
            render.say(f"skipped: {names[0]} is {one}, not an Iceberg table")
            continue
        shown = ", ".join(names[:NAMED_MAX]) + (", …" if len(names) > NAMED_MAX else "")
        render.say(f"skipped: {len(names):,} {many}, not Iceberg tables: {shown}")

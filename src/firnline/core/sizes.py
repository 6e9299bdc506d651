"""Sizes as people read them."""

from __future__ import annotations

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def show_bytes(count: int) -> str:
    """`512 B`, `1.5 KiB`, `3.2 GiB`."""
    size = float(count)
    for unit in _BINARY[:-1]:
        if abs(size) < 1024:
            return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} {_BINARY[-1]}"


def show_count(count: int) -> str:
    """`1,234,567`."""
    return f"{count:,}"

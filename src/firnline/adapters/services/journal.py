"""What Glue and DynamoDB were told, line by line on disk, so that moto, which lives in memory, can be told again.

An entry is written before the reply is sent: what was acknowledged survives a kill. It has reached the kernel then, not
the platter: after a power failure the last seconds may be missing. An incomplete last line was acknowledged to nobody.

DynamoDB's writes are kept as what came of them, item by item; Glue's as the requests they were. Entries that later ones
made void are left out when the journal is opened, so it grows with what there is, not with what was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One request that changed something. `subject` leads from the region to what it was done to."""

    target: str
    region: str
    at: str
    subject: tuple[str, ...]
    body: Json
    version: str | None = None  # of the Glue table after it
    forgets: tuple[str, ...] = ()  # versions of the Glue table that were there before it, and are not after it

    @property
    def action(self) -> str:
        """`CreateTable`."""
        return self.target.rsplit(".", 1)[-1]


class Journal:
    """The file. Appending is atomic for readers: one write per line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries = compacted(read(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.new")
        with fresh.open("wb") as file:
            file.writelines(_line(entry) for entry in self.entries)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        self._file = path.open("ab", buffering=0)

    def append(self, entries: Iterable[Entry]) -> None:
        """Keep these. OSError when the disk does not take them: then nobody may be told that it was done."""
        lines = b"".join(map(_line, entries))
        if self._file.write(lines) != len(lines):
            raise OSError(f"{self._path} took only a part of an entry")


def read(path: Path) -> list[Entry]:
    """The whole entries of the file; none when it is not there."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    found = [json.loads(line) for line in lines[:-1]]  # behind the last line end is nothing, or half an entry
    return [Entry(**{**each, "subject": tuple(each["subject"]), "forgets": tuple(each["forgets"])}) for each in found]


def compacted(entries: Iterable[Entry]) -> list[Entry]:
    """The entries without those that later ones made void. Told again, they come to the same."""
    kept: dict[int, Entry] = {}
    by_subject: dict[tuple[str, ...], list[int]] = {}
    for number, entry in enumerate(entries):
        earlier = [each for each in by_subject.get(entry.subject, ()) if each in kept]
        told = entry
        if _replaces_its_subject(entry):
            for each in earlier:
                del kept[each]
            by_subject.pop(entry.subject, None)
        elif entry.forgets and (before := [each for each in earlier if kept[each].version in entry.forgets]):
            # The version before is forgotten, so the update that made it is not needed; what it forgot stays so.
            told = replace(entry, forgets=kept.pop(before[0]).forgets)
        if not _ends_its_subject(entry):
            kept[number] = told
            for length in range(1, len(entry.subject) + 1):
                by_subject.setdefault(entry.subject[:length], []).append(number)
    return list(kept.values())


def _ends_its_subject(entry: Entry) -> bool:
    return entry.action in {"DeleteTable", "DeleteDatabase", "DeleteItem"}


def _replaces_its_subject(entry: Entry) -> bool:
    return entry.action == "PutItem" or _ends_its_subject(entry)


def _line(entry: Entry) -> bytes:
    return json.dumps(asdict(entry), separators=(",", ":")).encode() + b"\n"

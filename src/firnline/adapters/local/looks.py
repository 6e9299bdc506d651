"""Looks at the fleet, a small file each, in the local cache: disposable, and never in the way."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import tempfile
import zlib
from collections.abc import Iterator

from firnline.core.types import Json

KEPT_MAX = 400  # an hourly look for two weeks
_NAME = re.compile(r"^(\d{13,15})\.json\.gz$")


class LocalLooks:
    """`judge.looks.Memory` over a folder, which is made when there is something to keep."""

    def __init__(self, folder: str, *, kept_max: int = KEPT_MAX) -> None:
        self._folder = folder
        self._kept_max = kept_max

    def keep(self, millis: int, look: Json) -> None:
        """Keep it, and forget the oldest of too many."""
        data = gzip.compress(json.dumps(look).encode(), compresslevel=1)
        with contextlib.suppress(OSError):
            os.makedirs(self._folder, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._folder) as beside:
                path = os.path.join(beside, "look")
                with open(path, "wb") as file:
                    file.write(data)
                os.replace(path, self._path(millis))  # whole or not at all
            for old in self._kept()[: -self._kept_max]:
                os.unlink(self._path(old))

    def recall(self, millis: int) -> Iterator[Json]:
        """Looks not younger than that, the newest first; then younger ones, the oldest first. No damaged ones."""
        kept = self._kept()
        old = [each for each in kept if each <= millis]
        for each in (*reversed(old), *(each for each in kept if each > millis)):
            found = self._read(each)
            if found is not None:
                yield found

    def _kept(self) -> list[int]:
        try:
            names = os.listdir(self._folder)
        except OSError:
            return []
        return sorted(int(found[1]) for name in names if (found := _NAME.match(name)))

    def _read(self, millis: int) -> Json | None:
        try:
            with gzip.open(self._path(millis)) as file:
                return json.loads(file.read())
        except (OSError, EOFError, ValueError, RecursionError, zlib.error):
            return None

    def _path(self, millis: int) -> str:
        return os.path.join(self._folder, f"{millis}.json.gz")

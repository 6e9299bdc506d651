"""Builds the whole zoo into a folder: `python -m tests.zoo [FOLDER]`."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from tests.zoo.zoo import INHABITANTS, Inhabitant, Zoo

MARK = ".firnline-zoo"  # only a folder with this file in it is ever thrown away


def main(folder: Path) -> None:
    """Make the folder from nothing and leave it to be looked at."""
    if folder.exists():
        if not (folder / MARK).is_file():
            sys.exit(f"{folder} exists and was not made by this command: name another folder.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MARK).write_text("The table zoo. Made anew by its next run.\n", encoding="utf-8")
    begun = time.monotonic()
    Zoo(folder.resolve()).fill(arrived=tell)
    print(f"\n{len(INHABITANTS)} tables in {time.monotonic() - begun:.0f} s. Try:\n")
    for command in ("tables list", "status", "status zoo.dangling_deletes", "explain zoo.small_files"):
        print(f"  firnline {command} -C {folder}")


def tell(one: Inhabitant, seconds: float) -> None:
    """One line of progress."""
    print(f"{seconds:5.1f} s  {one.identifier!s:41} {one.what}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "zoo"))

"""A process that commits properties to the tables of a lakehouse as fast as it can, until it is told to stop.

`python -m tests.faults.other_writer`: reads the folder of a lakehouse per line, says "on" once its first commit is in,
writes until the file `stop` appears there, and answers with what it was told is in: JSON, table to keys.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

from tests.faults.world import OLD, ORDERS, World

COMMITS_MAX = 60  # with ours well under the hundred metadata versions a table remembers


def _write(world: World) -> dict[str, list[str]]:
    stop = world.root.with_name("stop")
    said: dict[str, list[str]] = {str(ORDERS): [], str(OLD): []}
    for number in itertools.count():
        for identifier in (ORDERS, OLD):
            key = f"other.{number}"
            if number < COMMITS_MAX and world.write_beside(identifier, key):
                said[str(identifier)].append(key)
        if number == 0:
            print("on", flush=True)
        if stop.exists():
            return said
    raise AssertionError("counting ends never")


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(_write(World(Path(line.strip())))), flush=True)


if __name__ == "__main__":
    main()

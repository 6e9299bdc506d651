"""Loopback ports for servers: chosen once and kept, so that an address written down yesterday is right today."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from firnline.adapters.local import machine
from firnline.core.errors import Failed

HOST = "127.0.0.1"
# Below what kernels hand to outgoing connections (from 32768 on Linux, 49152 elsewhere): a port of ours is not taken by
# chance while the server is down. Above what services are registered for.
_FIRST, _LAST = 20_000, 32_000
_TRIES_MAX = 500


def ports(file: Path, names: Sequence[str]) -> Mapping[str, int]:
    """A free port for each name: those kept in the file when all of them still are, else new ones, kept from now on."""
    kept = _kept(file)
    if set(kept) == set(names) and all(is_free(port) for port in kept.values()):
        return kept
    chosen = dict(zip(names, _choose(len(names)), strict=True))
    machine.write_once(file, json.dumps(chosen).encode())
    return chosen


def forget(file: Path) -> None:
    """Choose anew the next time: somebody was quicker."""
    file.unlink(missing_ok=True)


def is_free(port: int) -> bool:
    """Whether nobody listens on this port. Connections that have just ended do not count: servers reuse those."""
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _kept(file: Path) -> dict[str, int]:
    try:
        read = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(name): port for name, port in read.items() if isinstance(port, int)} if isinstance(read, dict) else {}


def _choose(count: int) -> list[int]:
    # From the system's entropy: two commands at once, both seeded alike, would choose alike.
    chance, found = random.SystemRandom(), list[int]()
    for _ in range(_TRIES_MAX):
        if len(found) == count:
            return found
        port = chance.randrange(_FIRST, _LAST)
        if port not in found and is_free(port):
            found.append(port)
    raise Failed(f"No {count} free ports were found on {HOST} between {_FIRST} and {_LAST}.")

"""What the tests of faults share: a lakehouse per plan, made once, and the module `os` put back after every test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from firnline.adapters.local import store
from tests.faults import world as worlds
from tests.faults.world import Trial


@pytest.fixture(autouse=True)
def real_os(monkeypatch: pytest.MonkeyPatch) -> None:
    """`World.start` replaces the file writer's `os`; this puts the real one back."""
    monkeypatch.setattr(store, "os", os)


@pytest.fixture(scope="session")
def trials() -> Iterator[Callable[[str], Trial]]:
    """The trial of a plan by its name, begun once for the whole run: `Trial.again` brings it back to its beginning."""
    begun: dict[str, tuple[Path, Trial]] = {}

    def trial(name: str) -> Trial:
        if name not in begun:
            place = worlds.folder()
            begun[name] = (place, worlds.begin(place, worlds.PLANS[name]))
        return begun[name][1]

    yield trial
    for place, _ in begun.values():
        shutil.rmtree(place)

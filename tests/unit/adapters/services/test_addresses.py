"""Ports of services."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path

import pytest

from firnline.adapters.services import addresses


def test_ports_are_kept(tmp_path: Path) -> None:
    """The next start has the ports of the one before, each its own."""
    first = addresses.ports(tmp_path / "ports.json", ("main", "inner"))
    assert len(set(first.values())) == 2
    assert addresses.ports(tmp_path / "ports.json", ("main", "inner")) == first


def test_a_taken_port_is_left(tmp_path: Path) -> None:
    """When somebody listens on one of them by now, all are chosen anew."""
    first = addresses.ports(tmp_path / "ports.json", ("main", "inner"))
    with closing(socket.create_server((addresses.HOST, first["inner"]))):
        second = addresses.ports(tmp_path / "ports.json", ("main", "inner"))
    assert second["inner"] != first["inner"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"main": "x"}', '{"other": 20000}'])
def test_a_broken_file_is_no_file(tmp_path: Path, text: str) -> None:
    """What cannot be read is chosen anew."""
    (tmp_path / "ports.json").write_text(text)
    assert set(addresses.ports(tmp_path / "ports.json", ("main",))) == {"main"}

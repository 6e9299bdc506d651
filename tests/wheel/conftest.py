"""The wheel, built once, and an environment with it for each set of extras. The source tree is on no path in there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = str(Path(sys.executable).with_name("uv"))


@dataclass(frozen=True, slots=True)
class Installed:
    """A virtual environment with the wheel in it, and a folder far from the source tree to work in."""

    python: Path
    folder: Path

    def run(self, *command: str, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run a program of this environment; the exit code must be the expected one."""
        environ = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
        done = subprocess.run(
            [str(self.python.with_name(command[0])), *command[1:]],
            cwd=self.folder,
            env=environ,
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert expect in (None, done.returncode), f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def has(self, module: str) -> bool:
        """Whether a module can be imported in it."""
        return self.run("python", "-c", f"import {module}", expect=None).returncode == 0


def uv(*arguments: str) -> None:
    """Run uv through the script that hands pip's mirror settings on to it."""
    command = [str(ROOT / "tools" / "mirrored"), UV, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    uv(
        "build",
        "--wheel",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "--out-dir",
        str(folder),
        "--quiet",
        str(ROOT),
    )
    (built,) = folder.glob("firnline-*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Installed]:
    """The wheel with some extras (`""` for none), everything else as the lock file says."""

    @cache
    def install(extras: str) -> Installed:
        folder = tmp_path_factory.mktemp(f"installed-{extras or 'base'}")
        uv("venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
        python = folder / "venv" / "bin" / "python"
        wanted = f"{wheel}[{extras}]" if extras else str(wheel)
        locked = [
            "--constraints",
            str(ROOT / "locks" / "dev.txt"),
            "--build-constraints",
            str(ROOT / "locks" / "build.txt"),
        ]
        uv("pip", "install", "--quiet", "--python", str(python), *locked, wanted)
        work = folder / "work"
        work.mkdir()
        return Installed(python, work)

    return install

"""The machine under us: the user's cache folder, free disk, whether a folder takes writes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path


def cache_folder(env: Mapping[str, str]) -> Path:
    """Where downloads and logs go, shared by every project: FIRNLINE_CACHE, else the XDG cache folder."""
    if env.get("FIRNLINE_CACHE"):
        return Path(env["FIRNLINE_CACHE"]).expanduser().absolute()
    base = env.get("XDG_CACHE_HOME", "")
    # The XDG specification says to ignore a relative path.
    return (Path(base) if base.startswith("/") else Path(env.get("HOME", "~")).expanduser() / ".cache") / "firnline"


def nearest_existing(path: Path) -> Path:
    """The path itself, or the closest folder above it that is there."""
    return next(folder for folder in (path, *path.parents) if folder.exists())


def free_bytes(path: Path) -> int:
    """Free space where this path is or would be."""
    return shutil.disk_usage(nearest_existing(path)).free


def may_write(path: Path) -> bool:
    """Whether this path could be made or written, by permissions alone. Nothing is touched: a full disk is not seen."""
    return os.access(nearest_existing(path), os.W_OK)


def try_write(folder: Path) -> OSError | None:
    """Write a file where this folder is or would be, and remove it again; the error when that does not work."""
    try:
        with tempfile.NamedTemporaryFile(dir=nearest_existing(folder), prefix=".firnline-") as probe:
            probe.write(b"ok")
            probe.flush()
    except OSError as error:
        return error
    return None


def write_once(path: Path, content: bytes) -> Path:
    """A file with this content, complete or not there: written beside and renamed, so that processes may race."""
    if path.is_file() and path.read_bytes() == content:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path

"""Ships this package to executors as a zip, so that functions of ours run there without an install."""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import firnline
from firnline.adapters.local import machine

if TYPE_CHECKING:
    from pyspark import SparkContext

# A zip may not say 1970, and one date for all makes equal content equal bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_LEFT_OUT = frozenset({"__pycache__"})


def package_zip(cache: Path) -> Path:
    """The zip of the package as it is imported here, kept in the cache under the hash of its content."""
    folder = Path(firnline.__file__).parent
    files = [(f"firnline/{path.relative_to(folder).as_posix()}", path.read_bytes()) for path in _files(folder)]
    digest = hashlib.sha256()
    for name, content in files:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    target = cache / "shipped" / f"firnline-{digest.hexdigest()[:16]}.zip"
    return target if target.is_file() else machine.write_once(target, _zipped(files))


def ship(context: SparkContext, archive: Path) -> None:
    """Put the zip on the path of every Python worker. The driver's own path stays as it was: it has the package."""
    before = list(sys.path)
    context.addPyFile(str(archive))
    sys.path[:] = before


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not _LEFT_OUT & set(path.parts) and path.suffix != ".pyc":
            yield path


def _zipped(files: list[tuple[str, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()

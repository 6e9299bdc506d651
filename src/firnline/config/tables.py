"""Table files → declarations: every `tables/**/*.yaml` of a project, and everything wrong with all of them at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from firnline.config import columns, declaring, grammar, reading, yaml
from firnline.config.reading import Complaints
from firnline.config.values import Declaration
from firnline.core.errors import BadFiles, BadInput, Complaint
from firnline.core.ids import Identifier

FOLDER = "tables"
SUFFIXES = (".yaml", ".yml")
FILES_MAX = 20_000  # four times the largest catalog people have told of; more is the wrong folder


@dataclass(frozen=True, slots=True)
class LoadedTables:
    """The declarations in order of file, and what the files are warned of."""

    declarations: tuple[Declaration, ...]
    warnings: tuple[Complaint, ...] = ()


def load(root: Path) -> LoadedTables:
    """Every table file under `root`/tables. A project without that folder declares nothing."""
    found: list[Declaration] = []
    complaints: list[Complaint] = []
    warnings: list[Complaint] = []
    for path in _files(root):
        file = path.relative_to(root).as_posix()
        try:
            declaration, warned = read(_bytes(path, file), file)
        except BadFiles as error:
            complaints.extend(error.complaints)
            continue
        found.append(declaration)
        warnings.extend(warned)
    complaints.extend(_twice(found))
    if complaints:
        raise BadFiles(reading.shorten(tuple(complaints)))
    return LoadedTables(tuple(found), tuple(warnings))


def read(data: bytes, file: str) -> tuple[Declaration, tuple[Complaint, ...]]:
    """One table file: its declaration and warnings. BadFiles with everything that is wrong with it."""
    complaints, warnings = Complaints(file), Complaints(file)
    record = reading.record(yaml.parse(data, file), grammar.TABLE, "", complaints)
    if record is None:
        complaints.raise_any()
        raise AssertionError(file)
    read_columns = columns.read(record.get("columns", ()), complaints, warnings)
    declaration = declaring.declaration(record, read_columns, complaints, warnings)
    complaints.raise_any()
    assert declaration is not None
    return declaration, tuple(warnings.found)


def _files(root: Path) -> Iterator[Path]:
    top = root / FOLDER
    count = 0
    for folder, folders, names in os.walk(top, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(SUFFIXES) and not name.startswith("."):
                count += 1
                if count > FILES_MAX:
                    raise BadInput(f"{top} has more than {FILES_MAX:,} table files.", next_step="Split the project.")
                yield Path(folder, name)


def _unreadable(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise BadInput(f"{error.filename} cannot be read: {error.strerror}.", next_step="Check its permissions.")


def _bytes(path: Path, file: str) -> bytes:
    try:
        with path.open("rb") as opened:
            return opened.read(yaml.BYTES_MAX + 1)
    except OSError as error:
        raise BadFiles((Complaint(file, None, None, f"it cannot be read: {error.strerror or error}."),)) from error


def _twice(declarations: Iterable[Declaration]) -> Iterator[Complaint]:
    first: dict[Identifier, Declaration] = {}
    for one in declarations:
        before = first.setdefault(one.identifier, one)
        if before is not one:
            file, line = one.source.file, one.source.line("table")
            problem = f"{one.identifier} is declared in {before.source.file} already."
            yield Complaint(file, line, "table", problem, "Keep one of the two files.")

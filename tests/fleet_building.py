"""Projects with real tables: declared and applied by the command itself, filled by PyIceberg, spoiled on purpose."""

from __future__ import annotations

import contextlib
import gc
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from firnline.cli import app
from firnline.core.ids import Identifier
from firnline.lakehouse.opening import Lakehouse
from tests.committing import Shelf

LAKEHOUSE = """version: 1
name: shop
default: local
environments:
  local:
    catalogs: {lake: {type: sqlite}}
    engine: {type: spark}
  looking:
    access: read
    catalogs: {lake: {type: sqlite}}
    engine: {type: spark}
policy:
  small-files.share: 0.25
namespaces:
  shop:
    policy: {snapshots.age: 4d}
"""
COLUMNS = "owner: ann\ncolumns:\n  - id: long required\n  - name: string\n  - day: date\n"
SCHEMA = pa.schema(
    [pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string()), pa.field("day", pa.date32())]
)
FIRST = date(2026, 11, 1)
# Every commit takes some forty milliseconds: tables have no more of them than a test looks at.
TABLES: Mapping[str, str] = {
    "shop.calm": f"{COLUMNS}partition: [identity(day)]\nsort: [id]\n",
    "shop.small": f"{COLUMNS}policy: {{small-files.files: 2, small-files.share: 0.5}}\n",
    "shop.empty": COLUMNS,
    "other.lone": COLUMNS,
}
APPENDS: Mapping[str, Sequence[int]] = {"shop.calm": (0, 1), "shop.small": (0, 0, 0, 0), "other.lone": (5,)}


@dataclass(frozen=True)
class Project:
    """A folder with a lakehouse in it."""

    root: Path

    def run(self, *words: str, env: str = "local") -> int:
        """The exit code of a command."""
        return app.run([*words, "-C", str(self.root), "--env", env])

    def open(self, env: str = "local") -> Lakehouse:
        """The library on it, opened anew."""
        return Lakehouse.open(self.root, env=env)

    def metadata(self, table: str) -> Path:
        """The metadata file a table's pointer names."""
        return Path(Shelf(self.root).location(Identifier.parse(table)).removeprefix("file://"))

    def manifests(self, table: str) -> list[Path]:
        """The manifests of its current snapshot, in the order of the list."""
        return [Path(line.path.removeprefix("file://")) for line in self.lines(table)]

    def lines(self, table: str) -> Sequence[Any]:
        """The lines of its manifest list."""
        return self.open().manifests.list(f"file://{self.manifest_list(table)}")

    def manifest_list(self, table: str) -> Path:
        """The manifest list of its current snapshot."""
        metadata = json.loads(self.metadata(table).read_bytes())
        (current,) = [each for each in metadata["snapshots"] if each["snapshot-id"] == metadata["current-snapshot-id"]]
        return Path(current["manifest-list"].removeprefix("file://"))

    def on_table(self, table: str, do: Callable[[Any], object]) -> None:
        """Work on a table through PyIceberg."""
        catalog = Shelf(self.root).sql_catalog()
        do(catalog.load_table(table))
        catalog.engine.dispose()

    def append(self, table: str, *days: int) -> None:
        """Append three rows of three days for each of these first days."""
        self.on_table(table, lambda found: [found.append(rows(day)) for day in days])

    def forget(self) -> None:
        """Throw the local cache away."""
        cache = self.root / ".lake" / "cache"
        if cache.is_dir():
            shutil.rmtree(cache)
        else:
            cache.unlink(missing_ok=True)

    def add_view(self, table: str) -> None:
        """Put a view into the catalog, as Spark does."""
        name = Identifier.parse(table)
        with closing(sqlite3.connect(self.root / ".lake" / "catalog.db")) as connection, connection:
            connection.execute(
                "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location,"
                " iceberg_type) VALUES ('lake', ?, ?, ?, 'VIEW')",
                (".".join(name.namespace), name.name, "file:///nowhere/v.metadata.json"),
            )

    def tree(self) -> dict[str, bytes]:
        """Every file of the project by its path, the local cache left out."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and not path.is_relative_to(self.root / ".lake" / "cache")
        }


def rows(first: int) -> pa.Table:
    """Three rows of three days."""
    days = [FIRST + timedelta(days=first + each) for each in range(3)]
    return pa.table({"id": [1, 2, 3], "name": ["a", None, "c"], "day": days}, schema=SCHEMA)


def project(
    root: Path,
    tables: Mapping[str, str] = TABLES,
    appends: Mapping[str, Sequence[int]] = APPENDS,
    yaml: str = LAKEHOUSE,
) -> Project:
    """A project with these table files, applied, and these appends made."""
    (root / "tables").mkdir(parents=True)
    (root / "lakehouse.yaml").write_text(yaml)
    for name, text in tables.items():
        (root / "tables" / f"{name}.yaml").write_text(f"table: {name}\n{text}")
    made = Project(root)
    with contextlib.redirect_stdout(None):
        assert made.run("apply", "--yes") == 0
    gc.collect()  # the command is over, and with it the connections that keep files beside the databases
    catalog = Shelf(root).sql_catalog()
    for name, days in appends.items():
        table = catalog.load_table(name)
        for day in days:
            table.append(rows(day))
    catalog.engine.dispose()
    return made


@contextlib.contextmanager
def spoiled(path: Path, data: bytes | None) -> Iterator[None]:
    """A file with other bytes, or none, for a while."""
    whole = path.read_bytes()
    path.unlink() if data is None else path.write_bytes(data)
    try:
        yield
    finally:
        path.write_bytes(whole)

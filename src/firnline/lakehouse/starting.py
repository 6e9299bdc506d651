"""A small project to begin with, whole on this machine. Nothing that is there is changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from firnline.config import yaml
from firnline.config.project import FILE
from firnline.core.errors import BadInput, Refused

_LAKEHOUSE = """\
# What Firnline knows of this lakehouse stands in this file and in the table files under tables/.
version: 1
name: {name}
default: local

environments:
  local: # runs whole on this machine: the catalog is one SQLite file, the data one folder
    catalogs:
      lake: {{type: sqlite}} # .lake/catalog.db and warehouse/
    engine: {{type: spark, master: "local[2]"}}
  # Another environment has the same catalog name, so table files and statements stay as they are:
  # prod:
  #   access: read # nothing is written, not even state
  #   catalogs:
  #     lake: {{type: glue, region: eu-west-1, warehouse: "s3://BUCKET/warehouse"}}

# namespaces:
#   shop: {{owner: payments, properties: {{layer: raw}}}}
"""
_TABLE = """\
# One file per table. `firnline plan` compares it with the catalog, `firnline apply` makes it so.
table: shop.orders
description: One row per order.
columns:
  - order_id: long required
  - customer_id: long
  - amount: decimal(12,2)
  - ordered_at: timestamptz required
identifier: [order_id]
partition: [day(ordered_at)] # also year, month, hour, bucket(16, id), truncate(10, name)
# sort: [customer_id, ordered_at desc]
# properties: {write.parquet.compression-codec: zstd}
# A rename keeps the data:   - {name: buyer_id, type: long, was: customer_id}
# Firnline says what a change breaks, for whom:   readers: [spark, athena]
"""
_IGNORED = ".lake/\nwarehouse/\n"
_FILES = {FILE: _LAKEHOUSE, "tables/shop/orders.yaml": _TABLE, ".gitignore": _IGNORED}


@dataclass(frozen=True, slots=True)
class Started:
    """What was written, and what was there already and left as it is; names below the root."""

    root: Path
    written: tuple[str, ...]
    kept: tuple[str, ...]


def start(folder: Path) -> Started:
    """Write the project into this folder. Refused where one is already."""
    root = folder.expanduser().absolute()
    if (root / FILE).exists():
        raise Refused(f"{root / FILE} is there already.", next_step="Edit it, or name another folder.")
    written: list[str] = []
    kept: list[str] = []
    has_tables = (root / "tables").is_dir() and any((root / "tables").iterdir())
    for name, text in _FILES.items():
        if (root / name).exists():
            kept.append(name)
            continue
        if has_tables and name.startswith("tables/"):
            continue  # somebody brings table files of their own
        _write(root / name, text.format(name=_name(root)) if name == FILE else text)
        written.append(name)
    return Started(root, tuple(written), tuple(kept))


def _name(root: Path) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", root.name.casefold()).strip("-")
    return name if name and yaml.resolve(name) == name else f'"{name or "lakehouse"}"'


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror or error}.", next_step="Name a folder you may write to."
        ) from error

"""A small project to begin with, whole on this machine. Nothing that is there is changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from firnline.config import yaml
from firnline.config.project import FILE
from firnline.core.errors import BadInput, Refused
from firnline.core.suggest import did_you_mean

_LAKEHOUSE = """\
# What Firnline knows of this lakehouse stands in this file and in the table files under tables/.
version: 1
name: {name}
default: {default}

environments:
  local: # runs whole on this machine: the catalog is one SQLite file, the data one folder
    catalogs:
      lake: {{type: sqlite}} # .lake/catalog.db and warehouse/
    engine: {{type: spark, master: "local[2]"}}
{stack}  # Another environment has the same catalog name, so table files and statements stay as they are:
  # prod:
  #   access: read # nothing is written, not even state
  #   catalogs:
  #     lake: {{type: glue, region: eu-west-1, warehouse: "s3://BUCKET/warehouse"}}

# namespaces:
#   shop: {{owner: payments, properties: {{layer: raw}}}}
"""
# Environments on real servers of this machine, by what `--stack` calls them; each with the same catalog name.
_CATALOGS = {
    "hive": 'type: hive, services: local, warehouse: "s3://lake/hive"',
    "rest": "type: rest, services: local",
    "glue": 'type: glue, services: local, warehouse: "s3://lake/glue"',
    "s3": 'type: sqlite, services: local, uri: .lake/s3.db, warehouse: "s3://lake/embedded"',
}
_STATE = "dynamodb"
STACKS = (*_CATALOGS, _STATE)
_ENVIRONMENT = """\
  {name}: # servers of this machine: `firnline local up` starts them
    catalogs:
      lake: {{{catalog}}}
    state: {{{state}}}
    engine: {{type: spark, master: "local[2]"}}
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


def start(folder: Path, stack: Sequence[str] = ()) -> Started:
    """Write the project into this folder. Refused where one is already. `stack` names servers of this machine: an
    environment is added for each catalog among them, and the first of those is the default.
    """
    environments = _environments(stack)
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
        _write(root / name, _lakehouse(root, environments) if name == FILE else text)
        written.append(name)
    return Started(root, tuple(written), tuple(kept))


def _environments(stack: Sequence[str]) -> dict[str, str]:
    """The environments, as they are written, by name. s3 is one of its own only where no catalog is named with it."""
    for one in stack:
        if one not in STACKS:
            raise BadInput(
                f"{one!r} is no part of the local stack; there are {', '.join(STACKS)}.",
                next_step=did_you_mean(one, STACKS),
            )
    chosen = [name for name in _CATALOGS if name in stack and name != "s3"] or [
        name for name in ("s3",) if name in stack
    ]
    if stack and not chosen:
        raise BadInput("A stack needs a catalog.", next_step="Name one beside it: --stack glue,dynamodb.")
    return {name: _environment(name, shared_state=_STATE in stack) for name in chosen}


def _lakehouse(root: Path, environments: Mapping[str, str]) -> str:
    default, shown = next(iter(environments), "local"), "".join(environments.values())
    return _LAKEHOUSE.format(name=_name(root), default=default, stack=shown)


def _environment(name: str, *, shared_state: bool) -> str:
    state = "type: dynamodb, services: local" if shared_state else f"type: sqlite, path: .lake/state-{name}.db"
    return _ENVIRONMENT.format(name=name, catalog=_CATALOGS[name], state=state)


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

"""Renames through the whole house: previewed, saved, applied, and refused where the catalog cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from firnline.cli import app
from firnline.core.errors import BadInput, Refused
from firnline.lakehouse.opening import Lakehouse
from firnline.loop import plan_file, records

LAKEHOUSE = (
    "version: 1\nname: shop\nenvironments:\n  local:\n    catalogs: {{lake: {catalog}}}\n    engine: {{type: spark}}\n"
)
TABLE = "table: {name}\ncolumns:\n  - id: long required\nreaders: [trino]\n"


def written(folder: Path, catalog: str = "{type: sqlite}") -> Path:
    """A project with this catalog."""
    (folder / "tables").mkdir()
    (folder / "lakehouse.yaml").write_text(LAKEHOUSE.format(catalog=catalog))
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An applied table `shop.orders` that is to be `shop.sales` by its file."""
    file = written(tmp_path) / "tables" / "orders.yaml"
    file.write_text(TABLE.format(name="shop.orders"))
    assert app.run(("apply", "--yes", "-C", str(tmp_path))) == 0
    file.write_text(TABLE.format(name="shop.sales"))
    return tmp_path


@pytest.mark.parametrize(
    "catalog",
    [
        "{type: glue, region: eu-west-1, warehouse: 's3://lake/w'}",
        "{type: rest, uri: 'https://glue.eu-west-1.amazonaws.com/iceberg', dialect: glue, warehouse: '123456789012'}",
    ],
    ids=["glue", "rest"],
)
def test_a_catalog_that_cannot_is_not_asked(tmp_path: Path, catalog: str) -> None:
    """Where there is no rename it is refused by the settings alone: these catalogs cannot even be reached."""
    with pytest.raises(Refused, match=r"shop\.orders cannot be renamed in the catalog 'lake'") as refusal:
        Lakehouse.open(written(tmp_path, catalog)).tables.rename("shop.orders", "shop.sales")
    assert "Glue" in (refusal.value.why or "")


def test_a_saved_rename_is_applied_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A saved rename is applied, is done already when applied again, and leaves nothing to plan."""
    here, saved = ("-C", str(project)), str(project / "rename.json")
    before = Lakehouse.open(project).tables.load("shop.orders")
    assert app.run(("tables", "rename", "shop.orders", "shop.sales", "--save", saved, *here)) == 0
    assert "breaks these readers: trino; its files stay under" in capsys.readouterr().out
    for _ in range(2):
        assert app.run(("apply", saved, "--yes", "--output", "json", *here)) == 0
        (step,) = json.loads(capsys.readouterr().out)["steps"]
        assert (step["kind"], step["outcome"]["kind"]) == ("table.rename", "done")
    after = Lakehouse.open(project).tables.load("shop.sales")
    assert (after.uuid, after.location) == (before.uuid, before.location)
    assert app.run(("plan", "--expect-empty", *here)) == 0


def test_a_name_it_has_already(project: Path) -> None:
    """A table that has the name is left alone; one that is not there is told by name."""
    tables = Lakehouse.open(project).tables
    assert tables.rename("shop.orders", "shop.orders").empty
    with pytest.raises(BadInput, match=r"There is no table shop\.never"):
        tables.rename("shop.never", "shop.sales")
    with pytest.raises(Refused, match="there is no namespace lab"):
        tables.rename("shop.orders", "lab.orders")


@pytest.mark.parametrize("about", ["its uuid", "shop.orders", "shop.sales"])
def test_what_was_cut_off_is_settled_first(project: Path, about: str) -> None:
    """An intent on the table, or on either of its names, is judged before the names change."""
    lakehouse = Lakehouse.open(project)
    plan = lakehouse.tables.rename("shop.orders", "shop.sales").plan
    (step,) = plan.steps
    step = step if about == "its uuid" else replace(step, lease=f"lake/{about}")
    encoded = plan_file.step_to_json(step, lakehouse.registry)
    digest = plan_file.digest_of(encoded)
    lakehouse.ledger.record(records.intent(plan.run, step, datetime.now(UTC), encoded=encoded, digest=digest))
    again = lakehouse.tables.rename("shop.orders", "shop.sales")
    assert again.settle == (step.lease,)
    assert [note.text for note in again.plan.report] == [
        f"Run {plan.run} was cut off at table.rename of shop.orders: it was not done."
    ]

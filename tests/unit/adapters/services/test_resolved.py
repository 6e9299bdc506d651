"""What `services: local` comes to: the addresses and keys of what runs, under what the file says."""

from __future__ import annotations

from pathlib import Path

import pytest

from firnline.adapters.local import machine
from firnline.adapters.services import processes
from firnline.config.values import CatalogSettings, Environment, LakehouseSettings, StateSettings
from firnline.core.errors import BadInput, Missing
from firnline.lakehouse import stack

KEYS = {"s3.access-key-id": "us", "s3.secret-access-key": "hush"}
RUNNING = {
    "s3": {"s3.endpoint": "http://127.0.0.1:1", "s3.path-style-access": "true", "region": "us-east-1", **KEYS},
    "glue": {"glue.endpoint": "http://127.0.0.1:2", "region": "us-east-1", **KEYS},
    "rest": {"uri": "http://127.0.0.1:3", "token": "hush"},
    "hive": {"uri": "thrift://127.0.0.1:4"},
    "dynamodb": {"dynamodb.endpoint": "http://127.0.0.1:5", "region": "us-east-1", **KEYS},
}


def pretend(root: Path, *names: str) -> None:
    """These services run, as far as their files say: under the number of this very process."""
    import json
    import os

    for name in names:
        folder = root / ".lake" / "services" / name
        folder.mkdir(parents=True)
        (folder / "pid").write_text(f"{os.getpid()} {processes.mark_of(os.getpid())}")
        said = {"name": name, "pid": os.getpid(), "started": "now", "port": 1, "endpoint": "x"}
        machine.write_once(folder / "service.json", json.dumps({**said, "properties": RUNNING[name]}).encode())


def settings(root: Path, kind: str, *, state: StateSettings | None = None, **given: str) -> LakehouseSettings:
    """A lakehouse whose catalog says `services: local`."""
    catalogs = {"lake": CatalogSettings("lake", kind, given, services="local")}
    return LakehouseSettings(
        "shop", str(root), Environment("here", catalogs, state=state or StateSettings()), ("here",)
    )


@pytest.mark.parametrize(
    ("kind", "names", "more"),
    [
        ("glue", ("glue", "s3"), {"warehouse": "s3://lake/warehouse"}),
        ("hive", ("hive", "s3"), {"warehouse": "s3://lake/warehouse"}),
        ("rest", ("rest", "s3"), {}),
        ("sqlite", ("s3",), {"warehouse": "s3://lake/warehouse"}),
    ],
)
def test_a_catalog_gets_what_its_services_say(
    tmp_path: Path, kind: str, names: tuple[str, ...], more: dict[str, str]
) -> None:
    """Each type of catalog gets the properties of the services it stands on, and of no other."""
    pretend(tmp_path, *RUNNING)
    expected = dict(more)
    for name in names:
        expected |= RUNNING[name]
    assert stack.resolved(settings(tmp_path, kind)).catalog.properties == expected
    assert stack.needed(settings(tmp_path, kind)) == tuple(dict.fromkeys(("s3", *names)))


def test_the_file_goes_first(tmp_path: Path) -> None:
    """What the file says is not replaced by what a service says."""
    pretend(tmp_path, "glue", "s3")
    given = {"region": "eu-west-1", "warehouse": "s3://mine/w"}
    found = stack.resolved(settings(tmp_path, "glue", **given)).catalog.properties
    assert {key: found[key] for key in given} == given


def test_state_gets_what_dynamodb_says(tmp_path: Path) -> None:
    """The state is served as catalogs are."""
    pretend(tmp_path, "dynamodb", "s3")
    state = StateSettings("dynamodb", {"table": "ours"}, services="local")
    found = stack.resolved(settings(tmp_path, "sqlite", state=state)).environment.state
    assert found.properties == {"table": "ours", **RUNNING["dynamodb"]}


def test_what_does_not_run_is_named(tmp_path: Path) -> None:
    """All services that do not run are named at once, with the command that starts them."""
    pretend(tmp_path, "s3")
    state = StateSettings("dynamodb", services="local")
    with pytest.raises(Missing, match="glue, dynamodb do not run") as caught:
        stack.resolved(settings(tmp_path, "glue", state=state))
    assert caught.value.next_step == "`firnline local up glue dynamodb` starts them."


def test_without_services_nothing_changes(tmp_path: Path) -> None:
    """Settings that say nothing of local services come back as they are, and no folder is made."""
    environment = Environment("here", {"lake": CatalogSettings("lake", "glue", {"region": "eu-west-1"})})
    given = LakehouseSettings("shop", str(tmp_path), environment, ("here",))
    assert stack.resolved(given) is given
    assert not list(tmp_path.iterdir())


def test_secrets_are_masked_where_settings_are_shown(tmp_path: Path) -> None:
    """The settings that came from services are listed with their origin, and no secret among them."""
    pretend(tmp_path, "rest", "s3")
    shown = stack.resolved(settings(tmp_path, "rest")).settings
    assert {setting.origin for setting in shown} == {"firnline local"}
    assert "hush" not in repr(shown)
    assert {setting.key for setting in shown if setting.secret} == {
        "catalogs.lake.token",
        "catalogs.lake.s3.secret-access-key",
    }


def test_a_type_without_a_local_service_is_bad_input(tmp_path: Path) -> None:
    """`services: local` where there is no such service says for which types there is."""
    with pytest.raises(BadInput, match=r"catalogs\.lake\.services: there is no local service for the type nessie"):
        stack.resolved(settings(tmp_path, "nessie"))

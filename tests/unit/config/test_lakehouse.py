"""lakehouse.yaml: found from below, an environment chosen, variables laid over, secrets kept out and masked."""

from __future__ import annotations

from pathlib import Path

import pytest

from firnline.config import lakehouse, secrets
from firnline.config.values import LakehouseSettings
from firnline.core.errors import BadFiles, BadInput

TEXT = """\
version: 1
name: shop
default: local
environments:
  local:
    catalogs: {lake: {type: sqlite}}
    engine: {conf: {spark.driver.memory: 1g}}
  prod:
    access: read
    catalogs:
      lake: {type: rest, uri: "https://user:${env:PW}@rest.example/", token: "${env:TOKEN}", s3.access-key-id: AKIA}
namespaces:
  bronze: {location: "file:///data/bronze", owner: ann, properties: {layer: raw}}
  "a.b": {}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project."""
    (tmp_path / "lakehouse.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def load(folder: Path, env: str | None = None, **environ: str) -> LakehouseSettings:
    """The settings with nothing but these variables around."""
    return lakehouse.load(folder, env, environ)


def origins(settings: LakehouseSettings) -> dict[str, tuple[object, str]]:
    """Each setting's value as shown, and where it came from."""
    return {one.key: (one.value, one.origin) for one in settings.settings}


def test_a_project_is_found_from_any_folder_below(folder: Path) -> None:
    """The nearest lakehouse.yaml above the start is the project's."""
    below = folder / "tables" / "shop"
    below.mkdir(parents=True)
    assert load(below).root == load(folder).root == load(folder / "lakehouse.yaml").root == str(folder)


@pytest.mark.parametrize(
    ("env", "environ", "chosen", "origin"),
    [
        (None, {}, "local", "lakehouse.yaml:3"),
        (None, {"FIRNLINE_ENV": "prod", "PW": "x", "TOKEN": "y"}, "prod", "FIRNLINE_ENV"),
        ("local", {"FIRNLINE_ENV": "prod"}, "local", "--env"),
    ],
)
def test_the_option_goes_before_the_variable_and_that_before_the_default(
    folder: Path, env: str | None, environ: dict[str, str], chosen: str, origin: str
) -> None:
    """--env, then FIRNLINE_ENV, then `default:` choose the environment, and the settings say which did."""
    settings = load(folder, env, **environ)
    assert settings.environment.name == chosen
    assert origins(settings)["environment"] == (chosen, origin)


@pytest.mark.parametrize(
    ("variable", "value", "key", "shown"),
    [
        ("FIRNLINE_ACCESS", "read", "access", "read"),
        ("FIRNLINE_ENGINE__MASTER", "local[7]", "engine.master", "local[7]"),
        ("FIRNLINE_CATALOGS__LAKE__URI", "x.db", "catalogs.lake.uri", "x.db"),
        ("FIRNLINE_ENGINE__CONF__SPARK_DRIVER_MEMORY", "9g", "engine.conf.spark.driver.memory", "9g"),
        ("FIRNLINE_ENGINE__CONF", "{spark.x.y: 1}", "engine.conf.spark.x.y", "1"),
        ("FIRNLINE_CATALOGS__SEA", "{type: sqlite}", "catalogs.sea.type", "sqlite"),
        ("FIRNLINE_NAME", "other", "name", "other"),
        ("FIRNLINE_JARS__IVY_SETTINGS", "ivy.xml", "jars.ivy_settings", "ivy.xml"),
        ("FIRNLINE_NAMESPACES__BRONZE__OWNER", "bob", "namespaces.bronze.owner", "bob"),
        ("FIRNLINE_POLICY", "{target-file-size: 128MiB}", "policy.target-file-size", "128MiB"),
        ("FIRNLINE_POLICY__SMALL_FILES_FILES", "7", "policy.small-files.files", 7),
        ("FIRNLINE_NAMESPACES__BRONZE__POLICY__ORPHANS", "off", "namespaces.bronze.policy.orphans", "off"),
    ],
)
def test_any_setting_can_be_overridden(folder: Path, variable: str, value: str, key: str, shown: object) -> None:
    """A variable lays its value over the file's and is named as where it came from."""
    assert origins(load(folder, **{variable: value}))[key] == (shown, variable)


def test_a_mapping_in_a_variable_keeps_what_it_does_not_name(folder: Path) -> None:
    """Laying a mapping over another replaces equal keys only."""
    settings = load(folder, FIRNLINE_ENGINE__CONF="{spark.x.y: 1}")
    assert settings.environment.engine.conf == {"spark.driver.memory": "1g", "spark.x.y": "1"}


@pytest.mark.parametrize(
    "variable", ["FIRNLINE_ACESS", "FIRNLINE_ENGINE__CONF__NEW_ONE", "FIRNLINE_CATALOGS__LAKE__TYPE__X"]
)
def test_a_variable_that_names_nothing_is_refused(folder: Path, variable: str) -> None:
    """A misspelt variable is bad input, never ignored."""
    with pytest.raises(BadFiles, match=f"{variable}: this variable names no setting"):
        load(folder, **{variable: "x"})


def test_variables_of_others_are_left_alone(folder: Path) -> None:
    """FIRNLINE_CACHE, FIRNLINE_DEBUG and what has another prefix are no settings."""
    plain = load(folder)
    assert load(folder, FIRNLINE_CACHE="/x", FIRNLINE_DEBUG="1", FIRNLINE_TEST_ICEBERG="1.11.0", OTHER="1") == plain


def test_references_are_filled_in_and_shown_as_written(folder: Path) -> None:
    """${env:NAME} gives its value to whoever connects, and never to whoever looks."""
    settings = load(folder, "prod", PW="hunter2", TOKEN="s3cret")
    properties = settings.catalog.properties
    assert properties["token"] == "s3cret"
    assert "hunter2" in properties["uri"]
    shown = repr(settings.settings)
    assert "hunter2" not in shown
    assert "s3cret" not in shown
    assert origins(settings)["catalogs.lake.token"] == ("${env:TOKEN}", "lakehouse.yaml:11")


def test_a_secret_from_a_variable_is_masked(folder: Path) -> None:
    """A secret given by FIRNLINE_… works and is not shown."""
    settings = load(folder, "prod", PW="a", TOKEN="b", FIRNLINE_CATALOGS__LAKE__TOKEN="from-outside")
    assert settings.catalog.properties["token"] == "from-outside"
    assert origins(settings)["catalogs.lake.token"] == (secrets.MASK, "FIRNLINE_CATALOGS__LAKE__TOKEN")


def test_a_missing_variable_matters_only_where_it_is_chosen(folder: Path) -> None:
    """Another environment's references are not looked up."""
    load(folder, "local")
    with pytest.raises(BadFiles, match="TOKEN is not set"):
        load(folder, "prod", PW="x")


@pytest.mark.parametrize(
    ("key", "value", "secret"),
    [
        ("s3.secret-access-key", "abc", True),
        ("password", "abc", True),
        ("token", "", False),
        ("oauth2-server-uri", "https://x/", False),
        ("uri", "postgresql://u:p@h/db", True),
        ("uri", "https://h/?token=abc", True),
        ("s3.access-key-id", "AKIA", False),
        ("client.credentials-provider", "com.x.Y", False),
        ("s3.session-token", "abc", True),
    ],
)
def test_what_is_secret(key: str, value: str, secret: bool) -> None:
    """Secrets are known by their key, or as the user part or a parameter of a URL; ids and class names are none."""
    assert secrets.holds_secret(key, value) is secret
    assert (value in secrets.mask(key, value)) is (not secret or not value)


def test_namespaces_keep_their_parts_and_settings(folder: Path) -> None:
    """A namespace has its parts, location, owner and properties."""
    bronze, nested = load(folder).namespaces
    assert (bronze.namespace, bronze.location, bronze.owner) == (("bronze",), "file:///data/bronze", "ann")
    assert bronze.properties == {"layer": "raw"}
    assert nested.namespace == ("a", "b")


def test_without_a_default_a_lone_environment_is_taken(tmp_path: Path) -> None:
    """One environment needs no `default:`; several do."""
    text = TEXT.replace("default: local\n", "")
    (tmp_path / "lakehouse.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match="2 environments"):
        load(tmp_path)

"""Which layer a value comes from, what is ignored, and what facts are asked with."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.config import lakehouse, tables
from firnline.config.amounts import Unit
from firnline.config.policies import AMOUNTS, RULES
from firnline.config.values import Declaration, LakehouseSettings, NamespaceSettings, Source
from firnline.core.ids import Identifier
from firnline.core.types import Struct
from firnline.facts.values import Thresholds
from firnline.judge import policy
from firnline.judge.policy import PolicyValue

TABLE = Identifier(("bronze", "raw"), "events")
KEY = "small-files.files"
LAKE = """
version: 1
name: shop
environments: {local: {catalogs: {lake: {type: sqlite}}}}
policy:
  small-files.files: 7
  orphans: off
  target-file-size: 256MiB
namespaces:
  bronze:
    policy:
      small-files.files: 8
      orphans: on
  bronze.raw:
    policy: {snapshots.age: 12h}
  silver:
    policy: {small-files.files: 99}
"""
FILE = """
table: bronze.raw.events
columns: [{id: long}]
policy:
  small-files.share: 0.5
  metadata-json.bytes: 1.5GiB
"""


def _settings(folder: Path, **environ: str) -> LakehouseSettings:
    (folder / "lakehouse.yaml").write_text(LAKE, encoding="utf-8")
    return lakehouse.load(folder, None, environ)


def _declaration() -> Declaration:
    return tables.read(FILE.encode(), "tables/events.yaml")[0]


@pytest.mark.parametrize(
    ("key", "value", "origin"),
    [
        ("small-files.files", 8, "lakehouse.yaml:12"),
        ("orphans", True, "lakehouse.yaml:13"),
        ("target-file-size", 256 * 2**20, "lakehouse.yaml:8"),
        ("snapshots.age", 12 * 3_600_000, "lakehouse.yaml:15"),
        ("small-files.share", 0.5, "tables/events.yaml:5"),
        ("metadata-json.bytes", 3 * 2**29, "tables/events.yaml:6"),
        ("orphans.bytes", 2**30, "default"),
        ("damage", True, "default"),
    ],
)
def test_every_value_says_where_it_came_from(tmp_path: Path, key: str, value: float, origin: str) -> None:
    """The nearest layer that names a key decides, and is named with its file and line."""
    resolved = policy.resolve(_settings(tmp_path), TABLE, _declaration(), {})
    found = resolved.values[key]
    assert (found.value, found.origin) == (value, origin)


def test_a_variable_is_named_as_the_origin(tmp_path: Path) -> None:
    """A policy from the environment says so."""
    settings = _settings(tmp_path, FIRNLINE_POLICY__TARGET_FILE_SIZE="64MiB")
    found = policy.resolve(settings, TABLE, None, {}).values["target-file-size"]
    assert (found.value, found.origin) == (64 * 2**20, "FIRNLINE_POLICY__TARGET_FILE_SIZE")


LAYERS = ("iceberg", "lakehouse", "outer", "inner", "last")


@settings(deadline=None)
@given(st.lists(st.sampled_from(LAYERS), unique=True), st.booleans())
def test_a_nearer_layer_wins(present: list[str], declared: bool) -> None:
    """Default < Iceberg's property < lakehouse < outer namespace < inner one < the table's file, or its properties."""
    key = "snapshots.age"
    given_ = {layer: f"{number}d" for number, layer in enumerate(LAYERS, start=10) if layer in present}

    def of(layer: str) -> dict[str, str]:
        return {key: given_[layer]} if layer in given_ else {}

    properties = {}
    if "iceberg" in given_:
        properties["history.expire.max-snapshot-age-ms"] = str(10 * 86_400_000)
    if "last" in given_ and not declared:
        properties[f"firnline.{key}"] = given_["last"]
    lake = LakehouseSettings(
        name="x",
        root="/",
        environment=None,  # type: ignore[arg-type]  # no policy looks at it
        environments=(),
        policy=of("lakehouse"),
        namespaces=(
            NamespaceSettings(("bronze", "raw"), policy=of("inner")),
            NamespaceSettings(("bronze",), policy=of("outer")),
            NamespaceSettings(("silver",), policy={key: "1d"}),
        ),
    )
    file = Declaration(TABLE, Source("t.yaml"), Struct(()), policy=of("last")) if declared else None
    found = policy.resolve(lake, TABLE, file, properties).number(key)
    expected = max((number for number, layer in enumerate(LAYERS, start=10) if layer in present), default=5)
    assert found == expected * 86_400_000


@pytest.mark.parametrize(
    ("properties", "key", "value", "ignored"),
    [
        ({"firnline.small-files.files": "12"}, "small-files.files", 12, None),
        ({"firnline.small-files.share": "0.5"}, "small-files.share", 0.5, None),
        ({"firnline.target-file-size": "64MiB"}, "target-file-size", 2**26, None),
        ({"firnline.orphans": "off"}, "orphans", False, None),
        ({"firnline.orphans": "no"}, "orphans", True, "neither on nor off"),
        ({"firnline.small-files.file": "12"}, "small-files.files", 100, "Did you mean firnline.small-files.files?"),
        ({"firnline.small-files.files": "many"}, "small-files.files", 100, "not a whole number"),
        ({"write.target-file-size-bytes": "1048576"}, "target-file-size", 2**20, None),
        ({"write.target-file-size-bytes": "1 MB"}, "target-file-size", 2**29, "no whole number"),
        ({"firnline.run": "r", "firnline.step": "s"}, "small-files.files", 100, None),
    ],
)
def test_properties_of_an_undeclared_table_count(
    properties: dict[str, str], key: str, value: float, ignored: str | None
) -> None:
    """What a table carries itself is its policy as far as it can be read; what cannot be is named, never refused."""
    resolved = policy.resolve(None, TABLE, None, properties)
    assert resolved.number(key) == value
    assert len(resolved.ignored) == (ignored is not None)
    assert ignored is None or ignored in resolved.ignored[0]


def test_properties_of_a_declared_table_do_not() -> None:
    """A file is the whole policy of its table: `firnline.` properties beside it count for nothing and are named."""
    resolved = policy.resolve(None, TABLE, _declaration(), {"firnline.small-files.files": "12"})
    assert resolved.number("small-files.files") == 100
    assert resolved.ignored == ("firnline.small-files.files: tables/events.yaml declares the table.",)


def test_the_policy_is_complete() -> None:
    """Every amount and every switch has a value, and nothing else does."""
    assert set(policy.resolve(None, TABLE, None, {}).values) == {*AMOUNTS, *RULES}


def test_facts_are_asked_by_the_policy() -> None:
    """The sizes that are too small and too large follow from the target size."""
    resolved = policy.resolve(None, TABLE, None, {"write.target-file-size-bytes": "1000"})
    assert policy.file_sizes(resolved) == Thresholds(1000, 750, 1800)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (PolicyValue("orphans", False, None, "default"), "off"),
        (PolicyValue("orphans", True, None, "default"), "on"),
        (PolicyValue("snapshots.age", 5 * 86_400_000, Unit.DURATION, "default"), "5d"),
        (PolicyValue("target-file-size", 2**29, Unit.BYTES, "default"), "512.0 MiB"),
    ],
)
def test_a_value_is_shown_as_it_is_written(value: PolicyValue, shown: str) -> None:
    """People are shown words and units."""
    assert value.shown == shown

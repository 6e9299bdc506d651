from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.spark import settings
from firnline.adapters.spark.catalogs import CATALOG
from firnline.adapters.spark.settings import DEFAULT_CATALOG, EXTENSIONS, ICEBERG_EXTENSIONS, spark_settings
from firnline.config.values import CatalogSettings, EngineSettings, Environment
from firnline.core.errors import BadInput

ROOT = Path("/srv/shop")
LAKE = CATALOG + "lake"


def environment(*, access: str = "write", master: str = "local[2]", conf: dict[str, str] | None = None) -> Environment:
    """One sqlite catalog `lake`."""
    catalogs = {"lake": CatalogSettings("lake", "sqlite", {"s3.region": "ap-south-1"})}
    return Environment("local", catalogs, access=access, engine=EngineSettings(master=master, conf=conf or {}))


def test_the_catalog_is_a_setting_of_sessions() -> None:
    """What makes the catalog is given to each session, and nothing of it to the JVM."""
    made = spark_settings(environment(), ROOT)
    assert made.session[f"{LAKE}.warehouse"] == "file:///srv/shop/warehouse"
    assert made.session[DEFAULT_CATALOG] == "lake"
    assert not [key for key in made.launch if key.startswith(CATALOG)]


def test_both_engines_wait_for_a_busy_catalog() -> None:
    """Spark's JDBC catalog uses a write-ahead log and waits half a minute for a lock."""
    uri = spark_settings(environment(), ROOT).session[f"{LAKE}.uri"]
    assert uri == "jdbc:sqlite:/srv/shop/.lake/catalog.db?busy_timeout=30000&journal_mode=WAL"


def test_read_only_is_kept_by_sqlite_itself() -> None:
    """With access: read the file is opened read-only and Iceberg makes no tables in it."""
    made = spark_settings(environment(access="read"), ROOT).session
    assert made[f"{LAKE}.uri"].endswith("busy_timeout=30000&open_mode=1")
    assert made[f"{LAKE}.jdbc.init-catalog-tables"] == "false"


def test_other_properties_of_a_catalog_are_passed_on() -> None:
    """A catalog's own properties reach Spark under its name; where it lies is said once."""
    session = spark_settings(environment(), ROOT).session
    assert session[f"{LAKE}.s3.region"] == "ap-south-1"


def test_a_laptop_is_not_open_to_the_network() -> None:
    """A local master listens to this machine and has no web page; a cluster's is left as it is."""
    local, cluster = (spark_settings(environment(master=master), ROOT).launch for master in ("local[4]", "yarn"))
    assert (local["spark.driver.bindAddress"], local["spark.ui.enabled"]) == ("127.0.0.1", "false")
    assert not {"spark.driver.bindAddress", "spark.ui.enabled", "spark.driver.memory"} & set(cluster)


def test_the_users_settings_lie_on_top() -> None:
    """engine.conf overrides a default of ours and adds its own."""
    launch = spark_settings(environment(conf={"spark.driver.memory": "4g", "spark.x": "1"}), ROOT).launch
    assert (launch["spark.driver.memory"], launch["spark.x"]) == ("4g", "1")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", [ICEBERG_EXTENSIONS]),
        ("a.B", [ICEBERG_EXTENSIONS, "a.B"]),
        (f" a.B , {ICEBERG_EXTENSIONS}", [ICEBERG_EXTENSIONS, "a.B"]),
    ],
)
def test_extensions_are_added_to(given: str, expected: list[str]) -> None:
    """Iceberg's SQL extensions come beside those of the user's, each once."""
    launch = spark_settings(environment(conf={EXTENSIONS: given} if given else None), ROOT).launch
    assert launch[EXTENSIONS].split(",") == expected


CONFLICTS = [
    (f"{LAKE}.uri", "jdbc:sqlite:/elsewhere.db", "contradicts the catalog"),
    (f"{LAKE}.warehouse", "s3://elsewhere", "contradicts the catalog"),
    (f"{LAKE}.cache-enabled", "true", "contradicts the catalog"),
    (f"{LAKE}.new", "x", "contradicts the catalog"),
    (LAKE, "org.apache.iceberg.spark.SparkSessionCatalog", "contradicts the catalog"),
    (DEFAULT_CATALOG, "other", "contradicts the catalog"),
    ("spark.sql.session.timeZone", "Europe/Berlin", "may not be 'Europe/Berlin'"),
    ("spark.master", "local[8]", "may not be 'local[8]'"),
    ("spark.remote", "sc://host", "may not be set"),
    ("spark.wap.branch", "audit", "may not be set"),
    ("spark.wap.id", "1", "may not be set"),
    ("spark.sql.iceberg.snapshot-property.flow", "a", "may not be set"),
]


@pytest.mark.parametrize(("key", "value", "words"), CONFLICTS)
def test_conflicts_are_refused(key: str, value: str, words: str) -> None:
    """A setting that contradicts the catalogs, or leaks from one step into another, is refused with its way out."""
    with pytest.raises(BadInput) as refused:
        spark_settings(environment(conf={key: value}), ROOT)
    assert key in refused.value.what
    assert words in refused.value.what
    assert refused.value.next_step


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (f"{LAKE}.cache-enabled", "false"),
        (DEFAULT_CATALOG, "lake"),
        ("spark.sql.session.timeZone", "UTC"),
        ("spark.master", "local[2]"),
        (f"{CATALOG}lakeside.uri", "x"),
        (f"{CATALOG}other", "a.B"),
    ],
)
def test_what_agrees_is_no_conflict(key: str, value: str) -> None:
    """Saying again what holds anyway is allowed, and so is another catalog, whose name may begin like ours."""
    assert spark_settings(environment(conf={key: value}), ROOT).all[key] == value


def test_a_catalog_that_is_not_wired_says_so() -> None:
    """A type that is understood and not reachable is named with what is."""
    nessie = Environment("prod", {"lake": CatalogSettings("lake", "nessie")})
    with pytest.raises(BadInput, match=r"'nessie'.*does not wire"):
        spark_settings(nessie, ROOT)


PROFILE_A, PROFILE_B = ({"spark.driver.extraJavaOptions": f"-Xss4m -Daws.profile={name}"} for name in "ab")
KEYS: dict[str, str | None] = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "hunter2", "AWS_SESSION_TOKEN": None}
STARTS: list[tuple[dict[str, str], dict[str, str | None]]] = [
    ({}, {}),
    (PROFILE_A, {}),
    (PROFILE_B, {}),
    ({}, KEYS),
    ({}, {**KEYS, "AWS_SESSION_TOKEN": "t"}),
    ({}, {**KEYS, "AWS_SECRET_ACCESS_KEY": "hunter3"}),
    (PROFILE_A, KEYS),
]


def test_identities_are_told_apart() -> None:
    """Each profile and each set of keys is an identity of its own, whatever else the process is started with."""
    found = [settings.identity(*start) for start in STARTS]
    assert len(set(found)) == len(STARTS)
    assert found == [settings.identity({**launch, "spark.x": "1"}, environ) for launch, environ in STARTS]
    assert settings.identity({"spark.driver.extraJavaOptions": "-Daws.profile=a"}, {}) == found[1]


def test_an_identity_shows_no_key() -> None:
    """It is a digest, and neither it nor the settings show keys."""
    made = settings.SparkSettings({}, {}, (), KEYS)
    assert "hunter2" not in f"{settings.identity({}, KEYS)} {made!r}"


UNLIKE: list[tuple[dict[str, str], dict[str, str], list[str]]] = [
    ({"a": "1"}, {"a": "1", "more": "2"}, []),
    ({"a": "1"}, {"a": "2"}, ["a"]),
    ({"a": "1"}, {}, ["a"]),
    ({EXTENSIONS: "x,y"}, {EXTENSIONS: "y,z,x"}, []),
    ({EXTENSIONS: "x,y"}, {EXTENSIONS: "x"}, [EXTENSIONS]),
    ({EXTENSIONS: "x"}, {}, [EXTENSIONS]),
]


@pytest.mark.parametrize(("ours", "theirs", "expected"), UNLIKE)
def test_a_running_process_is_compared_by_what_is_wanted(
    ours: dict[str, str], theirs: dict[str, str], expected: list[str]
) -> None:
    """What nobody asks for may be there; what is asked for must be, and of extensions more may."""
    assert settings.unlike(ours, theirs, ours) == expected


DIFFERING: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({}, ()),
    ({"spark.sql.catalog.theirs": "a.B"}, ()),
    ({LAKE: "C", f"{LAKE}.uri": "u"}, ()),
    ({LAKE: "C", f"{LAKE}.uri": "v"}, (f"{LAKE}.uri",)),
    ({LAKE: "C"}, (f"{LAKE}.uri",)),
    ({LAKE: "C", f"{LAKE}.uri": "u", f"{LAKE}.more": "1"}, (f"{LAKE}.more",)),
    ({LAKE: "C", f"{LAKE}.uri": "u", DEFAULT_CATALOG: "theirs"}, ()),
]


@pytest.mark.parametrize(("theirs", "expected"), DIFFERING)
def test_a_given_catalog_is_compared_key_by_key(theirs: dict[str, Any], expected: tuple[str, ...]) -> None:
    """A catalog of our name must have our settings and no more; a session without it has no difference."""
    ours = {LAKE: "C", f"{LAKE}.uri": "u", DEFAULT_CATALOG: "lake"}
    assert settings.differing(ours, theirs, ("lake",)) == expected

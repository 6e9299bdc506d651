"""One JVM, one root session, an isolated one for each step."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from firnline.adapters.spark import errors
from firnline.adapters.spark import session as sessions
from firnline.config.values import CatalogSettings, EngineSettings, Environment, LakehouseSettings
from firnline.core.errors import BadInput, Missing, Refused
from firnline.lakehouse.spark import Spark
from tests.sparklake import CATALOG, SparkLake, settings_for, silent, spark_lake

pytestmark = pytest.mark.spark
KEY = f"spark.sql.catalog.{CATALOG}"


def test_sessions_do_not_share_settings(lake: SparkLake) -> None:
    """What one step sets, another does not see, and neither does the root."""
    one, other = lake.isolated(), lake.isolated()
    one.conf.set("spark.sql.shuffle.partitions", "3")
    one.conf.set("spark.example", "mine")
    assert other.conf.get("spark.sql.shuffle.partitions") == "8"
    assert other.conf.get("spark.example", None) is None
    assert lake.spark.root.session.conf.get("spark.example", None) is None


def test_sessions_do_not_share_temporary_views(lake: SparkLake) -> None:
    """A temporary view of one step is not there for the next."""
    one, other = lake.isolated(), lake.isolated()
    one.range(1).createTempView("seen")
    assert one.catalog.tableExists("seen")
    assert not other.catalog.tableExists("seen")


def test_nothing_is_set_on_the_root(lake: SparkLake) -> None:
    """Catalogs are settings of isolated sessions only."""
    assert lake.session.conf.get(f"{KEY}.type") == "jdbc"
    assert lake.spark.root.session.conf.get(KEY, None) is None


def test_projects_with_the_same_catalog_name_stay_apart(tmp_path: Path) -> None:
    """Two projects in one process may both call their catalog `lake`; each sees its own tables."""
    one, other = (spark_lake(tmp_path / name) for name in ("one", "other"))
    one.sql("CREATE NAMESPACE shop")
    one.sql("CREATE TABLE shop.orders (id BIGINT)")
    other.sql("CREATE NAMESPACE lab")
    assert [row.namespace for row in one.sql("SHOW NAMESPACES").collect()] == ["shop"]
    assert [row.namespace for row in other.sql("SHOW NAMESPACES").collect()] == ["lab"]
    one.sql("INSERT INTO shop.orders VALUES (1)")
    assert one.isolated().table("lake.shop.orders").count() == 1


def test_times_are_utc(lake: SparkLake) -> None:
    """A session's time zone is UTC, whatever the machine's is."""
    assert lake.session.conf.get("spark.sql.session.timeZone") == "UTC"


def test_the_environment_is_put_back(lake: SparkLake) -> None:
    """Starting Spark leaves no variable behind: PYSPARK_PYTHON would decide for the user's own sessions."""
    assert lake.session.version
    assert "PYSPARK_PYTHON" not in os.environ


def test_the_jvm_says_nothing_here(lake: SparkLake, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither good nor bad statements, nor a task that fails, put a line on stdout or stderr."""
    lake.sql("CREATE NAMESPACE shop")
    lake.sql("SELECT * FROM range(10) ORDER BY 1 DESC").collect()
    for wrong in ("SELEC 1", "SELECT * FROM nope.nope", "SELECT raise_error('no')"):
        with pytest.raises(Exception, match=r"."):
            lake.sql(wrong).collect()
    assert capfd.readouterr() == ("", "")


def test_a_given_session_is_used(lake: SparkLake) -> None:
    """Work goes to the caller's JVM, in sessions of its own with our catalogs; theirs stays as it was."""
    given = lake.spark.root.session.newSession()
    spark = Spark(lake.settings, silent, given=given)
    ours = spark.isolated()
    assert spark.root.given
    assert ours.sparkContext is given.sparkContext
    assert ours.conf.get(f"{KEY}.type") == "jdbc"
    assert given.conf.get(KEY, None) is None


def test_a_given_session_may_have_the_same_catalog(lake: SparkLake) -> None:
    """One that was started with our own settings is taken."""
    given = lake.isolated()
    assert Spark(lake.settings, silent, given=given).isolated().conf.get(f"{KEY}.type") == "jdbc"


def test_a_given_session_with_another_catalog_is_refused(lake: SparkLake) -> None:
    """A catalog of our name that leads elsewhere is named key by key."""
    given = lake.isolated()
    given.conf.set(f"{KEY}.warehouse", "s3://elsewhere")
    with pytest.raises(Refused) as refused:
        Spark(lake.settings, silent, given=given).isolated()
    assert refused.value.what.endswith(f"these settings differ: {KEY}.warehouse.")
    assert "spark-conf" in str(refused.value.next_step)


class ConnectSession:
    """What a Spark Connect session looks like from outside."""


ConnectSession.__module__ = "pyspark.sql.connect.session"


@pytest.mark.parametrize(
    ("given", "words"), [(ConnectSession(), "Spark Connect"), ("local[2]", "must be a SparkSession, not str")]
)
def test_what_is_no_session_of_ours_is_refused(lake: SparkLake, given: object, words: str) -> None:
    """Spark Connect has no JVM to commit through; anything else is no session."""
    with pytest.raises(BadInput, match=words):
        Spark(lake.settings, silent, given=given).isolated()


def test_a_session_that_was_stopped_is_refused(lake: SparkLake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A given session whose context has no Java side any more is told as stopped."""
    given = lake.isolated()
    monkeypatch.setattr(type(given), "sparkContext", SimpleNamespace(_jsc=None))
    with pytest.raises(BadInput, match="was stopped"):
        Spark(lake.settings, silent, given=given).isolated()


def test_a_session_of_somebody_else_is_never_taken(lake: SparkLake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A running session that we did not start is refused, with the way to pass it."""
    assert lake.session.version
    monkeypatch.setattr(sessions, "_started", [])
    with pytest.raises(Refused, match="did not start") as refused:
        Spark(lake.settings, silent).isolated()
    assert "Lakehouse.open(spark=spark)" in str(refused.value.next_step)


def test_other_settings_of_the_jvm_need_another_process(lake: SparkLake, tmp_path: Path) -> None:
    """What a running JVM cannot change is refused by name, never ignored."""
    assert lake.session.version
    settings = settings_for(tmp_path, conf={"spark.driver.memory": "3g"})
    with pytest.raises(Refused, match=r"spark\.driver\.memory") as refused:
        Spark(settings, silent).isolated()
    assert refused.value.next_step == "Use another process for this environment."


def test_settings_of_a_session_differ_by_project(tmp_path: Path) -> None:
    """A project's own spark.sql settings hold in its sessions, on the same JVM."""
    lake = spark_lake(tmp_path, conf={"spark.sql.shuffle.partitions": "5"})
    assert lake.session.conf.get("spark.sql.shuffle.partitions") == "5"


def test_looking_makes_no_catalog(tmp_path: Path) -> None:
    """With access: read a catalog that is not there is missing, and stays so."""
    lake = spark_lake(tmp_path / "project", access="read")
    with pytest.raises(Missing, match="not there yet"):
        lake.isolated()
    assert list((tmp_path / "project").iterdir()) == []


def test_read_only_is_held_by_the_database(tmp_path: Path) -> None:
    """With access: read tables are read, and SQLite itself refuses the commit of whoever writes all the same."""
    writing = spark_lake(tmp_path / "project")
    writing.sql("CREATE NAMESPACE shop")
    writing.sql("CREATE TABLE shop.orders (id BIGINT)")
    writing.sql("INSERT INTO shop.orders VALUES (1)")
    reading = spark_lake(tmp_path / "project", access="read")
    assert reading.sql("SELECT count(*) FROM shop.orders").collect() == [(1,)]
    for statement in (
        "INSERT INTO shop.orders VALUES (2)",
        "CREATE TABLE shop.more (id BIGINT)",
        "DROP TABLE shop.orders",
    ):
        with pytest.raises(Refused, match="readonly"), errors.folded("writing"):
            reading.sql(statement)
    assert writing.isolated().sql("SELECT count(*) FROM shop.orders").collect() == [(1,)]


def test_an_unwired_catalog_is_told_before_anything_starts(tmp_path: Path) -> None:
    """A catalog type Spark is not wired for is refused without a JVM."""
    environment = Environment("prod", {"lake": CatalogSettings("lake", "nessie")}, engine=EngineSettings())
    with pytest.raises(BadInput, match="does not wire"):
        Spark(LakehouseSettings("shop", str(tmp_path), environment, ("prod",)), silent).isolated()

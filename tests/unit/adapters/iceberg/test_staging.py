"""From a metadata file and a request to the next metadata file: what is refused, and what is handed on to the JVM."""

from __future__ import annotations

import gzip
import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.iceberg import staging
from firnline.adapters.iceberg.staging import Lossy, decode, stage
from firnline.adapters.requests import ROUND_TRIP, Unfit
from tests.committing import (
    AT,
    BY_DAY,
    BY_ID,
    ID,
    NAME,
    ORDERS,
    Shelf,
    assert_done,
    assert_refused,
    changing,
    creating,
    properties,
    with_fields,
)  # fmt: skip

UUID = str(uuid.UUID(int=7, version=4))


@pytest.fixture(params=[1, 2])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    """A catalog with one table."""
    found = Shelf(tmp_path)
    assert_done(found.light.create_namespace(("shop",), {}))
    assert_done(found.light.commit(ORDERS, creating(f"{found.warehouse}/orders", version=request.param, uuid=UUID)))
    return found


@pytest.mark.parametrize("packed", [False, True])
def test_decode(packed: bool) -> None:
    """Metadata is read packed or not, by its first bytes and not by its name."""
    data = json.dumps({"format-version": 2}).encode()
    assert decode(gzip.compress(data) if packed else data) == {"format-version": 2}


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff", b"[]", b"{}", b'{"format-version": "2"}', b"\x1f\x8bnot gzip", gzip.compress(b"x" * 99)[:20]],
)
def test_damaged(data: bytes) -> None:
    """A damaged file is a refusal in words."""
    with pytest.raises(Unfit, match="its metadata file is damaged"):
        decode(data)


@pytest.mark.parametrize("missing", ["assign-uuid", "add-schema", "add-spec", "add-sort-order", "set-location"])
def test_half_a_table(missing: str) -> None:
    """A new table without one of its parts is refused by the part's name."""
    request = creating("file:///x")
    kept = tuple(update for update in request.updates if update["action"] != missing)
    with pytest.raises(Unfit, match=f"lacks {missing}|adds none"):
        stage(type(request)(request.requirements, kept), None, None)


def raw(shelf: Shelf, **more: Any) -> dict[str, Any]:
    return {**shelf.metadata(), **more}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"format-version": 3}, "commits formats 1 and 2 only"),
        ({"table-uuid": None}, "the table has no uuid"),
        ({"schemas": "none"}, "PyIceberg cannot read the table's metadata"),
        ({"encryption-keys": [{"key-id": "1"}]}, "PyIceberg would lose encryption-keys"),
    ],
)
def test_handed_on(shelf: Shelf, more: dict[str, Any], words: str) -> None:
    """Metadata that PyIceberg cannot carry through unharmed goes to the JVM, untouched."""
    with pytest.raises(Lossy, match=words):
        stage(properties(a="1"), raw(shelf, **more), shelf.location())


def test_handed_on_by_the_committer(shelf: Shelf) -> None:
    """The committer's refusal to harm metadata carries the word by which it is handed on, and writes nothing."""
    path = Path(shelf.location().removeprefix("file://"))
    path.write_text(json.dumps(raw(shelf, **{"encryption-keys": [{"key-id": "1"}]})))
    before = sorted(path.parent.iterdir())
    outcome = shelf.light.commit(ORDERS, properties(a="1"))
    assert_refused(outcome, "PyIceberg would lose encryption-keys")
    assert outcome.facts == {"refused": ROUND_TRIP}
    assert sorted(path.parent.iterdir()) == before


@pytest.mark.parametrize(
    "update",
    [
        {"action": "add-spec", "spec": {"fields": [{**BY_DAY["fields"][0], "source-id": 9}]}},  # type: ignore[index]
        {"action": "add-sort-order", "sort-order": {"fields": [
            {"source-id": 9, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}},
    ],
    ids=["spec", "order"],
)  # fmt: skip
def test_of_a_column_that_is_not_there(shelf: Shelf, update: dict[str, Any]) -> None:
    """A spec or order of no column is refused: PyIceberg would write it, and nobody could read the table."""
    with pytest.raises(Unfit, match="the schema has no column with the id 9"):
        stage(changing(update), raw(shelf), shelf.location())


def test_both_halves_of_format_1(tmp_path: Path) -> None:
    """Format 1 keeps its current schema and spec twice, and both say the same after a change."""
    shelf = Shelf(tmp_path)
    assert_done(shelf.light.create_namespace(("shop",), {}))
    assert_done(shelf.light.commit(ORDERS, creating(f"{shelf.warehouse}/orders", version=1)))
    change = changing(
        with_fields(ID, {**NAME, "name": "label"}, AT), {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": BY_DAY}, {"action": "set-default-spec", "spec-id": -1},
    )  # fmt: skip
    assert_done(shelf.light.commit(ORDERS, change))
    data = shelf.metadata()
    assert [field["name"] for field in data["schema"]["fields"]] == ["id", "label", "at"]
    assert data["partition-spec"] == data["partition-specs"][1]["fields"]


def test_gaps_in_format_1(tmp_path: Path) -> None:
    """Format 1 numbers partition fields from 1000 without a gap; anything else is refused."""
    gap = {"spec-id": 1, "fields": [{**BY_DAY["fields"][0], "field-id": 1005}]}  # type: ignore[index]
    with pytest.raises(Unfit, match="numbered from 1000 without a gap"):
        stage(creating(f"file://{tmp_path}", version=1, spec=gap), None, None)


def test_clocks_that_run_backwards(shelf: Shelf) -> None:
    """Metadata never becomes older than what it is based on, whatever our clock says."""
    future = 4_102_444_800_000
    staged = stage(properties(a="1"), raw(shelf, **{"last-updated-ms": future}), shelf.location())
    assert json.loads(staged.data)["last-updated-ms"] == future


@pytest.mark.parametrize(("value", "deletes"), [("true", True), ("TRUE", True), ("false", False), (None, False)])
def test_old_metadata_files(shelf: Shelf, value: str | None, deletes: bool) -> None:
    """Old metadata files go when the table's own settings say so, and only those it no longer keeps."""
    settings = {"write.metadata.previous-versions-max": "2"}
    if value is not None:
        settings["write.metadata.delete-after-commit.enabled"] = value
    folder = Path(shelf.location().removeprefix("file://")).parent
    assert_done(shelf.light.commit(ORDERS, properties(**settings)))
    for number in range(4):
        assert_done(shelf.light.commit(ORDERS, properties(n=str(number))))
    assert len(shelf.metadata()["metadata-log"]) == 2
    assert len(list(folder.iterdir())) == (3 if deletes else 6)
    assert all(
        Path(entry["metadata-file"].removeprefix("file://")).exists() for entry in shelf.metadata()["metadata-log"]
    )


def test_another_metadata_folder(shelf: Shelf) -> None:
    """The table's own folder for metadata is used from the commit on that sets it."""
    elsewhere = f"{shelf.warehouse}/elsewhere"
    assert_done(shelf.light.commit(ORDERS, properties(**{"write.metadata.path": f"{elsewhere}/"})))
    assert shelf.location().startswith(f"{elsewhere}/00001-")


def test_a_class_named_by_a_table(shelf: Shelf) -> None:
    """A class that a table's properties name is never imported: whoever may write a table could run code with it."""
    trap = {
        "py-io-impl": "no.such.Trap",
        "write.py-location-provider.impl": "no.such.Trap",
        "write.object-storage.enabled": "true",
    }
    assert_done(shelf.light.commit(ORDERS, properties(**trap)))
    assert_done(shelf.light.commit(ORDERS, properties(after="yes")))


@pytest.mark.parametrize(
    ("update", "words"),
    [
        ({"action": "set-properties", "updates": None}, "the updates cannot be read"),
        (
            {"action": "add-sort-order", "sort-order": {**BY_ID, "fields": [{"source-id": 1}]}},
            "the updates cannot be read: KeyError",
        ),
        ({"action": "assign-uuid", "uuid": "not a uuid"}, "cannot be read"),
    ],
)
def test_updates_that_are_none(shelf: Shelf, update: dict[str, Any], words: str) -> None:
    """A request nobody can read is refused in one line."""
    outcome = shelf.light.commit(ORDERS, changing(update))
    assert_refused(outcome, words)
    assert "\n" not in outcome.detail


def test_another_kind_of_entry(shelf: Shelf) -> None:
    """A view is no table to commit to."""
    with pytest.raises(Unfit, match="is a view, not an Iceberg table"):
        _as_view(shelf).format_version(ORDERS)
    assert_refused(_as_view(shelf).commit(ORDERS, properties(a="1")), "is a view, not an Iceberg table")


def _as_view(shelf: Shelf) -> Any:
    import sqlite3

    with sqlite3.connect(shelf.database) as connection:
        connection.execute("UPDATE iceberg_tables SET iceberg_type = 'VIEW'")
    connection.close()
    return shelf.light


def test_a_missing_file(shelf: Shelf) -> None:
    """A table whose metadata file is gone is refused with the file's name."""
    location = shelf.location()
    Path(location.removeprefix("file://")).unlink()
    assert_refused(shelf.light.commit(ORDERS, properties(a="1")), location)
    assert_refused(shelf.light.drop(ORDERS, UUID, purge=True), location)


def test_nothing_changed(shelf: Shelf) -> None:
    """A request that changes nothing stages nothing."""
    assert not stage(changing(), raw(shelf), shelf.location()).changed
    assert staging.why_not(2, changing()) is None

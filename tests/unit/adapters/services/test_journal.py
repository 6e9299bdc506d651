"""The journal of Glue and DynamoDB: shorter, and still the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from firnline.adapters.services import journal
from firnline.adapters.services.journal import Entry, Journal

AT = "2026-11-19T12:00:00+00:00"
# What a client may try: the kind of write, which database, which table or item, and a flag that means what it may.
Tries = list[tuple[str, str, str, bool]]
KINDS = ("database", "no database", "table", "update", "partition", "no table", "item", "no item")
TRIES = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from("ab"), st.sampled_from("xy"), st.booleans()))


def told(entries: Sequence[Entry]) -> dict[str, Any]:
    """What these entries come to, by a model of Glue and DynamoDB. An entry that does not fit fails."""
    state: dict[str, Any] = {}
    for number, entry in enumerate(entries):
        home, name = "/".join(entry.subject[:3]), "/".join(entry.subject)
        match entry.action:
            case "CreateDatabase":
                state[name] = {}
            case "DeleteDatabase":
                del state[name]
            case "CreateTable":
                state[home][name] = {"versions": {"1": entry.body["value"]}, "now": "1", "partitions": []}
            case "DeleteTable":
                del state[home][name]
            case "UpdateTable":
                table = state[home][name]
                assert entry.version is not None
                for version in entry.forgets:
                    table["versions"].pop(version, None)
                table["versions"][entry.version], table["now"] = entry.body["value"], entry.version
            case "CreatePartition":
                state[home][name]["partitions"].append(entry.body["value"])
            case "PutItem":
                state[name] = entry.body["value"]
            case "DeleteItem":
                state.pop(name, None)
            case _:
                raise AssertionError(f"{number}: {entry}")
    return state


def entries_of(tries: Tries) -> list[Entry]:
    """The entries of those tries that succeed, as a server would write them."""
    found: list[Entry] = []
    for number, (kind, database, name, flag) in enumerate(tries):
        state, home, table = told(found), f"glue/r/{database}", f"glue/r/{database}/{name}"
        tables = state.get(home)

        def add(action: str, *subject: str, value: int = number, **more: Any) -> None:
            found.append(Entry(f"T.{action}", "r", AT, subject, {"value": value}, **more))

        match kind:
            case "database" if tables is None:
                add("CreateDatabase", "glue", "r", database)
            case "no database" if tables is not None:
                add("DeleteDatabase", "glue", "r", database)
            case "table" if tables is not None and table not in tables:
                add("CreateTable", "glue", "r", database, name)
            case "no table" if tables and table in tables:
                add("DeleteTable", "glue", "r", database, name)
            case "partition" if tables and table in tables:
                add("CreatePartition", "glue", "r", database, name)
            case "update" if tables and table in tables:
                now = tables[table]["now"]
                add("UpdateTable", "glue", "r", database, name, version=str(int(now) + 1), forgets=(now,) * flag)
            case "item":
                add("PutItem", "dynamodb", "r", database, name)
            case "no item":
                add("DeleteItem", "dynamodb", "r", database, name)
    return found


@given(TRIES)
def test_a_compacted_journal_comes_to_the_same(tries: Tries) -> None:
    """Whatever was done, and wherever it was compacted before, the shorter journal leads to the same state."""
    entries = entries_of(tries)
    short = journal.compacted(entries)
    assert told(short) == told(entries)
    half = len(entries) // 2
    assert told(journal.compacted([*journal.compacted(entries[:half]), *entries[half:]])) == told(entries)


def test_it_grows_with_what_there_is() -> None:
    """A thousand commits to one table and a thousand writes of one item are three entries."""
    tries = [("database", "a", "x", True), ("table", "a", "x", True)]
    entries = entries_of(tries)
    for version in range(2, 1000):
        body = {"value": version}
        entries.append(
            Entry("T.UpdateTable", "r", AT, ("glue", "r", "a", "x"), body, str(version), (str(version - 1),))
        )
        entries.append(Entry("T.PutItem", "r", AT, ("dynamodb", "r", "a", "x"), body))
    assert [entry.action for entry in journal.compacted(entries)] == [
        "CreateDatabase",
        "CreateTable",
        "UpdateTable",
        "PutItem",
    ]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """A journal opened again has the entries it was given."""
    entries = entries_of([("database", "a", "x", True), ("table", "a", "x", True), ("update", "a", "x", True)])
    Journal(tmp_path / "journal").append(entries)
    assert Journal(tmp_path / "journal").entries == entries


def test_half_an_entry_was_acknowledged_to_nobody(tmp_path: Path) -> None:
    """A last line without its end is left out, and the next entry does not run into it."""
    entries = entries_of([("database", "a", "x", True), ("database", "b", "x", True)])
    path = tmp_path / "journal"
    Journal(path).append(entries)
    path.write_bytes(path.read_bytes()[:-7])
    opened = Journal(path)
    assert opened.entries == entries[:1]
    opened.append(entries[1:])
    assert Journal(path).entries == entries

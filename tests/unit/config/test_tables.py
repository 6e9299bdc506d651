"""Table files: every form a declaration may be written in, and what is warned of."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from firnline.config import placing, tables, typetext
from firnline.config.values import Declaration, DeclaredConsumer, DeclaredPartition, DeclaredRef, DeclaredSort
from firnline.core.errors import BadFiles, BadInput
from firnline.core.types import Decimal, Field, Fixed, ListOf, MapOf, Primitive, Struct, show

LONG, TEXT, TIME = Primitive("long"), Primitive("string"), Primitive("timestamptz")


def read(text: str) -> Declaration:
    """The declaration in this text."""
    return tables.read(text.encode(), "t.yaml")[0]


def columns(text: str) -> Struct:
    """The columns of a table written so."""
    return read(f"table: a.b\nformat-version: 3\ncolumns:\n{text}").schema


@pytest.mark.parametrize(
    "text",
    [
        "  - x: struct<a: long required, b: list<string>>\n",
        "  - {name: x, type: 'struct<a: long required, b: list<string>>'}\n",
        "  - name: x\n    type: struct\n    fields:\n      - a: long required\n      - b: list<string>\n",
        "  - name: x\n    fields:\n      - {name: a, type: long, required: true}\n      - {name: b, element: string}\n",
    ],
)
def test_every_form_of_a_column_means_the_same(text: str) -> None:
    """On one line or in keys, short or full: the same struct."""
    inner = Struct((Field("a", LONG, required=True), Field("b", ListOf(TEXT))))
    quoted = text.replace(
        "x: struct<a: long required, b: list<string>>", 'x: "struct<a: long required, b: list<string>>"'
    )
    assert columns(quoted) == Struct((Field("x", inner),))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("decimal(9, 2)", Decimal(9, 2)),
        ("fixed[16]", Fixed(16)),
        ("fixed(16)", Fixed(16)),
        ("LONG", LONG),
        ("list<long required>", ListOf(LONG, True)),
        ("map<string, long required>", MapOf(TEXT, LONG, True)),
        ("struct<>", Struct(())),
        ("struct<`a b`: long, `c``d`: string>", Struct((Field("a b", LONG), Field("c`d", TEXT)))),
        ("list<list<map<string, struct<a: timestamptz>>>>", ListOf(ListOf(MapOf(TEXT, Struct((Field("a", TIME),)))))),
    ],
)
def test_types_on_one_line(text: str, expected: object) -> None:
    """A type is read from its text."""
    assert typetext.parse(text) == (expected, False)
    assert typetext.parse(f"{text} required") == (expected, True)


@pytest.mark.parametrize(
    "text", ["", "list<", "list<long", "struct<a>", "map<string>", "long long", "decimal(2,3)", "a" * 9]
)
def test_text_that_is_no_type(text: str) -> None:
    """What is no type is bad input, with what was probably meant where that can be told."""
    with pytest.raises(BadInput):
        typetext.parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at", DeclaredPartition("identity", ("at",))),
        ("day(at)", DeclaredPartition("day", ("at",))),
        ("bucket(16, id)", DeclaredPartition("bucket[16]", ("id",))),
        ("TRUNCATE(3, `a.b`.c)", DeclaredPartition("truncate[3]", ("a.b", "c"))),
        ("void(x)", DeclaredPartition("void", ("x",))),
    ],
)
def test_partitions_read_and_show(text: str, expected: DeclaredPartition) -> None:
    """A partition is read from its text, and shown as text that reads the same."""
    transform, column = expected.transform, expected.column
    assert placing._call(text) == (transform, column)
    assert placing._call(placing.show_partition(expected)) == (transform, column)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at", DeclaredSort("identity", ("at",), "asc", "nulls-first")),
        ("at desc", DeclaredSort("identity", ("at",), "desc", "nulls-last")),
        ("at desc nulls first", DeclaredSort("identity", ("at",), "desc", "nulls-first")),
        ("bucket(4, id) NULLS LAST", DeclaredSort("bucket[4]", ("id",), "asc", "nulls-last")),
        ("`a b` DESC", DeclaredSort("identity", ("a b",), "desc", "nulls-last")),
    ],
)
def test_sort_keys_read_and_show(text: str, expected: DeclaredSort) -> None:
    """A sort key is read from its text, and shown as text that reads the same."""
    assert placing._sort(text) == expected
    assert placing._sort(placing.show_sort(expected)) == expected


def test_everything_a_file_can_say() -> None:
    """Each key of a table file ends in its place of the declaration."""
    made = read("""
table: "`odd.ns`.t"
description: words
owner: ann
format-version: 3
location: "file:///x"
columns:
  - id: long required
  - {name: renamed, type: string, was: old, doc: what it is}
  - {name: n, type: int, initial-default: 1, write-default: 2}
identifier: [id]
partition: [{transform: bucket(4), column: id, name: part}]
sort: [{column: renamed, direction: desc, nulls: first}]
properties: {a: 1, b: null, c: yes}
branches: {audit: {keep: 7d, max-snapshot-age: 1d, min-snapshots: 3}, gone: null}
tags: {v1: {snapshot: 12}}
policy: {target-file-size: 128MiB, orphans: off}
readers: [spark, athena, spark]
subjects: [renamed]
consumers: [{id: feed, max-lag: 2h}, {id: other}]
protect: true
accept: [{change: drop-column, column: x, reason: "nobody reads it"}]
""")
    assert (made.identifier.namespace, made.identifier.name) == (("odd.ns",), "t")
    assert made.was == {("renamed",): "old"}
    assert made.schema.fields[2].initial_default == 1
    assert made.schema.fields[2].write_default == 2
    assert made.partition == (DeclaredPartition("bucket[4]", ("id",), "part"),)
    assert made.order == (DeclaredSort("identity", ("renamed",), "desc", "nulls-first"),)
    assert made.properties == {"a": "1", "b": None, "c": "yes"}
    assert made.refs == (
        DeclaredRef("audit", "branch", None, timedelta(days=7), timedelta(days=1), 3),
        DeclaredRef("gone", "branch", absent=True),
        DeclaredRef("v1", "tag", 12),
    )
    assert made.readers == ("spark", "athena")
    assert made.consumers == (DeclaredConsumer("feed", timedelta(hours=2)), DeclaredConsumer("other"))
    assert made.policy == {"target-file-size": "128MiB", "orphans": "off"}
    assert (made.source.line("columns.renamed"), made.source.line("policy.orphans")) == (9, 17)


@pytest.mark.parametrize(
    ("key", "real"),
    [
        ("write.fanout.enabled", "write.spark.fanout.enabled"),
        ("write.target-file-size", "write.target-file-size-bytes"),
        ("write.parquet.compresion-codec", "write.parquet.compression-codec"),
        ("wirte.format.default", "write.format.default"),
        ("write.metadata.metrics.colum.id", "write.metadata.metrics.column.COLUMN"),
        ("write.nonsense.entirely-new", "documentation"),
    ],
)
def test_a_mistaken_property_is_warned_of(key: str, real: str) -> None:
    """A name Iceberg would ignore is warned of with its line and the real one; the file is read all the same."""
    text = f"table: a.b\ncolumns: [{{id: long}}]\nproperties:\n  {key}: x\n"
    made, (warning,) = tables.read(text.encode(), "t.yaml")
    assert made.properties == {key: "x"}
    assert (warning.line, warning.key) == (4, f"properties.{key}")
    assert real in str(warning)


@pytest.mark.parametrize(
    "key", ["write.format.default", "write.metadata.metrics.column.a.b", "mine", "my.team.tier", "engine.hive.enabled"]
)
def test_a_real_property_and_ones_of_your_own_are_not_warned_of(key: str) -> None:
    """Known names, families of names, and names outside Iceberg's own are fine."""
    assert tables.read(f"table: a.b\ncolumns: [{{id: long}}]\nproperties: {{{key}: x}}\n".encode(), "t.yaml")[1] == ()


def test_columns_that_differ_in_case_are_warned_of() -> None:
    """Spark and Athena would see one column."""
    (warning,) = tables.read(b"table: a.b\ncolumns: [{id: long}, {ID: long}]\n", "t.yaml")[1]
    assert "differ only in case" in str(warning)


def test_a_dotted_column_that_collides_is_refused() -> None:
    """Iceberg finds fields by their dotted name: two must not share one."""
    with pytest.raises(BadFiles, match="same dotted name"):
        read('table: a.b\ncolumns: [{a: "struct<b: long>"}, {"a.b": long}]\n')


def test_all_files_are_read_and_all_complained_of(tmp_path: Path) -> None:
    """Files in any depth and with either ending; hidden ones and others are not; complaints come together."""
    folder = tmp_path / "tables" / "deep" / "er"
    folder.mkdir(parents=True)
    (tmp_path / "tables" / ".hidden.yaml").write_text("nonsense", encoding="utf-8")
    (tmp_path / "tables" / "notes.txt").write_text("nonsense", encoding="utf-8")
    for number, name in enumerate(("a.yaml", "deep/b.yml", "deep/er/c.yaml")):
        path = tmp_path / "tables" / name
        path.write_text(f"table: ns.t{number}\ncolumns: [{{id: long}}]\n", encoding="utf-8")
    assert [str(one.identifier) for one in tables.load(tmp_path).declarations] == ["ns.t0", "ns.t1", "ns.t2"]
    for name in ("a.yaml", "deep/b.yml"):
        (tmp_path / "tables" / name).write_text("table: x.y\n", encoding="utf-8")
    with pytest.raises(BadFiles) as caught:
        tables.load(tmp_path)
    assert {one.file for one in caught.value.complaints} == {"tables/a.yaml", "tables/deep/b.yml"}


def test_a_project_without_tables_declares_nothing(tmp_path: Path) -> None:
    """No folder, no declaration, no complaint."""
    assert tables.load(tmp_path) == tables.LoadedTables(())


def test_shown_types_read_back() -> None:
    """What messages show of a type is what a file may say."""
    of = Struct((Field("a", ListOf(Decimal(9, 2))), Field("b", MapOf(TEXT, Fixed(3)))))
    assert typetext.parse(show(of)) == (of, False)

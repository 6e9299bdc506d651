"""Cases of columns: added, dropped, renamed, retyped, required, documented, moved, at every depth."""

from __future__ import annotations

from dataclasses import replace

from firnline.config.values import DeclaredConsumer
from firnline.core.types import Field, Primitive, Struct
from firnline.tables.values import NOTHING, ChangeKind, Evidence, Price, SpecFacts
from tests.decisions import drafts
from tests.decisions.case import (
    ALL,
    DEBT,
    DROP,
    EMPTY,
    FORMATS,
    FULL,
    RENAME,
    REQUIRE,
    REWRITE,
    UNCOUNTED,
    Case,
    Expected,
    Result,
    case,
)
from tests.decisions.drafts import accept, add, add_in, alter, partition, rename, retype, without

_NESTED = "struct<sku: string, qty: int>"
ORDERS = drafts.declare(
    "id: long required",
    "at: timestamptz",
    "amount: decimal(9,2)",
    "qty: int",
    "ratio: float",
    "note: string",
    "address: struct<city: string, zip: int>",
    f"lines: list<{_NESTED}>",
    f"offers: map<string, {_NESTED}>",
    f"stock: map<{_NESTED}, int>",
    "tags: list<int required>",
)
READ = replace(ORDERS, readers=("trino",), consumers=(DeclaredConsumer("billing"),))
WHO = ("trino", "billing")
KEY = "the key of a map may not change"
GONE = "dropping it cannot be undone"


def _added(
    path: str, result: Result = Result.PLANNED, says: str = "existing rows read null", **more: object
) -> Expected:
    return Expected(ChangeKind.ADD_COLUMN, path, result, says=says, **more)  # type: ignore[arg-type] # passes names on


def _dropped(path: str, result: Result = Result.ACCEPTABLE, says: str = "", **more: object) -> Expected:
    says = says or (GONE if result is Result.ACCEPTABLE else "no later schema can read them again")
    return Expected(ChangeKind.DROP_COLUMN, path, result, DROP, says=says, **{"price": ALL, **more})  # type: ignore[arg-type] # as above


def _moved(path: str = "columns") -> Expected:
    return Expected(ChangeKind.MOVE_COLUMNS, path)


def _widened(path: str) -> Expected:
    return Expected(ChangeKind.WIDEN_COLUMN, path, says="files keep the old type")


def _retyped(path: str, says: str, recipe: str = "Add a new column") -> Expected:
    return Expected(ChangeKind.CHANGE_TYPE, path, Result.REFUSED, REWRITE, ALL, says, recipe=recipe)


ADDED: tuple[Case, ...] = (
    *case("a new optional column at the end", ORDERS, add(ORDERS, "gift: boolean"), _added("gift"), formats=FORMATS),
    *case("a new column between others", ORDERS, add(ORDERS, "gift: boolean", 1), _added("gift"), _moved()),
    *case("a new struct: one change, not one for each field", ORDERS, add(ORDERS, f"gift: {_NESTED}"), _added("gift")),
    *case("a new field in a struct", ORDERS, add_in(ORDERS, "address", "land: string"), _added("address.land")),
    *case(
        "a new field in a list's struct", ORDERS, add_in(ORDERS, "lines.element", "x: int"), _added("lines.element.x")
    ),
    *case("a new field in a map's value", ORDERS, add_in(ORDERS, "offers.value", "x: int"), _added("offers.value.x")),
    *case(
        "a new field in a map's key",
        ORDERS,
        add_in(ORDERS, "stock.key", "x: int"),
        _added("stock.key.x", Result.REFUSED, KEY),
    ),
    *case(
        "a new required column; the table has rows",
        ORDERS,
        add(ORDERS, "gift: boolean required"),
        _added("gift", Result.REFUSED, "existing rows have no value for it", price=ALL, recipe="backfill it"),
        formats=FORMATS,
    ),
    *case(
        "a new required column; nobody knows whether the table has rows",
        ORDERS,
        add(ORDERS, "gift: boolean required"),
        _added("gift", Result.REFUSED, "existing rows have no value for it", price=Price(None, None, None)),
        evidence=UNCOUNTED,
    ),
    *case(
        "a new required column; the table is empty",
        ORDERS,
        add(ORDERS, "gift: boolean required"),
        _added("gift"),
        evidence=EMPTY,
    ),
    *case(
        "a new required column; every file is gone again",
        ORDERS,
        add(ORDERS, "gift: boolean required"),
        _added("gift"),
        evidence=Evidence({0: SpecFacts(0, 0, 0)}),
    ),
    *case(
        "a new required column with a default",
        ORDERS,
        alter(add(ORDERS, "gift: boolean required"), "gift", initial_default=False, write_default=False),
        _added("gift", says="existing rows read the default"),
        formats=(3,),
    ),
)
DROPPED: tuple[Case, ...] = (
    *case("a column fewer", READ, without(READ, "note"), _dropped("note", readers=WHO), formats=FORMATS),
    *case(
        "a column fewer, accepted",
        READ,
        replace(without(READ, "note"), accept=accept("drop-column", "note")),
        _dropped("note", Result.ACCEPTED, readers=WHO),
    ),
    *case(
        "a column fewer; another one's drop is accepted",
        ORDERS,
        replace(without(ORDERS, "note"), accept=accept("drop-column", "ratio")),
        _dropped("note"),
        note="`accept: drop-column of ratio` is not needed any more",
    ),
    *case(
        "a column fewer; the table is empty",
        ORDERS,
        without(ORDERS, "note"),
        _dropped("note", price=NOTHING),
        evidence=EMPTY,
    ),
    *case("a field fewer in a struct", ORDERS, without(ORDERS, "address.zip"), _dropped("address.zip")),
    *case(
        "a field fewer in a list's struct", ORDERS, without(ORDERS, "lines.element.qty"), _dropped("lines.element.qty")
    ),
    *case(
        "a field fewer in a map's key",
        ORDERS,
        without(ORDERS, "stock.key.qty"),
        _dropped("stock.key.qty", Result.REFUSED, KEY),
    ),
    *case(
        "a struct fewer: one change, not one for each field", ORDERS, without(ORDERS, "address"), _dropped("address")
    ),
    *case(
        "the same column in other letters",
        ORDERS,
        add(without(ORDERS, "tags"), "Tags: list<int required>"),
        _added("Tags"),
        _dropped("tags", recipe="To rename it instead, write `was: tags` at column Tags."),
    ),
    *case(
        "a column fewer, and the partition over it; files of that partition are live",
        replace(ORDERS, partition=(partition("day at"),)),
        without(ORDERS, "at"),
        _dropped("at", Result.REFUSED, "partition spec 0 of live files stands on it", recipe="rewrite the files"),
        Expected(ChangeKind.PARTITION, "partition", classes=DEBT, price=ALL),
    ),
    *case(
        "a column fewer, and the partition over it; no file is live",
        replace(ORDERS, partition=(partition("day at"),)),
        replace(without(ORDERS, "at"), accept=accept("drop-column", "at")),
        _dropped("at", Result.ACCEPTED, price=NOTHING),
        Expected(ChangeKind.PARTITION, "partition"),
        evidence=EMPTY,
    ),
    *case(
        "a column fewer, and the sort order over it",
        replace(ORDERS, order=(drafts.sort("identity note"),)),
        without(ORDERS, "note"),
        _dropped("note"),
        Expected(ChangeKind.SORT, "sort"),
    ),
)
RENAMED: tuple[Case, ...] = (
    *case(
        "a column by another name, with `was:`",
        READ,
        rename(READ, "note", "remark"),
        Expected(ChangeKind.RENAME_COLUMN, "remark", classes=RENAME, says="field id 6 stays", readers=WHO),
        formats=FORMATS,
    ),
    *case(
        "a field of a struct by another name, with `was:`",
        ORDERS,
        rename(ORDERS, "address.zip", "post code"),
        Expected(ChangeKind.RENAME_COLUMN, "address.post code", classes=RENAME, says="stays"),
    ),
    *case(
        "a column by another name, without `was:`",
        ORDERS,
        replace(rename(ORDERS, "tags", "labels"), was={}),
        _added("labels"),
        _dropped("tags"),
    ),
    *case(
        "`was:` names a column that is still declared",
        ORDERS,
        replace(add(ORDERS, "remark: string"), was={("remark",): "note"}),
        _added("remark"),
    ),
    *case("`was:` of a rename that is done", ORDERS, replace(ORDERS, was={("note",): "remark"})),
    *case(
        "another name and a wider type at once",
        ORDERS,
        retype(rename(ORDERS, "qty", "count"), "count", "long"),
        Expected(ChangeKind.RENAME_COLUMN, "count", classes=RENAME),
        _widened("count"),
    ),
    *case(
        "a field of a map's key by another name",
        ORDERS,
        rename(ORDERS, "stock.key.qty", "count"),
        Expected(ChangeKind.RENAME_COLUMN, "stock.key.count", classes=RENAME),
    ),
)
RETYPED: tuple[Case, ...] = (
    *case("int becomes long", ORDERS, retype(ORDERS, "qty", "long"), _widened("qty"), formats=FORMATS),
    *case("float becomes double", ORDERS, retype(ORDERS, "ratio", "double"), _widened("ratio")),
    *case("more digits before the point", ORDERS, retype(ORDERS, "amount", "decimal(18,2)"), _widened("amount")),
    *case("int becomes long in a struct", ORDERS, retype(ORDERS, "address.zip", "long"), _widened("address.zip")),
    *case("int becomes long in a list", ORDERS, retype(ORDERS, "tags.element", "long"), _widened("tags.element")),
    *case("int becomes long in a map's value", ORDERS, retype(ORDERS, "stock.value", "long"), _widened("stock.value")),
    *case(
        "int becomes long in a map's key",
        ORDERS,
        retype(ORDERS, "stock.key.qty", "long"),
        Expected(ChangeKind.WIDEN_COLUMN, "stock.key.qty", Result.REFUSED, says=KEY),
    ),
    *case(
        "long becomes int",
        ORDERS,
        retype(ORDERS, "id", "int"),
        _retyped("id", "a narrower type may not hold", "`id_new` of type int; backfill it"),
        formats=FORMATS,
    ),
    *case("fewer digits", ORDERS, retype(ORDERS, "amount", "decimal(8,2)"), _retyped("amount", "a narrower type")),
    *case(
        "more digits after the point",
        ORDERS,
        retype(ORDERS, "amount", "decimal(18,4)"),
        _retyped("amount", "a narrower type"),
    ),
    *case(
        "string becomes int", ORDERS, retype(ORDERS, "note", "int"), _retyped("note", "does not turn string into int")
    ),
    *case("timestamptz becomes timestamp", ORDERS, retype(ORDERS, "at", "timestamp"), _retyped("at", "does not turn")),
    *case(
        "a struct becomes text",
        ORDERS,
        retype(ORDERS, "address", "string"),
        _retyped("address", "does not turn struct<city: string, zip: int> into string"),
        _dropped("address.city"),
        _dropped("address.zip"),
    ),
    *case(
        "date becomes timestamp",
        drafts.declare("day: date"),
        drafts.declare("day: timestamp"),
        _widened("day"),
        formats=(3,),
    ),
    *case(
        "date becomes timestamp, and a partition over its months",
        drafts.declare("day: date", partition=(partition("month day"),)),
        drafts.declare("day: timestamp", partition=(partition("month day"),)),
        _widened("day"),
        formats=(3,),
    ),
    *case(
        "date becomes timestamp, and a bucket over it",
        drafts.declare("day: date", partition=(partition("bucket[4] day"),)),
        drafts.declare("day: timestamp"),
        _retyped("day", "a partition holds its values, and those of timestamp are others"),
        Expected(ChangeKind.PARTITION, "partition", classes=DEBT, price=ALL),
        formats=(3,),
    ),
    *case(
        "date becomes timestamp, before format 3",
        drafts.declare("day: date"),
        drafts.declare("day: timestamp"),
        _retyped("day", "this widening needs format version 3"),
        formats=(1, 2),
    ),
)


def _null(count: int | None, *, counted: bool = False) -> Evidence:
    return replace(FULL, nulls={6: count}, counted=counted)


_MUST = alter(ORDERS, "note", required=True)
_SURE = replace(_MUST, accept=accept("require-column", "note"))


def _require(result: Result, says: str, path: str = "note", recipe: str = "") -> Expected:
    return Expected(ChangeKind.REQUIRE_COLUMN, path, result, REQUIRE, says=says, recipe=recipe)


REQUIRED: tuple[Case, ...] = (
    *case(
        "required; the metrics of every file say no nulls",
        ORDERS,
        _MUST,
        _require(Result.ACCEPTABLE, "it makes writers fail", recipe="change: require-column, column: note"),
        evidence=_null(0),
        formats=FORMATS,
    ),
    *case(
        "required, accepted; the metrics say no nulls",
        ORDERS,
        _SURE,
        _require(Result.ACCEPTED, "no nulls now, says the metrics of every live file"),
        evidence=_null(0),
    ),
    *case(
        "required, accepted; a count says no nulls",
        ORDERS,
        _SURE,
        _require(Result.ACCEPTED, "no nulls now, says a count"),
        evidence=_null(0, counted=True),
    ),
    *case(
        "required, accepted; there are nulls",
        ORDERS,
        _SURE,
        _require(Result.REFUSED, "4,100 rows are null in it, says the metrics", recipe="WHERE note IS NULL"),
        evidence=_null(4100),
    ),
    *case(
        "required, accepted; a count finds nulls",
        ORDERS,
        _SURE,
        _require(Result.REFUSED, "3 rows are null in it, says a count"),
        evidence=_null(3, counted=True),
    ),
    *case(
        "required, accepted; the metrics cannot tell",
        ORDERS,
        _SURE,
        _require(Result.REFUSED, "whether it holds nulls is unknown", recipe="--count"),
        evidence=_null(None),
    ),
    *case("required, accepted; nobody looked", ORDERS, _SURE, _require(Result.REFUSED, "is unknown")),
    *case(
        "required, accepted; the table is empty",
        ORDERS,
        _SURE,
        _require(Result.ACCEPTED, "no nulls now"),
        evidence=EMPTY,
    ),
    *case(
        "required inside a struct",
        ORDERS,
        replace(alter(ORDERS, "address.city", required=True), accept=accept("require-column", "address.city")),
        _require(Result.REFUSED, "null counts cannot prove a nested field", "address.city"),
        evidence=EMPTY,
    ),
    *case(
        "no longer required",
        ORDERS,
        alter(ORDERS, "id", required=False),
        Expected(ChangeKind.RELAX_COLUMN, "id", says="readers may now meet nulls"),
        formats=FORMATS,
    ),
    *case(
        "no longer required in a list",
        ORDERS,
        drafts.edit(ORDERS, "tags.element", lambda field: replace(field, required=False)),
        Expected(ChangeKind.RELAX_COLUMN, "tags.element"),
    ),
)


def _default(old: object = None, new: object = None) -> Struct:
    return Struct((Field("id", Primitive("long"), True), Field("qty", Primitive("int"), False, None, None, old, new)))


_DEFAULTED = replace(ORDERS, schema=_default(1, 1))
DESCRIBED: tuple[Case, ...] = (
    *case(
        "words for a column",
        ORDERS,
        alter(ORDERS, "note", doc="free text"),
        Expected(ChangeKind.DOCUMENT_COLUMN, "note"),
    ),
    *case("words taken away", alter(ORDERS, "note", doc="old"), ORDERS, Expected(ChangeKind.DOCUMENT_COLUMN, "note")),
    *case("empty words for none", ORDERS, alter(ORDERS, "note", doc="")),
    *case(
        "words inside a list's struct",
        ORDERS,
        alter(ORDERS, "lines.element.sku", doc="stock keeping unit"),
        Expected(ChangeKind.DOCUMENT_COLUMN, "lines.element.sku"),
    ),
    *case(
        "another order", ORDERS, replace(ORDERS, schema=Struct(ORDERS.schema.fields[::-1])), _moved(), formats=FORMATS
    ),
    *case(
        "another order inside a struct",
        ORDERS,
        retype(ORDERS, "address", "struct<zip: int, city: string>"),
        _moved("address"),
    ),
    *case(
        "another default for rows to come",
        _DEFAULTED,
        replace(ORDERS, schema=_default(1, 2)),
        Expected(ChangeKind.DEFAULT_COLUMN, "qty", says="for rows to come"),
        formats=(3,),
    ),
    *case(
        "no default for rows to come any more",
        _DEFAULTED,
        replace(ORDERS, schema=_default(1, None)),
        Expected(ChangeKind.DEFAULT_COLUMN, "qty"),
        formats=(3,),
    ),
    *case(
        "another default for rows from before the column",
        _DEFAULTED,
        replace(ORDERS, schema=_default(2, 1)),
        Expected(ChangeKind.DEFAULT_COLUMN, "qty", Result.REFUSED, says="it may never change", recipe="write-default"),
        formats=(3,),
    ),
    *case(
        "a default for rows from before a column that is there already",
        replace(ORDERS, schema=_default()),
        replace(ORDERS, schema=_default(1, None)),
        Expected(ChangeKind.DEFAULT_COLUMN, "qty", Result.REFUSED, says="it may never change"),
        formats=(3,),
    ),
    *case(
        "the default for rows from before the column left out: the table's stays",
        _DEFAULTED,
        replace(ORDERS, schema=_default(None, 1)),
        formats=(3,),
    ),
)
CASES = (*ADDED, *DROPPED, *RENAMED, *RETYPED, *REQUIRED, *DESCRIBED)

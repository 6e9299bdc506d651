"""Cases beside the columns: identifier, layout, properties, format, location, refs, and whole tables and namespaces."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from firnline.config.values import Declaration, DeclaredDrop, DeclaredRef, NamespaceSettings
from firnline.core.layout import PartitionField, PartitionSpec
from firnline.tables.values import NOTHING, ChangeClass, ChangeKind, Evidence, Price, SpecFacts
from tests.decisions import drafts
from tests.decisions.case import (
    ALL,
    DEBT,
    EMPTY,
    FORMATS,
    META,
    ONE_WAY,
    REWRITE,
    UNCOUNTED,
    Case,
    Expected,
    Result,
    case,
)
from tests.decisions.drafts import accept, branch, partition, ref, snapshot, sort, tag

ORDERS = drafts.declare("id: long required", "at: timestamptz", "region: string", "place: struct<city: string>")
BY_DAY = replace(ORDERS, partition=(partition("day at"),))
BY_REGION = replace(ORDERS, partition=(partition("identity region"),))
BUCKETED = replace(ORDERS, partition=(partition("bucket[16] id"),))
SORTED = replace(ORDERS, order=(sort("identity id"),))


def _partition(price: Price = ALL, says: str = "existing files keep their spec") -> Expected:
    classes = META if price.files == 0 else DEBT
    return Expected(
        ChangeKind.PARTITION, "partition", classes=classes, price=price, says="" if price.files == 0 else says
    )


def _sort(price: Price = ALL) -> Expected:
    return Expected(ChangeKind.SORT, "sort", classes=META if price.files == 0 else DEBT, price=price)


def _identify() -> Expected:
    return Expected(ChangeKind.IDENTIFY, "identifier", says="nothing enforces it")


_UNPARTITIONED = PartitionSpec((), 0)
_SPECS = Evidence({0: SpecFacts(5, 50, 500), 1: SpecFacts(12, 3000, 4096)})
_VOID = PartitionSpec((PartitionField("at_day", "void", (2,), 1000),), 0)
LAYOUT: tuple[Case, ...] = (
    *case("an identifier", ORDERS, replace(ORDERS, identifier_fields=(("id",),)), _identify(), formats=FORMATS),
    *case("no identifier any more", replace(ORDERS, identifier_fields=(("id",),)), ORDERS, _identify()),
    *case("a partition where there was none", ORDERS, BY_DAY, _partition(), formats=FORMATS),
    *case(
        "a partition over a field of a struct",
        ORDERS,
        replace(ORDERS, partition=(partition("identity place.city"),)),
        _partition(),
    ),
    *case("a partition; the table is empty", ORDERS, BY_DAY, _partition(NOTHING), evidence=EMPTY),
    *case(
        "a partition; nobody counted the files", ORDERS, BY_DAY, _partition(Price(None, None, None)), evidence=UNCOUNTED
    ),
    *case("no partition any more", BY_DAY, ORDERS, _partition(), formats=FORMATS),
    *case("another partition instead", BY_DAY, BY_REGION, _partition(), formats=FORMATS),
    *case(
        "one partition more",
        BY_DAY,
        replace(ORDERS, partition=(*BY_DAY.partition, *BY_REGION.partition)),
        _partition(),
        formats=FORMATS,
    ),
    *case(
        "another number of buckets",
        BUCKETED,
        replace(ORDERS, partition=(partition("bucket[32] id"),)),
        _partition(),
        formats=FORMATS,
    ),
    *case(
        "another name for the partition field",
        BY_DAY,
        replace(ORDERS, partition=(partition("day at", "day"),)),
        _partition(),
        formats=FORMATS,
    ),
    *case(
        "the partition of an older spec again: files of that spec need nothing",
        drafts.table(BY_DAY, older=(_UNPARTITIONED,)),
        ORDERS,
        _partition(Price(12, 3000, 4096)),
        evidence=_SPECS,
    ),
    *case(
        "format 1, where the partition became void",
        drafts.table(replace(ORDERS, format_version=1), specs=(_VOID,)),
        ORDERS,
    ),
    *case(
        "format 1, the partition that became void again",
        drafts.table(replace(ORDERS, format_version=1), specs=(_VOID,), last_partition_id=1000),
        BY_DAY,
        _partition(),
    ),
    *case(
        "a partition field named like another column",
        ORDERS,
        replace(ORDERS, partition=(partition("day at", "region"),)),
        Expected(
            ChangeKind.PARTITION,
            "partition",
            Result.REFUSED,
            DEBT,
            ALL,
            "the partition field region is named like a column",
        ),
    ),
    *case("a sort order", ORDERS, SORTED, _sort(), formats=FORMATS),
    *case("a sort order; the table is empty", ORDERS, SORTED, _sort(NOTHING), evidence=EMPTY),
    *case("another direction", SORTED, replace(ORDERS, order=(sort("identity id", "desc"),)), _sort()),
    *case("no sort order any more", SORTED, ORDERS, _sort(NOTHING)),
)


def _set(key: str, says: str = "") -> Expected:
    return Expected(ChangeKind.SET_PROPERTY, key, says=says)


_TUNED = replace(ORDERS, properties={"write.target-file-size-bytes": "1048576"})
_V1 = replace(ORDERS, format_version=1)
_V2 = replace(ORDERS, format_version=2)
_V3 = replace(ORDERS, format_version=3)
_ATHENA = replace(_V3, readers=("spark", "athena", "clickhouse"))


def _upgrade(result: Result, says: str, readers: tuple[str, ...] = ()) -> Expected:
    classes = (*ONE_WAY, ChangeClass.BREAKS_READERS) if readers else ONE_WAY
    return Expected(ChangeKind.UPGRADE_FORMAT, "format-version", result, classes, NOTHING, says, readers)


def _downgrade() -> Expected:
    says = "a table never goes back"
    return Expected(ChangeKind.DOWNGRADE_FORMAT, "format-version", Result.REFUSED, REWRITE, ALL, says)


ATTRIBUTES: tuple[Case, ...] = (
    *case(
        "a property",
        ORDERS,
        _TUNED,
        _set("write.target-file-size-bytes", "existing files stay as they are"),
        formats=FORMATS,
    ),
    *case(
        "another value",
        _TUNED,
        replace(ORDERS, properties={"write.target-file-size-bytes": "2"}),
        _set("write.target-file-size-bytes"),
    ),
    *case(
        "an owner and a description",
        ORDERS,
        replace(ORDERS, owner="ann", description="Orders."),
        _set("comment"),
        _set("owner"),
    ),
    *case(
        "a property as null",
        _TUNED,
        replace(ORDERS, properties={"write.target-file-size-bytes": None}),
        Expected(ChangeKind.REMOVE_PROPERTY, "write.target-file-size-bytes"),
    ),
    *case("a property as null that is not there", ORDERS, replace(ORDERS, properties={"x": None})),
    *case(
        "nothing of a property that is there",
        _TUNED,
        ORDERS,
        note="not declared, left alone: write.target-file-size-bytes",
    ),
    *case("a higher format", _V1, _V2, _upgrade(Result.PLANNED, "there is no way back")),
    *case("format 3", _V2, _V3, _upgrade(Result.PLANNED, "row-level deletes are deletion vectors")),
    *case(
        "format 3, and readers that stop at format 2",
        _V2,
        _ATHENA,
        _upgrade(Result.ACCEPTABLE, "athena, clickhouse cannot read format 3", ("athena", "clickhouse")),
    ),
    *case(
        "format 3, accepted, and readers that stop at format 2",
        _V2,
        replace(_ATHENA, accept=accept("upgrade-format")),
        _upgrade(Result.ACCEPTED, "there is no way back", ("athena", "clickhouse")),
    ),
    *case(
        "format 3, and a reader nobody knows",
        _V2,
        replace(_V3, readers=("abacus",)),
        _upgrade(Result.ACCEPTABLE, "abacus", ("abacus",)),
    ),
    *case(
        "format 3 and a type of format 3 at once",
        drafts.declare("day: date", format_version=2),
        drafts.declare("day: timestamp", format_version=3),
        _upgrade(Result.PLANNED, ""),
        Expected(ChangeKind.WIDEN_COLUMN, "day"),
    ),
    *case("a lower format", _V3, _V2, _downgrade()),
    *case("format 1 for a table of format 2", _V2, _V1, _downgrade()),
    *case("no format for a table of format 1", _V1, ORDERS),
    *case(
        "another location",
        ORDERS,
        replace(ORDERS, location="file:///elsewhere/orders/"),
        Expected(ChangeKind.MOVE_LOCATION, "location", classes=DEBT, says="existing files stay at the old location"),
        formats=FORMATS,
    ),
    *case("the location it has, with a slash", ORDERS, replace(ORDERS, location="file:///w/shop/orders/")),
    *case(
        "an acceptance that nothing needs",
        ORDERS,
        replace(ORDERS, accept=accept("drop-column", "region")),
        note="`accept: drop-column of region` is not needed any more; take it out of the file.",
    ),
    *case(
        "an acceptance of an upgrade that is done",
        _V3,
        replace(_V3, accept=accept("upgrade-format")),
        note="`accept: upgrade-format` is not needed any more",
    ),
)


def _ref(subject: str, result: Result = Result.PLANNED, says: str = "") -> Expected:
    return Expected(ChangeKind.SET_REF, subject, result, says=says)


def _refs(*declared: DeclaredRef) -> Declaration:
    return replace(ORDERS, refs=declared)


_HELD = drafts.table(ORDERS, refs=(ref("dev", 1), ref("y25", 1, "tag")))
_WEEK = timedelta(days=7)
REFS: tuple[Case, ...] = (
    *case("a branch", ORDERS, _refs(branch("dev")), _ref("branch dev"), formats=FORMATS),
    *case("a tag at a snapshot", ORDERS, _refs(tag("y25", snapshot=1)), _ref("tag y25")),
    *case("a branch where its writers took it", _HELD, _refs(branch("dev"), tag("y25"))),
    *case("a branch at another snapshot", _HELD, _refs(branch("dev", snapshot=2), tag("y25")), _ref("branch dev")),
    *case(
        "another retention",
        _HELD,
        _refs(branch("dev", ref_age_max=_WEEK, snapshots_min=3), tag("y25")),
        _ref("branch dev"),
    ),
    *case("a tag at another snapshot", _HELD, _refs(branch("dev"), tag("y25", snapshot=2)), _ref("tag y25")),
    *case(
        "a tag at a snapshot that is not there",
        ORDERS,
        _refs(tag("y25", snapshot=9)),
        _ref("tag y25", Result.REFUSED, "no snapshot 9"),
    ),
    *case(
        "a tag of the name of a branch",
        _HELD,
        _refs(tag("dev"), tag("y25")),
        _ref("tag dev", Result.REFUSED, "dev is a branch already"),
    ),
    *case("retention of main", ORDERS, _refs(branch("main", snapshots_min=10)), _ref("branch main")),
    *case(
        "main at another snapshot",
        ORDERS,
        _refs(branch("main", snapshot=1)),
        _ref("branch main", Result.REFUSED, "moving main is a rollback"),
    ),
    *case(
        "a branch of a table without a snapshot",
        drafts.table(ORDERS, snapshots=()),
        _refs(branch("dev")),
        evidence=EMPTY,
        note="branch dev waits for the table's first snapshot",
    ),
    *case(
        "a branch as null",
        _HELD,
        _refs(branch("dev", absent=True), tag("y25")),
        Expected(ChangeKind.REMOVE_REF, "branch dev", says="become free to expire"),
    ),
    *case(
        "main as null",
        ORDERS,
        _refs(branch("main", absent=True)),
        Expected(ChangeKind.REMOVE_REF, "branch main", Result.REFUSED, says="main is the table"),
    ),
    *case("a branch as null that is not there", ORDERS, _refs(branch("dev", absent=True))),
    *case(
        "nothing of branches and tags that are there",
        _HELD,
        ORDERS,
        note="branches and tags not declared, left alone: dev, y25",
    ),
)


def _drop(*, purge: bool, protect: bool = False) -> Declaration:
    return replace(ORDERS, drop=DeclaredDrop(purge, drafts.REASON), protect=protect, readers=("trino",))


def _dropped(result: Result, classes: tuple[ChangeClass, ...], says: str, readers: tuple[str, ...]) -> Expected:
    return Expected(ChangeKind.DROP_TABLE, "shop.orders", result, classes, ALL, says, readers)


_THERE = drafts.table(ORDERS, snapshots=(snapshot(1),))
_BREAKS = (ChangeClass.BREAKS_READERS,)
_PURGES = (ChangeClass.ONE_WAY, ChangeClass.BREAKS_READERS)
_CREATED = Expected(ChangeKind.CREATE_TABLE, "shop.orders", says="at file:///w/shop/orders-")
_SHOP = NamespaceSettings(("shop",), location="file:///s", properties={"tier": "gold"}, owner="ann")
_NOT_THERE = Case("a table that is not there", ORDERS, (_CREATED,), kind=None, evidence=EMPTY)
TABLES: tuple[Case, ...] = (
    _NOT_THERE,
    replace(_NOT_THERE, words="a table and a tag, both not there", after=_refs(tag("y25")), note="tag y25 waits"),
    replace(
        _NOT_THERE,
        words="a table in a namespace that is not there",
        expect=(Expected(ChangeKind.CREATE_NAMESPACE, "shop"), _CREATED),
        namespaces={},
    ),
    replace(
        _NOT_THERE,
        words="a table in a namespace with a location",
        expect=(replace(_CREATED, says="at file:///s/orders-"),),
        namespaces={("shop",): {"location": "file:///s"}},
    ),
    Case(
        "a namespace of lakehouse.yaml that is not there",
        ORDERS,
        (Expected(ChangeKind.CREATE_NAMESPACE, "shop"),),
        _THERE,
        namespaces={},
        declared=(_SHOP,),
    ),
    Case(
        "other properties of a namespace",
        ORDERS,
        (Expected(ChangeKind.UPDATE_NAMESPACE, "owner"), Expected(ChangeKind.UPDATE_NAMESPACE, "tier")),
        _THERE,
        namespaces={("shop",): {"location": "file:///s", "tier": "silver", "made-by": "hand"}},
        declared=(_SHOP,),
    ),
    Case(
        "a table, where a view has the name",
        ORDERS,
        (Expected(ChangeKind.CREATE_TABLE, "shop.orders", Result.REFUSED, says="the catalog has a view of this name"),),
        kind="view",
        note="the catalog has a view of this name, which is not an Iceberg table",
    ),
    Case(
        "`drop:`", _drop(purge=False), (_dropped(Result.ACCEPTED, _BREAKS, "its files stay under", ("trino",)),), _THERE
    ),
    Case(
        "`drop:` with `purge: true`",
        _drop(purge=True),
        (_dropped(Result.ACCEPTED, _PURGES, "nothing brings them back", ("trino",)),),
        _THERE,
    ),
    Case(
        "`drop:` and `protect: true`",
        _drop(purge=True, protect=True),
        (_dropped(Result.REFUSED, _PURGES, "the table is protected", ()),),
        _THERE,
    ),
    Case("`drop:` of a table that is gone", _drop(purge=False), kind=None, evidence=EMPTY),
)
CASES = (*LAYOUT, *ATTRIBUTES, *REFS, *TABLES)

"""Partition specs and sort orders as values."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.config import typetext
from firnline.core import layout
from firnline.core.layout import PartitionField, PartitionSpec, SortField, SortOrder
from firnline.core.types import PRIMITIVES, Opaque, Primitive

# The specification's table of transforms ("Partition Transforms"): what each takes.
DATES = {"date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"}
TYPES = (*PRIMITIVES, "decimal(9,2)", "fixed[8]", "list<int>", "map<string, int>", "struct<a: int>")
NESTED = {"list<int>", "map<string, int>", "struct<a: int>"}
TAKES = {
    "identity": set(TYPES) - NESTED - {"variant", "unknown"},
    "year": DATES,
    "month": DATES,
    "day": DATES,
    "hour": DATES - {"date"},
    "bucket[16]": DATES | {"int", "long", "time", "string", "uuid", "binary", "decimal(9,2)", "fixed[8]"},
    "truncate[4]": {"int", "long", "string", "binary", "decimal(9,2)"},
    "void": set(TYPES),
    "zorder[3]": set(TYPES),  # a later version's: taken at its word
}


@pytest.mark.parametrize(("transform", "of"), list(itertools.product(TAKES, TYPES)))
def test_transforms_take_what_the_specification_says(transform: str, of: str) -> None:
    """For every transform and type, whether it is taken is Iceberg's table."""
    source = typetext.parse(of)[0]
    assert layout.accepts(transform, source) == (of in TAKES[transform])
    if not layout.accepts(transform, source):
        assert layout.why_not(transform, source).startswith(f"{transform} does not take {of}; it takes ")


def test_an_unknown_type_has_no_order() -> None:
    """A type kept as text is partitioned by nothing but void."""
    assert not layout.accepts("identity", Opaque("geometry"))
    assert layout.accepts("void", Opaque("geometry"))


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("day", ("day", None)),
        (" Bucket[16] ", ("bucket", 16)),
        ("truncate[1]", ("truncate", 1)),
        ("bucket[0]", None),
        ("bucket", None),
        ("bucket[x]", None),
        ("zorder", None),
    ],
)
def test_a_transform_is_read(text: str, parsed: tuple[str, int | None] | None) -> None:
    """A transform is its word and its number; one of a later version is None."""
    assert layout.parse_transform(text) == parsed


@pytest.mark.parametrize(
    ("transform", "name"),
    [
        ("identity", "at"),
        ("day", "at_day"),
        ("bucket[16]", "at_bucket"),
        ("truncate[4]", "at_trunc"),
        ("void", "at_null"),
    ],
)
def test_default_names_are_icebergs(transform: str, name: str) -> None:
    """A partition field without a name is called as Iceberg's own builders call it."""
    assert layout.default_name(transform, "at") == name


_ids = st.lists(st.integers(1, 99), min_size=1, max_size=3).map(tuple)
_parts = st.builds(PartitionField, st.text(min_size=1), st.sampled_from(list(TAKES)), _ids, st.integers(1000, 1099))
_keys = st.builds(
    SortField,
    st.sampled_from(list(TAKES)),
    _ids,
    st.sampled_from(["asc", "desc"]),
    st.sampled_from(["nulls-first", "nulls-last"]),
)


@given(st.builds(PartitionSpec, st.lists(_parts, max_size=4).map(tuple), st.integers(0, 9)))
def test_specs_survive_json(spec: PartitionSpec) -> None:
    """A spec is the same after being written as metadata and read back, with several sources too."""
    assert layout.spec_from_json(layout.spec_to_json(spec)) == spec


@given(st.builds(SortOrder, st.lists(_keys, max_size=4).map(tuple), st.integers(0, 9)))
def test_orders_survive_json(order: SortOrder) -> None:
    """A sort order is the same after being written as metadata and read back."""
    assert layout.order_from_json(layout.order_to_json(order)) == order


def test_a_spec_without_field_ids_counts_from_1000() -> None:
    """Early metadata of format 1 has no partition field ids: they count from 1000 in order."""
    fields = [{"name": name, "transform": "identity", "source-id": 1} for name in "ab"]
    spec = layout.spec_from_json({"spec-id": 0, "fields": fields})
    assert [field.field_id for field in spec.fields] == [1000, 1001]


def test_a_single_source_is_written_as_readers_of_old_formats_know_it() -> None:
    """One source is `source-id`, several are `source-ids`."""
    one = PartitionSpec((PartitionField("a", "identity", (1,), 1000), PartitionField("b", "x", (1, 2), 1001)), 0)
    written = layout.spec_to_json(one)["fields"]
    assert [("source-id" in field, "source-ids" in field) for field in written] == [(True, False), (False, True)]


def test_every_offered_transform_is_known() -> None:
    """The transforms named in messages are transforms."""
    for text in layout.TRANSFORMS:
        assert layout.parse_transform(text.replace("N", "1").replace("W", "1")) is not None
    assert layout.accepts("day", Primitive("date"))

"""Everything a table refers to, and where its files may lie."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firnline.facts import places
from firnline.facts.lines import Status
from firnline.facts.references import Referenced, locations, references
from tests.facts_building import TABLE, Line, Shelves, snapshot_of, table_of


def with_paths(**properties: str) -> tuple[str, ...]:
    return locations(table_of([], properties={key.replace("_", "."): value for key, value in properties.items()}))


def test_locations() -> None:
    """A table's locations: where it is and where its properties send writers, none inside another, none twice."""
    assert with_paths() == (TABLE,)
    assert with_paths(write_data_path="s3://b/d", write_metadata_path="s3a://b/m/") == (TABLE, "s3://b/d", "s3a://b/m")
    assert with_paths(write_data_path="/w/t/data", write_metadata_path="file:/w//t") == (TABLE,)
    assert with_paths(write_data_path="file:///w") == ("file:///w",)
    assert with_paths(**{"write_object-storage_path": "s3://b/x/y", "write_data_path": "s3://b/x"}) == (
        TABLE,
        "s3://b/x",
    )


def test_tombstones_hold_nothing() -> None:
    """A file that only a tombstone names is not referred to; manifests, lists and metadata are."""
    meta = table_of(
        [snapshot_of(1)],
        current=1,
        metadata_log=((1, f"{TABLE}/metadata/0.metadata.json"),),
        statistics=({"statistics-path": f"{TABLE}/metadata/1.stats"}, {"snapshot-id": 1}, "?"),
        partition_statistics=({"statistics-path": f"{TABLE}/metadata/p.parquet"}, {"statistics-path": 7}),
    )
    lines = {
        "m": (
            Line(f"{TABLE}/a", status=Status.DELETED),
            Line(f"{TABLE}/b"),
            Line("/elsewhere/c", status=Status.EXISTING),
        )
    }
    found = references(meta, Shelves({f"{TABLE}/metadata/snap-1.avro": ["m"]}, lines))
    named = [f"{TABLE}/b", "/elsewhere/c", "m", meta.location, *(
        f"{TABLE}/metadata/{name}" for name in ("snap-1.avro", "0.metadata.json", "1.stats", "p.parquet")
    )]  # fmt: skip
    at = found.find(places.of([*named, f"{TABLE}/a"]))
    assert sorted(at[:-1].tolist()) == list(range(len(found.high)))
    assert at[-1] == -1
    assert np.flatnonzero(found.live).tolist() == at[:1].tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12), st.data())
def test_find(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    """A place is found by both halves of its hash, however many share one half."""
    known = sorted(set(pairs))
    high, low = (np.array([pair[half] for pair in known], np.uint64) for half in (0, 1))
    found = Referenced(high, low, np.zeros(len(known), np.bool_), (), lambda: iter(()))
    asked = data.draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4))))
    at = found.find((np.array([a for a, _ in asked], np.uint64), np.array([b for _, b in asked], np.uint64)))
    assert at.tolist() == [known.index(pair) if pair in known else -1 for pair in asked]

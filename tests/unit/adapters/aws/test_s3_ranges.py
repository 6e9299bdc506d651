"""The two ways to list, held against a sorted list: no server is needed to know what a listing is."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.adapters.aws.s3_ranges import AHEAD, Listed, Unordered, in_folders, in_ranges


class Bucket:
    """Keys, listed as S3 lists them, some at a time."""

    def __init__(self, keys: Iterator[str] | set[str] | list[str], page: int) -> None:
        self.keys = sorted(keys)
        self.page = page
        self.asked: list[tuple[str, str, bool]] = []
        self.folding = True  # whether it knows folders
        self._lock = threading.Lock()

    def ask(self, prefix: str, after: str, *, fold: bool) -> Listed:
        """`ListObjectsV2`, with StartAfter and a delimiter."""
        with self._lock:
            self.asked.append((prefix, after, fold))
        if fold and not self.folding:
            raise ValueError("no such delimiter")
        names: list[str] = []
        for key in self.keys[bisect_right(self.keys, after) :]:
            if not key.startswith(prefix):
                continue
            slash = key.find("/", len(prefix)) if fold else -1
            name = key[: slash + 1] if slash >= 0 else key
            if name in names[-1:]:
                continue
            if len(names) == self.page:
                return self._listed(names, more=True)
            names.append(name)
        return self._listed(names, more=False)

    def folder(self, prefix: str) -> Iterator[Listed]:
        """A folder, page after page, in an order of its own."""
        whole = Bucket(self.keys, len(self.keys) + 1).ask(prefix, "", fold=True)
        turned = [*whole.files, *whole.folders][::-1]
        for start in range(0, len(turned), self.page):
            page = turned[start : start + self.page]
            yield Listed([one for one in page if isinstance(one, tuple)], [one for one in page if isinstance(one, str)],
                         None)  # fmt: skip

    def _listed(self, names: list[str], *, more: bool) -> Listed:
        files = [(name, len(name), 7) for name in names if name in self.keys]
        return Listed(files, [name for name in names if name not in self.keys], names[-1] if more else None)


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    """Threads that ask."""
    with ThreadPoolExecutor(4) as opened:
        yield opened


PARTS = st.sampled_from(["a", "b", "a-", "a0", "ä", "a b", "\U0001f418", "\ufb00"])
KEYS = st.sets(st.lists(PARTS, min_size=1, max_size=4).map("/".join), max_size=60)
STARTS = st.sampled_from(["", "a", "a/", "a/b", "a/b/", "a!", "b0", "\ufb00/a", "~"])


@settings(deadline=None, max_examples=300)
@given(KEYS, st.sampled_from(["", "a/", "a/a/", "b/"]), STARTS, st.integers(1, 7))
def test_the_same(pool: ThreadPoolExecutor, keys: set[str], prefix: str, after: str, page: int) -> None:
    """Both ways list what is under a prefix and behind a key, in order, whatever is asked for ahead."""
    expected = [key for key in sorted(keys) if key.startswith(prefix) and key > after]
    bucket = Bucket(keys, page)
    assert [key for key, _, _ in in_ranges(bucket.ask, pool, prefix, after)] == expected
    assert [key for key, _, _ in in_folders(bucket.folder, prefix, after)] == expected


def test_without_folders(pool: ThreadPoolExecutor) -> None:
    """Where nobody can be asked for folders the listing goes on page after page."""
    bucket = Bucket([f"{day:02}/{number:03}" for day in range(9) for number in range(50)], 10)
    bucket.folding = False
    assert [key for key, _, _ in in_ranges(bucket.ask, pool, "", "")] == bucket.keys


def test_the_first_page_is_one_request(pool: ThreadPoolExecutor) -> None:
    """Who takes the first files only pays for one request, and for a few with the second page."""
    bucket = Bucket([f"{day:02}/{number:03}" for day in range(90) for number in range(50)], 10)
    walk = in_ranges(bucket.ask, pool, "", "")
    assert len(list(islice(walk, 10))) == 10
    assert len(bucket.asked) == 1
    next(walk)
    assert len(bucket.asked) <= 6


def test_bounded_ahead(pool: ThreadPoolExecutor) -> None:
    """However many there are, and however slowly they are taken: no more than so many pages are ahead."""
    bucket = Bucket([f"{day:03}/{number}" for day in range(500) for number in range(9)], 10)
    for taken, _ in enumerate(in_ranges(bucket.ask, pool, "", ""), 1):
        pages = sum(not fold for _, _, fold in bucket.asked)
        assert pages <= taken // 9 + AHEAD + 2


@pytest.mark.parametrize(
    ("folders", "files", "bound"),
    [(73, 90, 1.2), (2000, 1, 1.6), (7, 3050, 1.2), (1, 9050, 1.1), (300, 30, 1.6), (50, 100, 2)],
    ids=["many", "tiny", "large", "one", "small", "the worst: each a page to the last file"],
)
def test_few_more_requests(pool: ThreadPoolExecutor, folders: int, files: int, bound: float) -> None:
    """Going ahead costs at most so many times the requests a plain listing has."""
    bucket = Bucket([f"data/day={day:04}/{number:05}" for day in range(folders) for number in range(files)], 100)
    assert sum(1 for _ in in_ranges(bucket.ask, pool, "", "")) == len(bucket.keys)
    plain = -(-len(bucket.keys) // 100)
    assert len(bucket.asked) <= plain * bound + 6


def test_out_of_order(pool: ThreadPoolExecutor) -> None:
    """A server that does not list in order is found out, within a page and from one page to the next."""

    def turned(_: str, after: str, *, fold: bool) -> Listed:
        del fold
        return Listed([("b/1", 1, 1), ("b!", 1, 1)], (), None) if not after else Listed((), (), None)

    def back(_: str, after: str, *, fold: bool) -> Listed:
        del after, fold
        return Listed([("a", 1, 1), ("b", 1, 1)], (), "b")

    for ask in (turned, back):
        with pytest.raises(Unordered):
            list(in_ranges(ask, pool, "", ""))


def test_errors_come_where_they_are(pool: ThreadPoolExecutor) -> None:
    """A page that could not be had is an error when it is reached, after everything before it."""
    bucket = Bucket([f"{day:02}/{number:02}" for day in range(40) for number in range(10)], 10)

    def ask(prefix: str, after: str, *, fold: bool) -> Listed:
        found = bucket.ask(prefix, after, fold=fold)
        if not fold and any(key.startswith("31/") for key, _, _ in found.files):
            raise OSError("gone")
        return found

    seen: list[str] = []
    with pytest.raises(OSError, match="gone"):
        seen.extend(key for key, _, _ in in_ranges(ask, pool, "", ""))
    assert seen == bucket.keys[: len(seen)]
    assert seen[-1] >= "30/"

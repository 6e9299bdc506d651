"""A listing of a server that lists in the order of keys, fetched ahead: the same files as page after page, sooner.

What is to be listed is cut into ranges of keys, and the first pages of several ranges are on their way at once. Where
to cut is a guess from the folders a second sort of question shows; a bad guess costs a request and nothing else, for
any cuts make up the whole. A folder of many files and no folders is listed a page at a time: nothing says where to cut.

Memory holds AHEAD pages of a thousand, about 10 MB. A listing begins with one page and goes further ahead with each one
that is taken: who wants the first files only pays for those.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Protocol, TypeAlias

AHEAD = 32  # pages, asked for or waiting to be taken
AT_ONCE = 16  # requests of one listing

Entry: TypeAlias = tuple[str, int, int]  # key, size, milliseconds


class Unordered(Exception):
    """The server does not list in the order of keys."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One answer. `last` is its last key or folder when there is more behind it; None: that was all."""

    files: Sequence[Entry]
    folders: Sequence[str]
    last: str | None


class Ask(Protocol):
    """One request: what lies behind a key, under a prefix; with `fold`, what lies in folders as the folder only."""

    def __call__(self, prefix: str, after: str, *, fold: bool) -> Listed:
        """In order of key. Any number of threads ask."""


class _Range:
    """Keys behind `after` up to `until`, that one included; None: to the end. Its answer, once it was asked for."""

    __slots__ = ("after", "answer", "arrived", "following", "until")

    def __init__(self, after: str, until: str | None, following: _Range | None) -> None:
        self.after = after
        self.until = until
        self.following = following
        self.answer: Future[Sequence[Entry]] | None = None
        self.arrived = False


def in_ranges(ask: Ask, pool: Executor, prefix: str, after: str) -> Iterator[Entry]:
    """Every file under a prefix and behind a key, in order. Unordered, or what `ask` raises, where it comes up."""
    return _Walk(ask, pool, prefix, after).files()


class _Walk:
    def __init__(self, ask: Ask, pool: Executor, prefix: str, after: str) -> None:
        self._ask = ask
        self._pool = pool
        self._prefix = prefix
        self._front: _Range | None = _Range(after, None, None)
        self._lock = threading.RLock()
        self._taken = 0
        self._known: dict[str, str | None] = {}  # folders whose folders are known, up to one of them or (None) all

    def files(self) -> Iterator[Entry]:
        while (front := self._front) is not None:
            with self._lock:
                self._ask_ahead()
            assert front.answer is not None  # the front is always asked for
            files = front.answer.result()
            yield from files
            with self._lock:
                self._taken += 1
                self._front = front.following
                if self._taken == 1 and self._front is not None:
                    self._scout(files)

    def _ask_ahead(self) -> None:
        """Ask for the first pages of as many ranges as may be ahead; of the front in any case."""
        ahead, asked, waiting = min(AHEAD, 1 << self._taken), 0, 0
        each = self._front
        while each is not None and (each is self._front or (asked < ahead and waiting < AT_ONCE)):
            if each.answer is None:
                each.answer = self._pool.submit(self._page, each)
            asked += 1
            waiting += not each.arrived
            each = each.following

    def _page(self, each: _Range) -> Sequence[Entry]:
        listed = self._ask(self._prefix, each.after, fold=False)
        files = listed.files
        _check(files, each.after, listed.last)
        with self._lock:
            each.arrived = True
            last = listed.last
            if each.until is not None and (last is None or last >= each.until):
                files = files[: bisect_right(files, each.until, key=_key)]
            elif last is not None:
                each.following = _Range(last, each.until, each.following)
                each.until = last
                if self._taken:
                    self._scout(files)
            self._ask_ahead()
        return files

    def _scout(self, files: Sequence[Entry]) -> None:
        """Ask for the folders beside those the last of these files lies in, where they are not known."""
        if not files:
            return
        last = files[-1][0]
        at = len(self._prefix)
        while (slash := last.find("/", at)) >= 0:
            folder = last[:at]
            known = self._known.get(folder, "")
            if known is not None and known <= last:
                self._known[folder] = None  # until the answer says how far it reaches
                self._pool.submit(self._cut, folder, last, _per_page(files, folder))
            at = slash + 1

    def _cut(self, folder: str, after: str, per_page: int) -> None:
        """Cut what is behind `after` in a folder into ranges of about a page each. Where this fails nothing is cut,
        and the listing goes on page after page.
        """
        listed = self._ask(folder, after, fold=True)
        folders = sorted(one for one in listed.folders if one > after and one.startswith(folder))
        with self._lock:
            self._known[folder] = listed.last
            each = self._front
            for cut in folders[per_page - 1 :: per_page]:
                while each is not None and each.until is not None and each.until <= cut:
                    each = each.following
                if each is None:
                    break
                if not each.arrived and each.after < cut:
                    each.following = _Range(cut, each.until, each.following)
                    each.until = cut
            self._ask_ahead()


def _key(entry: Entry) -> str:
    return entry[0]


def _per_page(files: Sequence[Entry], folder: str) -> int:
    """How many folders of this folder make a page, going by this page; a little less, so that most fit."""
    start = len(folder)
    there = {key[start : key.find("/", start)] for key, _, _ in files if key.startswith(folder)}
    return max(1, len(there) * 3 // 4)


def _check(files: Sequence[Entry], after: str, last: str | None) -> None:
    """What everything here stands on. Text compares by code point, which is the order of its UTF-8 bytes."""
    before = after
    for key, _, _ in files:
        if key <= before:
            raise Unordered(key)
        before = key
    if last is not None and last < before:
        raise Unordered(last)


Pages = Callable[[str], Iterator[Listed]]  # of one folder: its files, and its folders as folders


def in_folders(pages: Pages, prefix: str, after: str) -> Iterator[Entry]:
    """The same, of a server that lists in an order of its own, as one does that keeps files as files: every folder
    is listed whole and sorted here. A request for each folder, and memory for the files of one folder at a time.
    """
    ways = [iter(_inside(pages, prefix, after))]
    while ways:
        found = next(ways[-1], None)
        if found is None:
            ways.pop()
        elif isinstance(found, str):
            ways.append(iter(_inside(pages, found, after)))
        else:
            yield found


def _inside(pages: Pages, folder: str, after: str) -> list[Entry | str]:
    """What is in a folder and behind `after`, or may hold what is, in order: a folder's files follow its name."""
    found: dict[str, Entry | str] = {}
    for page in pages(folder):
        found.update((one[0], one) for one in page.files if one[0] > after)
        found.update((one, one) for one in page.folders if one > max(folder, after) or after.startswith(one))
    return [found[name] for name in sorted(found)]

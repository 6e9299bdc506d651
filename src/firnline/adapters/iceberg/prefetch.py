"""Makes the next things in a thread while the caller works on the present one, with a bound on what waits."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


def ahead(things: Iterator[Thing], weigh: Callable[[Thing], int], *, most: int, weight: int) -> Generator[Thing]:
    """The same things in the same order. At most `most` wait, of at most `weight` together (or one that is heavier).

    An error of the source is raised where its thing would have come. Closing the iterator ends the thread.
    """
    queue = _Queue(things, weigh, most, weight)
    thread = threading.Thread(target=queue.fill, name="firnline-ahead", daemon=True)
    thread.start()
    try:
        while (got := queue.take()) is not None:
            yield got[0]
    finally:
        queue.stop()
        thread.join()
    if queue.error is not None:
        raise queue.error


class _Queue(Generic[Thing]):
    def __init__(self, things: Iterator[Thing], weigh: Callable[[Thing], int], most: int, weight: int) -> None:
        self._things = things
        self._weigh = weigh
        self._most = most
        self._weight = weight
        self._waiting: deque[tuple[Thing, int]] = deque()
        self._held = 0
        self._changed = threading.Condition()
        self._ended = False
        self._stopped = False
        self.error: BaseException | None = None

    def fill(self) -> None:
        """The thread: until there is nothing more, something goes wrong, or nobody wants more."""
        try:
            for thing in self._things:
                if not self._put(thing, self._weigh(thing)):
                    return
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self.error = error
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _put(self, thing: Thing, weight: int) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or not self._waiting or self._fits(weight))
            if self._stopped:
                return False
            self._waiting.append((thing, weight))
            self._held += weight
            self._changed.notify_all()
            return True

    def _fits(self, weight: int) -> bool:
        return len(self._waiting) < self._most and self._held + weight <= self._weight

    def take(self) -> tuple[Thing] | None:
        """The next thing, or None when there is nothing more."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended)
            if not self._waiting:
                return None
            thing, weight = self._waiting.popleft()
            self._held -= weight
            self._changed.notify_all()
            return (thing,)

    def stop(self) -> None:
        """Nobody wants more."""
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify_all()

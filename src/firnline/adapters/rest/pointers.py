"""The listing half of a REST catalog: names by paging, and one small request per table for where its metadata is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, MutableSequence, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

from firnline.adapters.rest import dialects, loading, paths, troubles, vending
from firnline.adapters.rest.client import RestClient, texts
from firnline.adapters.rest.faults import Fault
from firnline.adapters.rest.vault import Vault
from firnline.adapters.rest.vending import Vended
from firnline.adapters.rest.wire import CONNECTIONS
from firnline.core.errors import BadInput, Failed, Partial
from firnline.core.ids import Identifier
from firnline.core.types import Json
from firnline.facts.ports import Pointer

AHEAD = 4 * CONNECTIONS  # loads begun before their turn: what bounds the memory of a listing
SHOWN_MAX = 3
_VIEWS = "GET /v1/{prefix}/namespaces/{namespace}/views"
_VIEW = "GET /v1/{prefix}/namespaces/{namespace}/views/{view}"
_NO_CHILDREN = frozenset({404, 406, 501})  # gone meanwhile, or a server without levels
_OF_ALL = frozenset({401, 419, 429, 503})  # would be the same for every other table

Given = TypeVar("Given")
Found = TypeVar("Found")


class RestPointers:
    """`facts.ports.Pointers` over an Iceberg REST catalog."""

    def __init__(self, client: RestClient) -> None:
        self._client = client
        self.vault = Vault(self.credentials)  # what opens the files of the tables that were loaded

    def list(self, namespace: tuple[str, ...] | None = None) -> Iterator[Pointer]:
        """Every entry, or those directly in one namespace, in order of name. A table dropped while we looked is left
        out. After all others Partial names those the catalog does not show, and of the whole catalog the namespaces
        that may not be listed: what can be seen is not held back for them.
        """
        hidden: list[str] = []
        if namespace is None:
            named = self._named(sorted(self._walked(hidden)), hidden)
        else:
            named = self._named([namespace], None)
        with closing(_in_turn(self._pointed, named)) as turn:
            for (identifier, _), found in turn:
                if isinstance(found, Fault):
                    if found.status in _OF_ALL or troubles.of_credentials(found):
                        raise self._client.explained(found, f"load the table {identifier}")
                    hidden.append(self._hidden(str(identifier), found))
                elif found is not None:
                    yield found
        if hidden:
            more = f" and {len(hidden) - SHOWN_MAX} more" if len(hidden) > SHOWN_MAX else ""
            raise Partial(
                f"The REST catalog at {self._client.endpoint.uri} has what it does not show: "
                f"{', '.join(hidden[:SHOWN_MAX])}{more}.",
                next_step="Ask whoever runs the catalog for the right to list and load it.",
            )

    def find(self, identifier: Identifier) -> Pointer | None:
        """One entry, or None; one that the catalog could not even have is none."""
        if dialects.bad_table(self._client.dialect, identifier) or _unspeakable(identifier):
            return None
        found = self._pointed((identifier, "table"))
        if isinstance(found, Fault):
            raise self._client.explained(found, f"load the table {identifier}")
        return found or self._view(identifier)

    def namespaces(self) -> Mapping[tuple[str, ...], Mapping[str, str]]:
        """Every namespace with its properties: one request each, a few at a time. One whose properties may not be read
        has none: left out it would be taken for one to make.
        """
        found = _in_turn(self._properties, iter(sorted(self._walked([]))))
        return {name: properties for name, properties in found if properties is not None}

    def credentials(self, identifier: Identifier) -> tuple[Vended, ...]:
        """What the catalog vends for the table's files, if the catalog's settings ask for it; afresh each time, for it
        ends. The first whose prefix a location begins with is for that location.
        """
        if not self._client.endpoint.vended:
            return ()
        loaded = loading.load(self._client, identifier, delegated=True)
        if isinstance(loaded, Fault):
            raise self._client.explained(loaded, f"vend credentials for {identifier}")
        return vending.of(loaded, self._client.config.properties, self._client.endpoint.aws)

    def _hidden(self, what: str, fault: Fault) -> str:
        return f"{what} ({self._client.scrubbed(str(fault))})"

    def _walked(self, hidden: MutableSequence[str]) -> set[tuple[str, ...]]:
        """The names of every namespace, level by level where the catalog has levels; `hidden` gets what may not be
        listed.
        """
        level, _ = self._children(())
        found = set(level)
        while level and self._client.dialect.nested:
            below: set[tuple[str, ...]] = set()
            for above, (children, closed) in _in_turn(self._children, iter(sorted(level))):
                below |= children
                if closed is not None:
                    hidden.append(self._hidden(f"the namespaces of {paths.shown(above)}", closed))
            level = below - found
            found |= level
        return found

    def _children(self, above: tuple[str, ...]) -> tuple[set[tuple[str, ...]], Fault | None]:
        """The names of the namespaces in this one, and why it does not show them."""
        query = [("parent", paths.parent(above, self._client.config.separator))] if above else []
        doing = f"list the namespaces of {paths.shown(above)}" if above else "list its namespaces"
        found: set[tuple[str, ...]] = set()
        for page in self._pages("namespaces", query, doing):
            if isinstance(page, Fault):
                if above and page.status in _NO_CHILDREN:
                    break
                if above and _closed(page):
                    return found, page
                raise self._client.explained(page, doing)
            found |= {tuple(map(str, each)) for each in self._listed(page, "namespaces", list)}
        return found - {()}, None

    def _named(
        self, namespaces: Sequence[tuple[str, ...]], hidden: MutableSequence[str] | None
    ) -> Iterator[tuple[Identifier, str]]:
        """What these namespaces list, with its kind. `hidden` gets what may not be listed; without it that is an
        error.
        """
        views = self._client.dialect.views and self._client.has(_VIEWS)
        for namespace in namespaces:
            if dialects.bad_namespace(self._client.dialect, namespace) is None:
                entries = self._entries(namespace, "tables", "table", hidden)
                if views:
                    entries = {**self._entries(namespace, "views", "view", hidden), **entries}
                yield from sorted(entries.items())

    def _entries(
        self, namespace: tuple[str, ...], kinds: str, kind: str, hidden: MutableSequence[str] | None
    ) -> dict[Identifier, str]:
        doing = f"list the {kinds} of {paths.shown(namespace)}"
        try:
            path = f"namespaces/{paths.namespace(namespace, self._client.config.separator)}/{kinds}"
        except BadInput:
            return {}
        found: dict[Identifier, str] = {}
        for page in self._pages(path, [], doing):
            if isinstance(page, Fault):
                if page.status == 404 and not page.page:  # dropped meanwhile, or never there
                    break
                if hidden is None or not _closed(page):
                    raise self._client.explained(page, doing)
                hidden.append(self._hidden(f"the {kinds} of {paths.shown(namespace)}", page))
                break
            for each in self._listed(page, "identifiers", dict):
                found[Identifier(namespace, str(each.get("name")))] = kind
        return found

    def _pages(self, path: str, query: Sequence[tuple[str, str]], doing: str) -> Iterator[Json | Fault]:
        token: str | None = ""  # an empty one asks for pages; without any a server must give everything at once
        seen: set[str] = set()
        while token is not None:
            paged = [*query, ("pageToken", token), ("pageSize", str(self._client.dialect.page_size))]
            page = self._client.ask(path, paged)
            yield page
            seen.add(token)
            token = None if isinstance(page, Fault) else page.get("next-page-token") or None
            if token in seen:
                raise Failed(f"The REST catalog at {self._client.endpoint.uri} does not come to an end when asked to "
                             f"{doing}: it gives the same page token again.")  # fmt: skip

    def _listed(self, page: Json, key: str, kind: type) -> Sequence[Json]:
        entries = page.get(key)
        if not isinstance(entries, Sequence) or not all(isinstance(each, kind) for each in entries):
            raise self._client.misread()
        return entries

    def _pointed(self, entry: tuple[Identifier, str]) -> Pointer | Fault | None:
        identifier, kind = entry
        if kind != "table":
            return Pointer(identifier, None, kind)
        if _unspeakable(identifier):
            return Pointer(identifier, None, "other")
        loaded = loading.load(self._client, identifier)
        if isinstance(loaded, Fault):
            if loaded.not_iceberg:
                return Pointer(identifier, None, "other")
            return None if loaded.status == 404 and not loaded.page else loaded
        if self._client.endpoint.vended:
            self.vault.seen(identifier, str(loaded.metadata.get("location", "")))
        return Pointer(identifier, loaded.location, "table" if loaded.location else "other")

    def _view(self, identifier: Identifier) -> Pointer | None:
        if not self._client.dialect.views or not self._client.has(_VIEW):
            return None
        doing = f"load the view {identifier}"
        answer = self._client.ask(paths.table(identifier, self._client.config.separator, kind="views"))
        if not isinstance(answer, Fault):
            return Pointer(identifier, None, "view")
        if answer.status == 404:
            return None
        raise self._client.explained(answer, doing)

    def _properties(self, namespace: tuple[str, ...]) -> Mapping[str, str] | None:
        doing = f"read the properties of {paths.shown(namespace)}"
        path = f"namespaces/{paths.namespace(namespace, self._client.config.separator)}"
        answer = self._client.ask(path)
        if not isinstance(answer, Fault):
            return texts(answer.get("properties"))
        if answer.status == 404 and not answer.page:
            return None
        if _closed(answer):
            return {}
        raise self._client.explained(answer, doing)


def _closed(fault: Fault) -> bool:
    """Whether this is one thing we may not see, and others may well be seen."""
    return fault.status == 403 and not fault.page and not troubles.of_credentials(fault)


def _unspeakable(identifier: Identifier) -> bool:
    """A name that would not arrive as it is."""
    try:
        paths.table(identifier)
    except BadInput:
        return True
    return False


def _in_turn(work: Callable[[Given], Found], items: Iterator[Given]) -> Generator[tuple[Given, Found], None, None]:
    """The items with what became of them, a few at work at a time and a bounded number ahead, in order."""
    pool = ThreadPoolExecutor(CONNECTIONS)
    waiting: deque[tuple[Given, Future[Found]]] = deque()
    try:
        for item in items:
            waiting.append((item, pool.submit(work, item)))
            if len(waiting) >= AHEAD:
                given, future = waiting.popleft()
                yield given, future.result()
        while waiting:
            given, future = waiting.popleft()
            yield given, future.result()
    finally:
        pool.shutdown(cancel_futures=True)

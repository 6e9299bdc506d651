"""Commits through an Iceberg REST catalog: the server writes the metadata, of whatever format. No JVM, no PyIceberg.

Between loading a table and committing there is a window. What the request requires is checked again by the server, on
the very metadata it replaces. For two things the specification has no requirement, and a writer inside the window goes
unseen: expected properties (`CommitRequest.expect`), and, of a drop or a rename, which table it is that has the name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from firnline.adapters import outcomes, requests
from firnline.adapters.requests import Unfit
from firnline.adapters.rest import answers, creating, dialects, faults, loading, paths, requirements
from firnline.adapters.rest.client import Pairs, RestClient
from firnline.adapters.rest.creating import Creation
from firnline.adapters.rest.faults import Fault
from firnline.adapters.rest.loading import Loaded
from firnline.adapters.rest.wire import NoReply, Reply
from firnline.core.errors import FirnlineError
from firnline.core.ids import Identifier
from firnline.core.types import Json
from firnline.loop.commits import CommitRequest
from firnline.loop.values import Outcome, OutcomeKind

_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError)  # of JSON that is not what it should be
_RENAME = "POST /v1/{prefix}/tables/rename"
Meaning = Callable[[Reply], tuple[Outcome, Json]]


class RestCommits:
    """`loop.commits.Commits` for tables of every format the server knows."""

    def __init__(self, client: RestClient) -> None:
        self._client = client
        self._dialect = client.dialect

    def commit(self, identifier: Identifier, request: CommitRequest) -> Outcome:
        """One attempt. Changing nothing is done too, with `facts["changed"]` false and the location as it is."""
        try:
            if wrong := requirements.unheard(request) or dialects.bad_table(self._dialect, identifier):
                return outcomes.refused(wrong)
            if requests.creates(request):
                return self._create(identifier, request)
            return self._change(identifier, request)
        except (Unfit, FirnlineError) as error:
            return outcomes.refused(str(error))

    def _change(self, identifier: Identifier, request: CommitRequest) -> Outcome:
        capped = self._dialect.metadata_bytes_max is not None
        loaded = self._load(identifier, whole=capped)
        if wrong := requirements.broken(request.requirements, loaded.metadata):
            return outcomes.refused(wrong)
        if wrong := requests.unmet(request.expect, loaded.metadata.get("properties") or {}):
            return outcomes.refused(f"Requirement failed: {wrong}")
        updates = requests.definite(request.updates, loaded.metadata)
        if not updates:
            return outcomes.done(loaded.location, changed=False)
        size = len(json.dumps(loaded.metadata, ensure_ascii=False).encode()) if capped else 0
        with _readable():
            wrong = dialects.bad_change(self._dialect, updates, loaded.metadata, size)
        if wrong:
            return outcomes.refused(wrong)
        body = {"requirements": list(request.requirements), "updates": list(updates)}
        outcome, _ = self._committed(self._path(identifier), body)
        if outcome.kind is OutcomeKind.DONE and outcome.facts["metadata-location"] == loaded.location is not None:
            return outcomes.done(loaded.location, changed=False)
        return outcome

    def _create(self, identifier: Identifier, request: CommitRequest) -> Outcome:
        updates = requests.definite(request.updates, None)
        if self._dialect.creates_by_commit:
            self._require_namespace(identifier.namespace)
            body = {"requirements": list(request.requirements), "updates": list(self._placed(identifier, updates))}
            outcome, _ = self._committed(self._path(identifier), body)
            return outcome
        with _readable():
            asked = creating.of(updates)
        if wrong := dialects.bad_creation(self._dialect, asked.format_version, asked.location):
            return outcomes.refused(wrong)
        self._require_namespace(identifier.namespace)
        path = f"{self._namespace(identifier.namespace)}/tables"
        outcome, answer = self._committed(path, asked.body(identifier.name), answers.of_creation)
        if outcome.kind is not OutcomeKind.DONE:
            return outcome
        return self._made(identifier, asked, answer)

    def _placed(self, identifier: Identifier, updates: tuple[Json, ...]) -> tuple[Json, ...]:
        """The updates of a new table with its location among them: the server's choice, where the request makes none.

        A staged creation makes nothing: it tells what would be. With createTable the table would have another uuid than
        the one our commit is found by.
        """
        if any(update["action"] == "set-location" for update in updates):
            return updates
        schema = next((update["schema"] for update in updates if update["action"] == "add-schema"), None)
        body = {"name": identifier.name, "schema": schema, "stage-create": True}
        try:
            reply = self._client.tell("POST", f"{self._namespace(identifier.namespace)}/tables", body=body)
        except NoReply as error:
            raise Unfit(f"the catalog did not say where the table would lie: {error.reason}") from error
        if fault := faults.of(reply):
            raise self._client.explained(fault, f"say where the table {identifier} would lie")
        answer = faults.decoded(reply)
        location = loading.of_answer(answer).metadata.get("location") if isinstance(answer, dict) else None
        if not isinstance(location, str) or not location:
            raise self._client.misread()
        return (*updates, {"action": "set-location", "location": location})

    def _made(self, identifier: Identifier, asked: Creation, answer: Json) -> Outcome:
        """The outcome of a createTable that succeeded: the table's uuid is the catalog's own."""
        loaded = loading.of_answer(answer)
        uuid = loaded.metadata.get("table-uuid")
        try:
            differing = creating.differences(asked, loaded.metadata)
        except _UNREADABLE as error:
            return outcomes.unknown(
                f"the answer of {self._dialect.name} cannot be read: {type(error).__name__}: {error}"
            )
        if differing:
            return outcomes.refused(
                f"{self._dialect.name} made {identifier}, and with other {', '.join(differing)} than asked for: "
                "drop the new table, which is empty, or adopt it as it is",
                created=True,
                uuid=uuid,
            )
        return outcomes.done(loaded.location, uuid=uuid)

    def drop(self, identifier: Identifier, uuid: str, *, purge: bool) -> Outcome:
        """Out of the catalog if it still is the table of this uuid. With `purge` the catalog deletes its files, when
        and how it sees fit; a table with `gc.enabled=false` is not purged but refused.
        """
        try:
            wrong = dialects.bad_table(self._dialect, identifier) or dialects.bad_drop(self._dialect, purge=purge)
            if wrong:
                return outcomes.refused(wrong)
            loaded = self._own(identifier, uuid)
            if purge and (loaded.metadata.get("properties") or {}).get("gc.enabled", "true").lower() == "false":
                return outcomes.refused(f"{identifier} has gc.enabled=false: its files may belong to others")
            outcome = self._changed("DELETE", self._path(identifier), [("purgeRequested", "true")] if purge else [])
        except (Unfit, FirnlineError) as error:
            return outcomes.refused(str(error))
        return outcomes.done(loaded.location) if outcome.kind is OutcomeKind.DONE else outcome

    def rename(self, identifier: Identifier, uuid: str, to: Identifier) -> Outcome:
        """Under another name if it still is the table of this uuid. The request names no uuid: a table that takes the
        place of this one between the look and the request is renamed in its stead.
        """
        try:
            wrong = next(
                (found for each in (identifier, to) if (found := dialects.bad_table(self._dialect, each))), None
            )
            if wrong := dialects.bad_rename(self._dialect) or wrong:
                return outcomes.refused(wrong)
            if self._client.lacks(_RENAME):
                return outcomes.refused(
                    f"{self._dialect.name} does not rename tables: it says that it has no {_RENAME}"
                )
            self._path(to)  # a name that could never be asked for again is none to go to
            loaded = self._own(identifier, uuid)
            self._require_namespace(to.namespace)
            body = {"source": _named(identifier), "destination": _named(to)}
            reply = self._client.tell("POST", "tables/rename", body=body)
        except NoReply as error:
            return answers.of_silence(error)
        except (Unfit, FirnlineError) as error:
            return outcomes.refused(str(error))
        outcome = self._told(answers.of_rename(reply))
        return outcomes.done(loaded.location) if outcome.kind is OutcomeKind.DONE else outcome

    def create_namespace(self, namespace: tuple[str, ...], properties: Mapping[str, str]) -> Outcome:
        """Make a namespace; NOT_DONE when it is there already."""
        wrong = dialects.bad_namespace(self._dialect, namespace)
        if wrong := wrong or dialects.bad_namespace_properties(self._dialect, properties):
            return outcomes.refused(wrong)
        try:
            self._namespace(namespace)
            body = {"namespace": list(namespace), "properties": dict(properties)}
            reply = self._client.tell("POST", "namespaces", body=body)
        except NoReply as error:
            return answers.of_silence(error)
        except FirnlineError as error:
            return outcomes.refused(str(error))
        if reply.status == 409:
            return outcomes.refused(f"the namespace {paths.shown(namespace)} exists already")
        return self._told(answers.of_change(reply))

    def update_namespace(
        self, namespace: tuple[str, ...], updates: Mapping[str, str], removals: tuple[str, ...]
    ) -> Outcome:
        """Set and remove namespace properties in one request. With neither, it is done if the namespace is there."""
        wrong = dialects.bad_namespace(self._dialect, namespace)
        if wrong := wrong or (dialects.bad_namespace_update(self._dialect) if updates or removals else None):
            return outcomes.refused(wrong)
        try:
            self._require_namespace(namespace)
            if not updates and not removals:
                return outcomes.done(None)
            body = {"removals": list(removals), "updates": dict(updates)}
            return self._changed("POST", f"{self._namespace(namespace)}/properties", body=body)
        except (Unfit, FirnlineError) as error:
            return outcomes.refused(str(error))

    def _own(self, identifier: Identifier, uuid: str) -> Loaded:
        """The table as it is now; Unfit unless it is the one of this uuid."""
        loaded = self._load(identifier)
        found = str(loaded.metadata.get("table-uuid"))
        if found.lower() != uuid.lower():
            raise Unfit(f"Requirement failed: {identifier} is another table now ({found})")
        return loaded

    def _load(self, identifier: Identifier, *, whole: bool = False) -> Loaded:
        loaded = loading.load(self._client, identifier, whole=whole)
        if isinstance(loaded, Fault):
            if loaded.status == 404 and not loaded.page:
                raise Unfit(f"there is no table {identifier}")
            raise self._client.explained(loaded, f"load the table {identifier}")
        if not isinstance(loaded.metadata.get("format-version"), int):
            raise self._client.misread()
        return loaded

    def _require_namespace(self, namespace: tuple[str, ...]) -> None:
        """Asked first: there are servers that make a table in a namespace they do not have."""
        doing = f"look at the namespace {paths.shown(namespace)}"
        answer = self._client.ask(self._namespace(namespace))
        if isinstance(answer, Fault):
            if answer.status == 404 and not answer.page:
                raise Unfit(f"there is no namespace {paths.shown(namespace)}")
            raise self._client.explained(answer, doing)

    def _committed(self, path: str, body: Json, meaning: Meaning = answers.of_commit) -> tuple[Outcome, Json]:
        try:
            reply = self._client.tell("POST", path, body=body)
        except NoReply as error:
            return answers.of_silence(error), None
        outcome, answer = meaning(reply)
        return self._told(outcome), answer

    def _changed(self, method: str, path: str, query: Pairs = (), body: Json = None) -> Outcome:
        try:
            return self._told(answers.of_change(self._client.tell(method, path, query, body)))
        except NoReply as error:
            return answers.of_silence(error)

    def _told(self, outcome: Outcome) -> Outcome:
        """The same outcome without our credentials in a server's words."""
        return replace(outcome, detail=self._client.scrubbed(outcome.detail))

    def _path(self, identifier: Identifier) -> str:
        return paths.table(identifier, self._client.config.separator)

    def _namespace(self, namespace: tuple[str, ...]) -> str:
        return f"namespaces/{paths.namespace(namespace, self._client.config.separator)}"


def _named(identifier: Identifier) -> Json:
    return {"namespace": list(identifier.namespace), "name": identifier.name}


@contextmanager
def _readable() -> Iterator[None]:
    """A saved plan may hold anything: what cannot be read is a request that cannot be carried out."""
    try:
        yield
    except _UNREADABLE as error:
        raise Unfit(f"the updates cannot be read: {type(error).__name__}: {error}") from error

"""Makes moto's Glue as strict as Glue is where Iceberg's clients rest on it.

What is changed:
- UpdateTable with a VersionId that is not the table's current one fails with ConcurrentModificationException. Stock
  moto ignores it, and concurrent commits overwrite each other in silence. Without a VersionId the last writer wins.
- UpdateTable with SkipArchive forgets the version it replaces.
- GetDatabases, GetTables, GetTableVersions and GetPartitions answer in pages of at most 100 (MaxResults, NextToken), by
  name, so that a page is right whatever is made or dropped between two.
- Names of databases and tables are folded to lower case.

What still differs from AWS, `firnline local status glue` says (`aws.LIMITS`). This file stands on moto alone: the
compose file of the stack carries it as it is.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.core.responses import ActionResult
from moto.glue.responses import GlueResponse

PAGE = 100
_FOLDED = ("DatabaseName", "TableName")
_INPUTS = ("DatabaseInput", "TableInput")
_CATALOG_ACTIONS = ("Database", "Table", "Partition")


class ConcurrentModificationException(JsonRESTError):
    """Somebody else was quicker."""

    code = 400

    def __init__(self, wanted: str, current: object) -> None:
        super().__init__(
            "ConcurrentModificationException",
            f"Update table failed due to concurrent modifications: version {wanted}, current {current}.",
        )


def make_strict() -> None:
    """Change moto in this process."""
    lock = threading.RLock()  # moto checks and then writes, on as many threads as there are requests
    stock_update = GlueResponse.update_table

    def update_table(self: Any) -> Any:
        given = self.parameters
        table = self.glue_backend.get_table(given["DatabaseName"], given["TableInput"]["Name"])
        before, wanted = table._current_version, given.get("VersionId")
        if wanted and str(wanted) != str(before):
            raise ConcurrentModificationException(wanted, before)
        reply = stock_update(self)
        if given.get("SkipArchive"):
            table.versions.pop(str(before), None)
        return reply

    response: Any = GlueResponse
    response.update_table = _locked(lock, update_table)
    for name in ("create_database", "delete_database", "create_table", "delete_table", "batch_delete_table"):
        setattr(GlueResponse, name, _locked(lock, getattr(GlueResponse, name)))
    response.parameters = property(lambda self: folded(json.loads(self.body), self._get_action()))
    _page("get_databases", "DatabaseList", lambda each: each["Name"])
    _page("get_tables", "TableList", lambda each: each["Name"])
    _page("get_table_versions", "TableVersions", lambda each: f"{-int(each['VersionId']):+021d}")  # the newest first
    _page("get_partitions", "Partitions", lambda each: json.dumps(each["Values"]))


def _locked(lock: AbstractContextManager[Any], method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def one_at_a_time(self: Any) -> Any:
        with lock:
            return method(self)

    return one_at_a_time


def folded(given: dict[str, Any], action: str) -> dict[str, Any]:
    """The request with the names of databases and tables in lower case."""
    if not any(word in action for word in _CATALOG_ACTIONS):
        return given
    for key in (*_FOLDED, "Name"):
        if isinstance(given.get(key), str):
            given[key] = given[key].lower()
    for key in _INPUTS:
        if isinstance(given.get(key), dict) and isinstance(given[key].get("Name"), str):
            given[key]["Name"] = given[key]["Name"].lower()
    if isinstance(given.get("TablesToDelete"), list):
        given["TablesToDelete"] = [str(name).lower() for name in given["TablesToDelete"]]
    return given


def _page(method: str, key: str, order: Callable[[Mapping[str, Any]], str]) -> None:
    stock = getattr(GlueResponse, method)

    def paged(self: Any) -> Any:
        given = self.parameters
        found = sorted(stock(self).result[key], key=order)
        page, token = page_of(found, order, given.get("NextToken"), given.get("MaxResults"))
        return ActionResult({key: page, **({"NextToken": token} if token else {})})

    setattr(GlueResponse, method, paged)


def page_of(
    found: Sequence[Mapping[str, Any]], order: Callable[[Mapping[str, Any]], str], token: str | None, limit: int | None
) -> tuple[list[Mapping[str, Any]], str | None]:
    """What comes after the token, at most so many, and the token for what comes after that."""
    size = PAGE if limit is None else limit
    if not 1 <= size <= PAGE:
        raise JsonRESTError("InvalidInputException", f"MaxResults {limit} is not between 1 and {PAGE}.")
    if token:
        try:
            last = base64.b64decode(token.encode("ascii"), b"-_", validate=True).decode()
        except ValueError as error:
            raise JsonRESTError("InvalidInputException", "NextToken is not one of ours.") from error
        found = [each for each in found if order(each) > last]
    page = list(found[:size])
    more = len(found) > size
    return page, base64.urlsafe_b64encode(order(page[-1]).encode()).decode() if more else None

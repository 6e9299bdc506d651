"""What the Glue Data Catalog is asked when looking, in Glue's own words. Errors come out as ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError, PaginationError
from botocore.parsers import ResponseParserError

from firnline.adapters.aws import troubles
from firnline.adapters.aws.sessions import Sessions
from firnline.config.endpoints import GlueEndpoint
from firnline.core.errors import Missing

PAGE = 100  # the most Glue gives at once
ABSENT = "EntityNotFoundException"

Entry = Mapping[str, Any]


def pages(ask: Callable[[Mapping[str, str]], Entry | None]) -> Iterator[Entry]:
    """Page by page. `ask` is given what the next request has to say for it, and ends the walk by None. A page may be
    empty and still not the last: only its token says.
    """
    more: dict[str, str] = {}
    while (page := ask(more)) is not None:
        yield page
        token = page.get("NextToken")
        if not token:
            return
        more = {"NextToken": token}


def named(endpoint: GlueEndpoint) -> dict[str, str]:
    """What every request says of the catalog; nothing for the account's own."""
    return {"CatalogId": endpoint.catalog_id} if endpoint.catalog_id else {}


class GlueReading:
    """Databases and tables of one catalog.

    GetTables can be asked for names alone (`AttributesToGet`), which is no use here: a table's pointer is one of its
    parameters, and those come only with the whole entry.
    """

    def __init__(self, sessions: Sessions, endpoint: GlueEndpoint) -> None:
        self._sessions = sessions
        self.catalog = named(endpoint)

    def databases(self) -> Iterator[Entry]:
        """Every database of the catalog, those that are links to others too. Missing where there is no such catalog."""
        named = self.catalog.get("CatalogId", "of this account")
        absent = Missing(
            f"There is no Glue catalog {troubles.said(named)} in this region.",
            next_step="Check `glue.id` of the catalog, which is the number of an account, and `region:`.",
        )
        resource = "the databases of the catalog"
        yield from self._paged("get_databases", "DatabaseList", "glue:GetDatabases", resource, absent)

    def database(self, name: str) -> Entry | None:
        """One database, or None."""
        with self._sessions.asking("glue:GetDatabase", f"the database {name}"):
            try:
                found = _of(self._sessions.client("glue").get_database(Name=name, **self.catalog), "Database")
            except ClientError as error:
                if troubles.code(error) == ABSENT:
                    return None
                raise
        return None if _folded(found["Name"], name) else found

    def tables(self, database: str) -> Iterator[Entry]:
        """Every entry of a database; none when it went away in the meantime."""
        resource = f"the database {database}"
        yield from self._paged("get_tables", "TableList", "glue:GetTables", resource, DatabaseName=database)

    def table(self, database: str, name: str) -> Entry | None:
        """One entry, or None."""
        with self._sessions.asking("glue:GetTable", f"the table {database}.{name}"):
            try:
                asked = {"DatabaseName": database, "Name": name, **self.catalog}
                found = _of(self._sessions.client("glue").get_table(**asked), "Table")
            except ClientError as error:
                if troubles.code(error) == ABSENT:
                    return None
                raise
        return None if _folded(found["Name"], name) or _folded(found.get("DatabaseName"), database) else found

    def _paged(
        self, operation: str, key: str, action: str, resource: str, absent: Missing | None = None, **asked: str
    ) -> Iterator[Entry]:
        """Page by page; `absent` is raised where nothing like that is there. The caller's own work between two entries
        is not inside `asking`.
        """

        def ask(more: Mapping[str, str]) -> Entry | None:
            with self._sessions.asking(action, resource):
                call = getattr(self._sessions.client("glue"), operation)
                try:
                    page: Entry = call(**asked, **self.catalog, **more, MaxResults=PAGE)
                except ClientError as error:
                    if troubles.code(error) != ABSENT:
                        raise
                    if absent is not None:
                        raise absent from error
                    return None
                _of(page, key)
                if more and page.get("NextToken") == more["NextToken"]:
                    raise PaginationError(message=f"the same token twice: {more['NextToken']}")
                return page

        for page in pages(ask):
            yield from page[key]


def _of(answer: Entry, key: str) -> Any:
    """A part of an answer. botocore makes an answer without parts of whatever it is sent with status 200."""
    if key not in answer:
        raise ResponseParserError(f"no {key}")
    return answer[key]


def _folded(found: str | None, asked: str) -> bool:
    """Whether Glue took this name for one in lower case, which is another table to whoever asked."""
    return found != asked and found == asked.lower()

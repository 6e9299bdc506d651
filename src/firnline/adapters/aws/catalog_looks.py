"""Looks at a Glue Data Catalog: how full its table versions are, and whether Lake Formation decides in it.

Bounded: a catalog of any size costs at most `PAGES_MAX` pages of tables and, of the few tables with the highest
versions, `VERSION_PAGES_MAX` pages of versions each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from firnline.adapters.aws.glue_reading import PAGE, Entry, named, pages
from firnline.adapters.aws.inquiries import Inquiries
from firnline.adapters.aws.looks import GlueLook, LakeFormation, Said, Versions
from firnline.config.endpoints import GlueEndpoint

PAGES_MAX = 30  # 3,000 tables; a larger catalog is told of as far as it was seen
VERSION_PAGES_MAX = 3
TABLES_COUNTED_MAX = 5
VERSIONS_OF_INTEREST = 1_000  # a hundredth of what a table may have: below it there is nothing to tell
_EVERYBODY = "IAM_ALLOWED_PRINCIPALS"  # Lake Formation's name for "whom IAM allows"


@dataclass(slots=True)
class _Seen:
    """What the pages so far showed."""

    made: dict[tuple[str, str], int] = field(default_factory=dict)
    registered: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    failed: Said[Any] | None = None
    whole: bool = True
    pages: int = 0


def look(inquiries: Inquiries, endpoint: GlueEndpoint, *, of_aws: bool) -> GlueLook:
    """The catalog. Lake Formation is asked only where Glue is AWS's own: nothing else has one."""
    seen = _Seen()
    for database in _databases(inquiries, endpoint, seen):
        _take(inquiries, endpoint, database, seen)
    if seen.failed is not None:
        return GlueLook(seen.failed)
    _ask_for_one(inquiries, endpoint, seen)
    most = sorted(seen.made.items(), key=lambda item: (-item[1], item[0]))[:TABLES_COUNTED_MAX]
    return GlueLook(
        Said(len(seen.made)),
        seen.whole,
        sum(seen.made.values()),
        tuple(_kept(inquiries, endpoint, *name, made) for name, made in most if made >= VERSIONS_OF_INTEREST),
        tuple(seen.registered),
        _lake_formation(inquiries, endpoint) if of_aws else Said(failed="This server has no Lake Formation."),
        tuple(seen.refused),
    )


def _databases(inquiries: Inquiries, endpoint: GlueEndpoint, seen: _Seen) -> Iterator[str]:
    glue = inquiries.client("glue")

    def ask(more: Mapping[str, str]) -> Entry | None:
        if not seen.whole:
            return None
        asked = {"MaxResults": PAGE, **named(endpoint), **more}
        page = inquiries.ask(glue.get_databases, "the databases of the catalog", dict, **asked)
        if page.value is None:
            seen.failed = Said(failed="There is no such catalog.", fix="Correct `glue.id`.") if page.known else page
        return page.value

    for page in pages(ask):
        # What has a target is a link to another catalog's database.
        yield from (each["Name"] for each in page["DatabaseList"] if "TargetDatabase" not in each)


def _take(inquiries: Inquiries, endpoint: GlueEndpoint, database: str, seen: _Seen) -> None:
    glue = inquiries.client("glue")

    def ask(more: Mapping[str, str]) -> Entry | None:
        if seen.pages >= PAGES_MAX:
            seen.whole = False
            return None
        seen.pages += 1
        asked = {"DatabaseName": database, "MaxResults": PAGE, **named(endpoint), **more}
        page = inquiries.ask(glue.get_tables, f"the database {database}", dict, **asked)
        if not page.known:
            seen.refused.append(database)
        return page.value

    for page in pages(ask):
        for table in page["TableList"]:
            seen.made[database, table["Name"]] = _number(table.get("VersionId"))
            if table.get("IsRegisteredWithLakeFormation"):
                seen.registered.append(f"{database}.{table['Name']}")


def _ask_for_one(inquiries: Inquiries, endpoint: GlueEndpoint, seen: _Seen) -> None:
    """One database and one table by name: whether that may be is a right of its own, and the inquiries remember."""
    glue, name = inquiries.client("glue"), next(iter(seen.made), None)
    if name is not None:
        database, table = name
        inquiries.ask(glue.get_database, f"the database {database}", lambda _: True, Name=database, **named(endpoint))
        asked = {"DatabaseName": database, "Name": table, **named(endpoint)}
        inquiries.ask(glue.get_table, f"the table {database}.{table}", lambda _: True, **asked)


def _number(version: str | None) -> int:
    """How many versions a table had at most: Glue numbers them from 0, kept or not."""
    return int(version) + 1 if version is not None and version.isdecimal() else 1


def _kept(inquiries: Inquiries, endpoint: GlueEndpoint, database: str, name: str, made: int) -> Versions:
    glue, table = inquiries.client("glue"), f"{database}.{name}"
    said: list[Said[dict[str, Any]]] = []

    def ask(more: Mapping[str, str]) -> Entry | None:
        asked = {"DatabaseName": database, "TableName": name, "MaxResults": PAGE, **named(endpoint), **more}
        said.append(inquiries.ask(glue.get_table_versions, f"the versions of {table}", dict, **asked))
        return said[-1].value

    seen = list(islice(pages(ask), VERSION_PAGES_MAX))
    last = said[-1]
    if last.value is None:
        return Versions(table, made, Said(0, last.denied, last.failed, last.fix))
    kept = sum(len(page.get("TableVersions", ())) for page in seen)
    return Versions(table, made, Said(kept), more="NextToken" in seen[-1])


def _lake_formation(inquiries: Inquiries, endpoint: GlueEndpoint) -> Said[LakeFormation]:
    lake_formation = inquiries.client("lakeformation")
    account = (endpoint.catalog_id or "").partition(":")[0]
    asked = {"CatalogId": account} if account else {}
    resource = "the settings of Lake Formation"
    return inquiries.ask(lake_formation.get_data_lake_settings, resource, _settings, **asked)


def _settings(answer: Mapping[str, Any]) -> LakeFormation:
    settings = answer["DataLakeSettings"]
    defaults = settings.get("CreateTableDefaultPermissions", ())
    given = [each for each in defaults if each.get("Principal", {}).get("DataLakePrincipalIdentifier") == _EVERYBODY]
    admins = tuple(each["DataLakePrincipalIdentifier"] for each in settings.get("DataLakeAdmins", ()))
    return LakeFormation(any("ALL" in each.get("Permissions", ()) for each in given), admins)

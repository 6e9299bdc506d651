"""Commits requests through the JVM: format 3, and what PyIceberg would harm.

Iceberg's own `CatalogHandlers.updateTable` is not called: it tries several times, each time on newer metadata, and
knows no requirement on properties. Its parts are called instead, once: requirements and expected properties are checked
on the very metadata object that is then handed to the catalog as the base of the swap, so that what was checked is what
is replaced.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from firnline.adapters import outcomes, requests
from firnline.adapters.outcomes import Phase
from firnline.adapters.requests import Unfit
from firnline.adapters.spark import errors
from firnline.adapters.spark.session import active
from firnline.core.ids import Identifier
from firnline.core.types import Json
from firnline.loop.commits import CommitRequest
from firnline.loop.values import Outcome

# The one Iceberg itself assumes for a new table that does not say.
_FORMAT_OF_NEW = 2


@dataclass(frozen=True, slots=True)
class _Staged:
    """Java objects of one attempt: the table's operations, the metadata it is based on (None: a new table), the next
    one.
    """

    operations: Any
    base: Any
    updated: Any


class SparkCommits:
    """The committing half of `loop.commits.Commits`, for tables of every format.

    A lost race may leave the metadata file it wrote: the JVM does not tell its name. Nothing points to it.
    """

    def __init__(self, session: SparkSession, catalog: str) -> None:
        self._session = session
        self._name = catalog
        jvm: Any = session._jvm  # a classic session has one; its type says it may not
        self._jvm = jvm
        self._iceberg = jvm.org.apache.iceberg

    def commit(self, identifier: Identifier, request: CommitRequest) -> Outcome:
        """One attempt. Changing nothing is done too, with `facts["changed"]` false and the location as it is."""
        try:
            staged = self._stage(identifier, request)
            if not _changes(staged):
                return outcomes.done(staged.base.metadataFileLocation(), changed=False)
        except Unfit as error:
            return outcomes.refused(str(error))
        except errors.ERRORS as error:
            return _outcome(Phase.PREPARING, error)
        try:
            staged.operations.commit(staged.base, staged.updated)
        except errors.ERRORS as error:
            return _outcome(Phase.COMMITTING, error)
        return outcomes.done(_written(staged))

    def _stage(self, identifier: Identifier, request: CommitRequest) -> _Staged:
        catalog = self._catalog()
        name = self._identifier(identifier)
        if requests.creates(request):
            operations = self._operations_of_new(catalog, name)
            base = None
        else:
            operations = catalog.loadTable(name).operations()
            base = operations.current()
        found = None if base is None else json.loads(self._iceberg.TableMetadataParser.toJson(base))
        if wrong := requests.unmet(request.expect, (found or {}).get("properties") or {}):
            raise Unfit(f"Requirement failed: {wrong}")
        return _Staged(operations, base, self._updated(request, base, found))

    def _updated(self, request: CommitRequest, base: Any, found: Json | None) -> Any:
        definite = requests.definite(request.updates, found)
        parsed = self._iceberg.rest.requests.UpdateTableRequestParser.fromJson(
            json.dumps({"requirements": request.requirements, "updates": definite})
        )
        for requirement in parsed.requirements():
            requirement.validate(base)
        metadata = self._iceberg.TableMetadata
        if base is None:
            builder = metadata.buildFromEmpty(requests.target_version(request) or _FORMAT_OF_NEW)
        else:
            builder = metadata.buildFrom(base)
        for update in parsed.updates():
            update.applyTo(builder)
        return builder.build()

    def _operations_of_new(self, catalog: Any, name: Any) -> Any:
        """The operations of a table that is not there; Java refuses when it is. The catalog gives them out through a
        transaction only, which is begun and forgotten: it writes nothing by itself.
        """
        if not catalog.namespaceExists(name.namespace()):
            # Asked first: the commit would write a metadata file before it finds out.
            raise Unfit(f"there is no namespace {name.namespace().toString()}")
        empty = self._iceberg.Schema(self._jvm.java.util.ArrayList())
        return catalog.buildTable(name, empty).createTransaction().underlyingOps()

    def _identifier(self, identifier: Identifier) -> Any:
        gateway: Any = self._session.sparkContext._gateway
        parts = gateway.new_array(self._jvm.java.lang.String, len(identifier.namespace))
        for position, part in enumerate(identifier.namespace):
            parts[position] = part
        catalog = self._iceberg.catalog
        return catalog.TableIdentifier.of(catalog.Namespace.of(parts), identifier.name)

    def _catalog(self) -> Any:
        jsession: Any = self._session._jsparkSession
        with active(self._session):
            return jsession.sessionState().catalogManager().catalog(self._name).icebergCatalog()


def _changes(staged: _Staged) -> bool:
    return staged.base is None or not staged.updated.changes().isEmpty()


def _written(staged: _Staged) -> str | None:
    """The metadata file of the commit just made: the one after our base in the table's log, for somebody may have
    committed since. None when that cannot be found out: the commit is in all the same.
    """
    try:
        base = None if staged.base is None else staged.base.metadataFileLocation()
        current = staged.operations.refresh()
        later = current.metadataFileLocation()
        for entry in reversed(list(current.previousFiles())):
            if entry.file() == base:
                break
            later = entry.file()
    except errors.ERRORS:
        return None
    return str(later)


def _outcome(phase: Phase, error: PySparkException | Py4JError | ConnectionError) -> Outcome:
    if errors.is_gone(error):
        return outcomes.of_gateway(phase, str(error).split("\n", 1)[0])
    return outcomes.of_java(phase, errors.chain(error))

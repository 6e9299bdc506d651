"""Tables as code, wired: observe the catalog, plan, apply through the loop, adopt, list and show."""

from __future__ import annotations

import fnmatch
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from firnline.config import endpoints
from firnline.config import tables as table_files
from firnline.config import write as writing
from firnline.config.values import Declaration
from firnline.core import instants
from firnline.core.errors import BadInput, FirnlineError, Partial, Refused
from firnline.core.ids import Identifier
from firnline.core.suggest import did_you_mean
from firnline.facts import meta as metadata
from firnline.facts import summaries
from firnline.facts.meta import TableMeta
from firnline.facts.ports import Pointer
from firnline.lakehouse import catalogs, ledger, plans, renames, showing
from firnline.lakehouse.plans import Preview
from firnline.loop.intents import Settled
from firnline.loop.values import Note, OutcomeKind
from firnline.tables import adopt as adopting
from firnline.tables import plan as planning
from firnline.tables.difference import compare
from firnline.tables.plan import Known
from firnline.tables.values import ChangeKind, Evidence, SpecFacts

if TYPE_CHECKING:
    from firnline.lakehouse.opening import Lakehouse

# Sizes of files are in the manifests, one read each: beyond this many, bytes are said to be unknown.
MANIFESTS_READ_MAX = 64
UNDECLARED_NAMED_MAX = 10
READ_AT_ONCE = 8  # metadata files of a listing: most of it is waiting where they lie in an object store
_TOTALS = ("total-records", "total-data-files", "total-files-size")


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of `tables list`."""

    table: str
    kind: str
    declared: bool
    format_version: int | None = None
    rows: int | None = None
    files: int | None = None
    bytes: int | None = None
    updated: datetime | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """Every entry of the catalog, and what to say of the namespaces that may not be listed."""

    tables: tuple[Listed, ...]
    unlisted: str | None = None


@dataclass(frozen=True, slots=True)
class Adopted:
    """What `tables adopt` wrote and what it left out, with the reason."""

    written: tuple[Path, ...]
    skipped: tuple[Note, ...]


class Tables:
    """`Lakehouse.tables`."""

    def __init__(self, lakehouse: Lakehouse) -> None:
        self._lakehouse = lakehouse

    def declared(self) -> table_files.LoadedTables:
        """Every table file of the project."""
        return table_files.load(self._lakehouse.root)

    def load(self, name: str | Identifier) -> TableMeta:
        """The metadata of one table; BadInput with the nearest name when there is none."""
        return self._parse(catalogs.entry(self._lakehouse, name))

    def _parse(self, pointer: Pointer) -> TableMeta:
        assert pointer.metadata_location is not None
        return metadata.parse(self._lakehouse.blobs.read(pointer.metadata_location), pointer.metadata_location)

    def plan(self, names: Sequence[str] = (), *, count: bool = False) -> Preview:
        """What would change. Starts no JVM, unless `count` lets Spark count nulls that metrics cannot tell."""
        loaded = self.declared()
        chosen = _choose(loaded.declarations, names)
        pointers, closed = self._pointers(chosen, whole=not names)
        known = {one.identifier: self._known(one, pointers.get(one.identifier), count=count) for one in chosen}
        planned = planning.plan(chosen, known, self._setting())
        cut_off = ledger.unsettled(self._lakehouse, self._keys(known))
        notes = (
            *(_settled_note(one) for one in cut_off),
            *planned.notes,
            *(() if closed is None else (Note("catalog", str(closed), "warning"),)),
            *(() if names else _undeclared(pointers, loaded.declarations)),
        )
        plan = plans.new(self._lakehouse, planned.steps, notes)
        settle = tuple(dict.fromkeys(one.table for one in cut_off))
        return Preview(plan, planned.refused, loaded.warnings, settle)

    def _pointers(
        self, chosen: Sequence[Declaration], *, whole: bool
    ) -> tuple[dict[Identifier, Pointer], Partial | None]:
        """The catalog's entries, those of declared tables at least: what may not be listed is asked for by name."""
        listed, closed = catalogs.listed(self._lakehouse) if whole else ((), None)
        found = {pointer.identifier: pointer for pointer in listed}
        if whole and closed is None:
            return found, None
        asked = (self._lakehouse.pointers.find(one.identifier) for one in chosen if one.identifier not in found)
        return found | {pointer.identifier: pointer for pointer in asked if pointer is not None}, closed

    def _keys(self, known: Mapping[Identifier, Known]) -> Iterator[str]:
        """Every lease key a step on one of these tables could have had."""
        catalog = self._lakehouse.settings.catalog.name
        yield from {f"{catalog}/namespace/{'.'.join(identifier.namespace)}" for identifier in known}
        for identifier, one in known.items():
            yield f"{catalog}/{identifier}"
            if one.meta is not None:
                yield f"{catalog}/{one.meta.uuid}"

    def _setting(self) -> planning.Setting:
        settings = self._lakehouse.settings
        connection = self._lakehouse.connection
        return planning.Setting(
            catalog=settings.catalog.name,
            warehouse=connection.warehouse,
            assigned=connection.assigns_locations,
            defaults=endpoints.table_defaults(settings.catalog),
            new_uuid=uuid.uuid4,
            namespaces=self._lakehouse.pointers.namespaces(),
            declared=settings.namespaces,
        )

    def _known(self, declaration: Declaration, pointer: Pointer | None, *, count: bool) -> Known:
        if pointer is None:
            return Known(None, None)
        if pointer.kind != "table" or pointer.metadata_location is None:
            return Known(None, pointer.kind)
        meta = self._parse(pointer)
        if meta.snapshot is None:
            return Known(meta)
        if declaration.drop is not None:
            return Known(meta, evidence=self._evidence(meta, ()))
        first = compare(declaration, meta, Evidence())
        if not first.changes:
            return Known(meta)
        proofs = tuple(change.subject for change in first.changes if change.kind is ChangeKind.REQUIRE_COLUMN)
        evidence = self._evidence(meta, _top_level_ids(meta, declaration, proofs))
        if count and None in evidence.nulls.values():
            evidence = self._counted(declaration.identifier, meta, evidence)
        return Known(meta, evidence=evidence)

    def _evidence(self, meta: TableMeta, proofs: tuple[int, ...]) -> Evidence:
        snapshot, manifests = meta.snapshot, self._lakehouse.manifests
        if snapshot is None:
            return Evidence()
        if (
            snapshot.manifest_list is None
        ):  # format 1 listing manifests in place: nothing is counted without reading all
            return Evidence({spec.spec_id or 0: SpecFacts(None, None) for spec in meta.specs}, dict.fromkeys(proofs))
        from firnline.facts import metrics  # numpy: an unchanged project is planned without

        lines = [line for line in manifests.list(snapshot.manifest_list) if line.content == "data"]
        sizes = metrics.data_bytes(manifests, lines) if len(lines) <= MANIFESTS_READ_MAX else {}
        specs = {}
        for spec_id in {line.spec_id or 0 for line in lines}:
            own = [line for line in lines if (line.spec_id or 0) == spec_id]
            specs[spec_id] = SpecFacts(
                _total(line.files for line in own), _total(line.rows for line in own), sizes.get(spec_id)
            )
        counted = metrics.null_counts(manifests, lines, proofs) if proofs else {}
        return Evidence(specs, {key: value.nulls for key, value in counted.items()})

    def _counted(self, identifier: Identifier, meta: TableMeta, evidence: Evidence) -> Evidence:
        """Nulls by a count on Spark, of the very snapshot the plan rests on."""
        from firnline.lakehouse import spark

        wanted = tuple(key for key, value in evidence.nulls.items() if value is None)
        with self._lakehouse.notify(f"Counting nulls in {identifier}"):
            counted = spark.count_nulls(self._lakehouse, identifier, meta, wanted)
        return replace(evidence, nulls={**evidence.nulls, **counted}, counted=True)

    def list(self) -> Listing:
        """Every entry of the catalog; what cannot be read is listed with the reason."""
        declared = {declaration.identifier for declaration in self.declared().declarations}
        pointers, closed = catalogs.listed(self._lakehouse)
        with ThreadPoolExecutor(READ_AT_ONCE) as pool:
            entries = pool.map(lambda one: self._listed(one, declared=one.identifier in declared), pointers)
            return Listing(tuple(entries), None if closed is None else str(closed))

    def _listed(self, pointer: Pointer, *, declared: bool) -> Listed:
        name = str(pointer.identifier)
        if pointer.kind != "table" or pointer.metadata_location is None:
            return Listed(name, pointer.kind, declared)
        try:
            meta = self._parse(pointer)
        except FirnlineError as error:
            return Listed(name, "table", declared, problem=error.what)
        rows, files, size = (summaries.count(meta.snapshot, key) if meta.snapshot else 0 for key in _TOTALS)
        updated = instants.from_millis(meta.last_updated_ms)
        return Listed(name, "table", declared, meta.format_version, rows, files, size, updated)

    def show(self, name: str) -> showing.Shown:
        """One table as it is now."""
        identifier = Identifier.parse(name)
        return showing.shown(identifier, self.load(identifier))

    def adopt(self, pattern: str, *, force: bool = False) -> Adopted:
        """Write a table file for every table of this name or glob (`db.*`). Existing files are kept without `force`."""
        loaded = self.declared().declarations
        declared = {declaration.identifier for declaration in loaded}
        listed, closed = catalogs.listed(self._lakehouse)
        pointers = [pointer for pointer in listed if _matches(pointer.identifier, pattern)]
        if not pointers:
            if closed is not None:
                raise closed
            known = [str(pointer.identifier) for pointer in listed]
            raise BadInput(f"No table matches {pattern!r}.", next_step=did_you_mean(pattern, known) or None)
        written: list[Path] = []
        skipped: list[Note] = []
        for pointer in pointers:
            if pointer.identifier in declared and not force:
                skipped.append(Note(str(pointer.identifier), "declared already"))
                continue
            try:
                written.append(self._adopt(pointer, force=force, loaded=loaded))
            except FirnlineError as error:
                skipped.append(Note(str(pointer.identifier), error.what, "warning"))
        return Adopted(tuple(written), tuple(skipped))

    def rename(self, name: str, to: str) -> Preview:
        """A plan that gives a table another name, its files where they are. Empty when it is its name already."""
        return renames.preview(self._lakehouse, Identifier.parse(name), Identifier.parse(to))

    def _adopt(self, pointer: Pointer, *, force: bool, loaded: Iterable[Declaration]) -> Path:
        if pointer.kind != "table" or pointer.metadata_location is None:
            raise Refused(f"{catalogs.kind_of(pointer)}, not an Iceberg table: skipped.")
        declaration = adopting.declaration(pointer.identifier, self._parse(pointer))
        text = writing.declaration(declaration)
        path = self._file_of(pointer.identifier, loaded)
        if path.exists() and not force:
            raise Refused(f"{path.relative_to(self._lakehouse.root)} exists already and declares another table.")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def _file_of(self, identifier: Identifier, loaded: Iterable[Declaration]) -> Path:
        existing = next((one.source.file for one in loaded if one.identifier == identifier), None)
        if existing is not None:
            return self._lakehouse.root / existing
        parts = [planning.path_part(part) for part in (*identifier.namespace, identifier.name)]
        return self._lakehouse.root.joinpath("tables", *parts[:-1], f"{parts[-1]}.yaml")


def _total(values: Iterable[int | None]) -> int | None:
    listed = list(values)
    known = [value for value in listed if value is not None]
    return sum(known) if len(known) == len(listed) else None


def _top_level_ids(meta: TableMeta, declaration: Declaration, names: tuple[str, ...]) -> tuple[int, ...]:
    """Field ids of columns by their declared name; a renamed one is found by its old name."""
    wanted = []
    for field in declaration.schema.fields:
        old = declaration.was.get((field.name,), field.name)
        current = meta.schema.struct.field(field.name) or meta.schema.struct.field(old)
        if current is not None and current.id is not None and any(field.name == name.strip("`") for name in names):
            wanted.append(current.id)
    return tuple(wanted)


def _choose(declarations: Sequence[Declaration], names: Sequence[str]) -> tuple[Declaration, ...]:
    if not names:
        return tuple(declarations)
    chosen: dict[Identifier, Declaration] = {}
    for name in names:
        found = [one for one in declarations if _matches(one.identifier, name)]
        if not found:
            known = [str(one.identifier) for one in declarations]
            raise BadInput(
                f"No table file declares {name!r}.",
                next_step=did_you_mean(name, known) or "`firnline tables adopt` writes the file of an existing table.",
            )
        chosen |= {one.identifier: one for one in found}
    return tuple(chosen.values())


def _matches(identifier: Identifier, pattern: str) -> bool:
    return str(identifier) == pattern or fnmatch.fnmatchcase(str(identifier), pattern)


def _undeclared(pointers: Iterable[Identifier], declarations: Iterable[Declaration]) -> tuple[Note, ...]:
    declared = {one.identifier for one in declarations}
    extra = sorted(str(identifier) for identifier in pointers if identifier not in declared)
    if not extra:
        return ()
    named = ", ".join(extra[:UNDECLARED_NAMED_MAX]) + (" …" if len(extra) > UNDECLARED_NAMED_MAX else "")
    adopting_it = "`firnline tables adopt NAME` writes a file."
    text = f"{len(extra)} in the catalog and not declared, left alone: {named}. {adopting_it}"
    return (Note("catalog", text),)


def _settled_note(one: Settled) -> Note:
    open_still = one.outcome.kind is OutcomeKind.UNKNOWN
    return Note(one.subject, str(one), "warning" if open_still else "info")

"""A table under another name, decided. Pure: the table, what has the new name and the declarations come in."""

from __future__ import annotations

from collections.abc import Mapping

from firnline.config.values import Declaration
from firnline.core.errors import Refused
from firnline.core.ids import Identifier, StepId
from firnline.facts.meta import TableMeta
from firnline.loop.values import Step
from firnline.tables.values import RENAME, TableRename


def plan(
    identifier: Identifier,
    meta: TableMeta,
    to: Identifier,
    declared: Mapping[Identifier, Declaration],
    *,
    catalog: str,
    taken: str | None,
    homeless: bool,
) -> Step:
    """The rename as a step. `taken` says what has the new name, None: nothing; `homeless`: its namespace is not there.
    Refused while a file declares the old name: the next apply would make that table anew, empty.
    """
    if identifier in declared:
        file = declared[identifier].source.file
        raise Refused(
            f"{identifier} is declared in {file}, so it is not renamed.",
            why="The next `firnline apply` would find no table of the declared name and create it anew, empty.",
            next_step=f"Write `table: {to}` in {file} first, then give this command again.",
        )
    if taken is not None:
        raise Refused(
            f"{identifier} cannot become {to}: {taken} has this name.",
            next_step="Choose another name; `firnline tables list` shows those there are.",
        )
    if homeless:
        namespace = ".".join(to.namespace)
        raise Refused(
            f"{identifier} cannot become {to}: there is no namespace {namespace}.",
            next_step=f"Declare it in lakehouse.yaml (`namespaces: {{{namespace}: {{}}}}`), and run `firnline apply`.",
        )
    if meta.uuid is None:
        raise Refused(
            f"{identifier} has no uuid, as the first format allows, so it is not renamed.",
            why="Whether the rename was done is found out by it, should the catalog's answer be lost.",
            next_step="Any commit by a current engine gives it one.",
        )
    readers = declared[to].readers if to in declared else ()
    body = TableRename(identifier, meta.uuid, to, meta.table_location, readers)
    return Step(StepId("1"), RENAME, str(identifier), f"{catalog}/{meta.uuid}", body, meta.location)

"""Takes a statement of the user's apart: which tables it names, whether it only reads, and how to pin it to snapshots.

Spark's own parser does it, never one of ours, so that what is checked is what runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from firnline.adapters.spark import errors
from firnline.adapters.spark.session import active
from firnline.core.errors import BadInput

# What queries are made of, by the names of Spark 4.1. An allow-list: what a later Spark adds is refused, not run.
# Left out on purpose: ScriptTransformation runs a shell command, Call a procedure, InsertInto… writes.
_QUERY = frozenset(
    [
        *("Aggregate", "AsOfJoin", "Distinct", "Except", "Filter", "Generate", "GlobalLimit", "Intersect", "Join"),
        *("LateralJoin", "LocalLimit", "LocalRelation", "Offset", "OneRowRelation", "PipeOperator", "Pivot", "Project"),
        *("Range", "RebalancePartitions", "RelationTimeTravel", "Repartition", "RepartitionByExpression", "Sample"),
        *("Sort", "SubqueryAlias", "Tail", "Union", "Unpivot", "UnpivotTransformer", "UnresolvedHaving"),
        *("UnresolvedHint", "UnresolvedInlineTable", "UnresolvedRelation", "UnresolvedSubqueryColumnAliases"),
        *("UnresolvedTVFAliases", "UnresolvedTableValuedFunction", "UnresolvedWith", "Window", "WithWindowDefinition"),
    ]
)
# Commands that only show something.
_LOOKS = frozenset(
    [
        *("DescribeColumn", "DescribeFunction", "DescribeNamespace", "DescribeQueryCommand", "DescribeRelation"),
        *("ExplainCommand", "ShowColumns", "ShowCreateTable", "ShowFunctions", "ShowNamespaces"),
        *(
            "ShowNamespacesCommand",
            "ShowTableProperties",
            "ShowTables",
            "ShowViews",
            "UnresolvedAttribute",
            "UnresolvedNamespace",
        ),
        *("UnresolvedTable", "UnresolvedTableOrView"),
    ]
)
# `${…}` is replaced inside the parser: what was written would not be what is checked, and positions would shift.
_AS_WRITTEN = ("spark.sql.variable.substitute", "false")


@dataclass(frozen=True, slots=True)
class Mention:
    """A table's name in a statement, and the position right behind it."""

    parts: tuple[str, ...]
    end: int


def other_than_reading(session: SparkSession, statement: str) -> str | None:
    """What in the statement is no part of a query, nor of looking at the catalog; None when it only reads."""
    kinds = (_kind(node) for node in _nodes(_parsed(session, statement)))
    return next((kind for kind in kinds if kind not in _QUERY | _LOOKS), None)


def mentions(session: SparkSession, statement: str) -> tuple[Mention, ...]:
    """The tables a query names, in order, without the names it gives itself in WITH. BadInput for what is no query."""
    found: list[Mention] = []
    own: set[str] = set()
    for node in _nodes(_parsed(session, statement)):
        match _kind(node):
            case "UnresolvedRelation":
                found.append(Mention(_sequence(node.multipartIdentifier()), node.origin().stopIndex().get() + 1))
            case "UnresolvedWith":
                # Its pairs hold the name first and the query, an inner child of the node, second.
                own |= {str(pair.productElement(0)).casefold() for pair in _sequence(node.cteRelations())}
            case "RelationTimeTravel":
                raise BadInput(
                    "The statement itself has AS OF, so it is said twice which snapshot is meant.",
                    next_step="Leave --at out, or AS OF.",
                )
            case kind:
                _require_query(kind)
    named = (one for one in found if len(one.parts) > 1 or one.parts[0].casefold() not in own)
    return tuple(sorted(dict.fromkeys(named), key=lambda mention: mention.end))


def _require_query(kind: str) -> None:
    if kind not in _QUERY:
        raise BadInput(f"--at goes with a query over plain table names, and this statement has {kind}.")


def pinned(statement: str, pins: Mapping[Mention, int]) -> str:
    """The statement with each mention reading one snapshot."""
    for mention, snapshot in sorted(pins.items(), key=lambda pin: pin[0].end, reverse=True):
        statement = f"{statement[: mention.end]} VERSION AS OF {snapshot}{statement[mention.end :]}"
    return statement


def quoted(parts: Sequence[str]) -> str:
    """A dotted name as Spark's SQL reads it back unchanged."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def _parsed(session: SparkSession, statement: str) -> Any:
    session.conf.set(*_AS_WRITTEN)
    with errors.folded("reading the statement"), active(session):
        return session._jsparkSession.sessionState().sqlParser().parsePlan(statement)


def _nodes(plan: Any) -> Iterator[Any]:
    """Every node: children, and what Spark calls inner children: subqueries, and the queries of a WITH."""
    yield plan
    for child in (*_sequence(plan.children()), *_sequence(plan.innerChildren())):
        yield from _nodes(child)


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _sequence(scala: Any) -> tuple[Any, ...]:
    return tuple(scala.apply(position) for position in range(scala.length()))

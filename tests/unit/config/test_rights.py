"""The table of rights is what the adapters do: no call without its right, no right without its call."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from botocore import xform_name
from botocore.session import Session

import firnline
from firnline.config import rights
from firnline.config.rights import RIGHTS

ROOM = Path(firnline.__file__).parent / "adapters" / "aws"
SERVICES = ("s3", "glue", "dynamodb", "sts", "kms", "lakeformation", "s3tables")
# Names of operations that stand in the code and are no calls of ours.
NO_CALLS = {"AssumeRole": "botocore's own, for `role`; the right is that of whoever assumes it"}
READING = ("Get", "List", "Head", "Describe", "Query", "BatchGet")
REST = {rights.GLUE_REST, rights.S3TABLES_REST}
# The operations of the Iceberg REST specification that `adapters.rest` may send to AWS.
REST_OPERATIONS = {
    "getConfig", "listNamespaces", "loadNamespaceMetadata", "createNamespace", "updateProperties", "listTables",
    "loadTable", "createTable", "updateTable", "dropTable", "renameTable",
}  # fmt: skip


@cache
def operations() -> Mapping[str, frozenset[tuple[str, str]]]:
    """Every spelling of an operation → the (service, operation) it may mean."""
    found: dict[str, set[tuple[str, str]]] = {}
    session = Session()
    for service in SERVICES:
        for operation in session.get_service_model(service).operation_names:
            for spelling in (operation, xform_name(operation)):
                found.setdefault(spelling, set()).add((service, operation))
    return {spelling: frozenset(meant) for spelling, meant in found.items()}


def spelled(text: str) -> Iterator[frozenset[tuple[str, str]]]:
    """What may be called by a file: each attribute, and each whole string, that is the name of an operation. Of a name
    that several services have, those that the file asks a client of; all, where it asks for none.
    """
    tree = ast.parse(text)
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    asked = words & set(SERVICES)
    words |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for word in sorted(words - set(NO_CALLS)):
        meant = operations().get(word, frozenset())
        yield frozenset(call for call in meant if call[0] in asked) or meant


@cache
def calls() -> frozenset[frozenset[tuple[str, str]]]:
    """Every call the room spells, each as what it may mean."""
    return frozenset(each for file in ROOM.glob("*.py") for each in spelled(file.read_text()) if each)


def test_calls_are_found_however_they_are_spelled() -> None:
    """A method, a method handed on, a paginator's name and an operation's own name are all calls."""
    text = (
        "s3 = client('s3')\ns3.put_object(Bucket='b')\nask(s3.get_object)\n"
        "s3.get_paginator('list_objects_v2')\nsend('HeadObject')\n"
    )
    found = {operation for each in spelled(text) for _, operation in each}
    assert found == {"PutObject", "GetObject", "ListObjectsV2", "HeadObject"}


def test_every_call_has_its_right() -> None:
    """What an adapter of AWS calls stands in the table."""
    known = {(right.service, right.operation) for right in RIGHTS}
    assert [sorted(each) for each in calls() if not each & known] == []


def test_every_right_has_its_call() -> None:
    """What stands in the table for a service of AWS is called by an adapter."""
    called = {call for each in calls() for call in each}
    idle = {(right.service, right.operation) for right in RIGHTS if right.service in SERVICES} - called
    assert idle == set()


def test_services_are_known() -> None:
    """A right belongs to a service of botocore, to a REST dialect, or to Spark."""
    assert {right.service for right in RIGHTS} <= {*SERVICES, *REST, rights.SPARK}
    assert {right.operation for right in RIGHTS if right.service in REST} == REST_OPERATIONS


@pytest.mark.parametrize("purpose", [rights.LOOK, rights.EXAMINE])
def test_looking_has_no_right_to_write(purpose: str) -> None:
    """The calls of looking read, and so do the actions they need."""
    mine = [right for right in RIGHTS if right.purpose == purpose]
    assert mine
    for right in mine:
        name = right.action.partition(":")[2]
        assert name.startswith(READING) or right.action == "kms:Decrypt", right
        assert right.operation[0].lower() + right.operation[1:] in REST_OPERATIONS or right.operation.startswith(
            READING
        ), right


def test_no_right_is_said_twice() -> None:
    """A call and an action stand together once for each thing they are about."""
    keys = [(right.service, right.operation, right.action, right.on) for right in RIGHTS]
    assert len(keys) == len(set(keys))


def test_an_action_is_as_harmless_as_its_most_harmless_use() -> None:
    """What looking and operating both need is a right of looking."""
    assert rights.purpose_of("s3:GetObject") == rights.LOOK
    assert rights.purpose_of("s3:GetBucketPolicy") == rights.EXAMINE
    assert rights.purpose_of("s3:PutObject") == rights.OPERATE
    assert rights.purpose_of("s3:SomethingElse") == rights.OPERATE

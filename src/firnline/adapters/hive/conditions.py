"""Conditions on an alteration: the metastore changes an entry only if one of its parameters is what we expect.

HMS 2.3.10, 4.0.0 and later hold them, in the transaction of the change itself; earlier ones ignore them without a word.
"""

from __future__ import annotations

import contextlib
from typing import Any
from uuid import uuid4

from hive_metastore.ttypes import EnvironmentContext, FieldSchema, SerDeInfo, StorageDescriptor, Table

from firnline.adapters.hive.answers import MODIFIED
from firnline.adapters.hive.client import HiveClient
from firnline.adapters.hive.entries import NO_STATISTICS
from firnline.adapters.hive.pointers import METADATA_LOCATION
from firnline.adapters.hive.troubles import message
from firnline.adapters.hive.wire import Broken, Fault, Unreachable
from firnline.core.errors import Failed

ALTER = "alter_table_with_environment_context"


def expecting(location: str) -> Any:
    """What to send with an alteration of an entry that points to this location."""
    return EnvironmentContext(
        {
            "expected_parameter_key": METADATA_LOCATION,
            "expected_parameter_value": location,
            NO_STATISTICS: "true",
        }
    )


def are_held(client: HiveClient, database: str) -> bool:
    """Whether this metastore holds such conditions; Failed when it does not let that be found out.

    No version tells: 2.3.10 calls itself 3.0, and vendors carry the change back. So it is tried, on a view of our own
    that is there for a moment: whoever changes it under a condition that does not hold, ignores conditions. Never on a
    table, which might keep what it was asked with.
    """
    name = f"firnline_asks_{uuid4().hex}"
    try:
        with client.session() as line:
            line.call("create_table", _view(database, name, client.user))
            line.call(ALTER, database, name, _view(database, name, client.user), expecting("nowhere"))
    except Fault as error:
        if MODIFIED in message(error):
            return True
        raise Failed(
            f"Whether this metastore compares the pointer itself could not be found out: {message(error)}.",
            why="It is asked with a view named firnline_asks_… in the namespace of the table, made and dropped again.",
            next_step="Let the user of the catalog create views there, or remove engine.hive.lock-enabled=false.",
        ) from error
    finally:
        with contextlib.suppress(Unreachable, Broken, Fault):  # one that stays is empty, and nothing leads to it
            client.read("drop_table", database, name, False)
    return False


def _view(database: str, name: str, user: str) -> Any:
    """An entry without a folder, which no engine takes for an Iceberg table."""
    text = "SELECT 1 AS asked"
    return Table(
        tableName=name, dbName=database, owner=user, tableType="VIRTUAL_VIEW", partitionKeys=[],
        sd=StorageDescriptor([FieldSchema("asked", "int", None)], serdeInfo=SerDeInfo(parameters={})),
        parameters={METADATA_LOCATION: "here"}, viewOriginalText=text, viewExpandedText=text,
    )  # fmt: skip

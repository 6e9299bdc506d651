"""Whether a metastore holds conditions, asked without touching a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.hive.conditions import ALTER, are_held
from firnline.adapters.hive.wire import Fault
from firnline.core.errors import Failed
from tests import servers
from tests.unit.adapters.hive.lake import opened

MODIFIED = Fault("MetaException", "The table has been modified. The parameter value for key 'metadata_location' is 'a'")
DENIED = Fault("MetaException", "Permission denied: user=ann")


class Client:
    """A metastore of a kind that cannot be started here: it answers these methods so, and writes down what came."""

    user = "ann"

    def __init__(self, answers: dict[str, Exception]) -> None:
        self.answers = answers
        self.given: list[tuple[Any, ...]] = []

    @contextmanager
    def session(self) -> Iterator[Client]:
        """Itself is the line."""
        yield self

    def call(self, method: str, *given: Any) -> None:
        """What comes over it."""
        self.given.append((method, *given))
        if method in self.answers:
            raise self.answers[method]

    read = call


@pytest.mark.parametrize(
    ("answers", "held"),
    [
        ({ALTER: MODIFIED}, True),
        ({ALTER: Fault("InvalidOperationException", MODIFIED.text)}, True),
        ({ALTER: MODIFIED, "drop_table": DENIED}, True),
        ({}, False),
        ({ALTER: Fault("MetaException", "Unable to open a test connection")}, None),
        ({"create_table": DENIED}, None),
    ],
    ids=["holds them", "a proxy that does", "will not drop", "ignores them", "out of order", "no rights"],
)
def test_are_held(answers: dict[str, Exception], held: bool | None) -> None:
    """Only a complaint about the condition shows that it was read, and only a change that was made shows that it was
    not. No entry is named but the one that was made for it, which is dropped whatever comes.
    """
    client = Client(answers)
    if held is None:
        with pytest.raises(Failed, match="could not be found out"):
            are_held(client, "shop")  # type: ignore[arg-type]
    else:
        assert are_held(client, "shop") is held  # type: ignore[arg-type]
    made, *between, dropped = client.given
    name = made[1].tableName
    assert (made[0], made[1].dbName, made[1].tableType) == ("create_table", "shop", "VIRTUAL_VIEW")
    assert dropped == ("drop_table", "shop", name, False)
    for method, database, table, entry, condition in between:
        assert (method, database, table, entry.tableName) == (ALTER, "shop", name, name)
        assert condition.properties["expected_parameter_value"] == "nowhere"


@pytest.mark.spark
def test_a_real_metastore(tmp_path: Path) -> None:
    """The metastore of today holds conditions, and nothing is left of the question."""
    with opened(servers.metastore().uri, tmp_path) as lake:
        assert are_held(lake.client, lake.database)
        assert lake.client.table_names(lake.database) == []

"""What DuckDB is told of S3, and that no secret comes out again."""

from __future__ import annotations

from contextlib import closing

import pytest

from firnline.adapters.access import StoreAccess
from firnline.adapters.duckdb.connection import connect
from firnline.core.errors import Failed

TOLD = "SELECT unnest(scope) AS scope, secret_string FROM duckdb_secrets() ORDER BY scope"


def test_each_place_has_its_keys() -> None:
    """Credentials that hold for a folder are used there alone, and the secret is not to be read back."""
    stores = {
        "s3a://b/orders/": StoreAccess(
            "eu-west-1", "o'ne", "hunter2", "hunter3", "http://127.0.0.1:9", path_style=True
        ),
        "s3://b/customers/": StoreAccess("eu-west-1", "two", "hunter4"),
    }
    with closing(connect(stores=stores)) as opened:
        told = dict(opened.execute(TOLD).fetchall())
    assert told.keys() == {"s3://b/orders/", "s3://b/customers/"}
    for said in ("key_id=o'ne", "endpoint=127.0.0.1:9", "use_ssl=false", "url_style=path"):
        assert said in told["s3://b/orders/"]
    assert "use_ssl=true" in told["s3://b/customers/"]
    assert "hunter" not in repr(told)


def test_a_secret_that_cannot_be_told() -> None:
    """A key DuckDB does not take is said so without the statement it stands in."""
    with pytest.raises(Failed, match="does not take these credentials") as failed:
        connect(stores={"": StoreAccess("eu-west-1", "key", "hunter2\x00")})
    assert "hunter2" not in f"{failed.value!r} {failed.value}"
    assert failed.value.__cause__ is None

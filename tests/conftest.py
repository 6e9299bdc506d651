"""What holds for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from firnline.lakehouse.spark import Spark
from tests import sparklake


@pytest.fixture(scope="session", autouse=True)
def one_jvm_for_all() -> Iterator[None]:
    """Whichever test is first to start the JVM of the run, it has what the catalogs of every other test need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Spark, "_start", sparklake.start_for_all(Spark._start))
        yield

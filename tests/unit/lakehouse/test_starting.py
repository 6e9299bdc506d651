"""What `init` writes can be used at once, whatever stack is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from firnline.config import lakehouse as config
from firnline.core.errors import BadInput
from firnline.lakehouse import stack, starting


@pytest.mark.parametrize(
    ("names", "environments", "services"),
    [
        ((), ("local",), {"s3"}),
        (("hive", "s3"), ("local", "hive"), {"s3", "hive"}),
        (("rest",), ("local", "rest"), {"s3", "rest"}),
        (("glue", "dynamodb"), ("local", "glue"), {"s3", "glue", "dynamodb"}),
        (("s3",), ("local", "s3"), {"s3"}),
        (("glue", "rest", "hive", "s3"), ("local", "hive", "rest", "glue"), {"s3", "hive"}),
    ],
)
def test_an_environment_for_each_catalog(
    tmp_path: Path, names: tuple[str, ...], environments: tuple[str, ...], services: set[str]
) -> None:
    """Each catalog that is named has an environment, the first of them is the default, and what it needs can start."""
    starting.start(tmp_path, names)
    settings = config.load(tmp_path, None, {})
    assert settings.environments == environments
    assert settings.environment.name == environments[min(1, len(environments) - 1)]
    assert set(stack.needed(settings)) == services
    for name in environments:
        assert not config.load(tmp_path, name, {}).catalog.shared


def test_states_apart(tmp_path: Path) -> None:
    """Environments do not share a ledger: their tables are others."""
    starting.start(tmp_path, ("hive", "rest"))
    paths = {config.load(tmp_path, name, {}).environment.state.properties.get("path") for name in ("hive", "rest")}
    assert len(paths) == 2


@pytest.mark.parametrize(
    ("names", "said"), [(("hvie",), "Did you mean 'hive'"), (("dynamodb",), "needs a catalog"), (("s3", "x"), "'x'")]
)
def test_no_such_stack(tmp_path: Path, names: tuple[str, ...], said: str) -> None:
    """A part that does not exist, or a stack without a catalog, is told before anything is written."""
    with pytest.raises(BadInput) as refused:
        starting.start(tmp_path, names)
    assert said in str(refused.value)
    assert list(tmp_path.iterdir()) == []

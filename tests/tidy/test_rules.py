"""Each house rule finds the fault it is there for, and leaves good text alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

import pytest

from tests.tidy import rules

Rule = Callable[[str], Iterator[str]]

LONG_FUNCTION = "def run():\n" + "    x = 1\n" * 70
REGISTRY = "see https://pypi" + ".org/project/firnline"
SIMPLE = "https://mirror.example" + "/simple"

FAULTS: list[tuple[Rule, str]] = [
    (rules.file_length, "x\n" * 500),
    (rules.function_length, LONG_FUNCTION),
    (rules.function_length, f"class A:\n    async {LONG_FUNCTION.replace(chr(10), chr(10) + '    ').strip()}"),
    (rules.banned_classes, "class TableManager: ..."),
    (rules.banned_classes, "class S3Helpers: ..."),
    (rules.test_docstrings, "def test_it():\n    assert 1"),
    (rules.test_docstrings, "class TestIt:\n    def test_it(self):\n        assert 1"),
    (rules.unfinished, "def f():\n    raise NotImplementedError('later')"),
    (rules.impurity, "import time"),
    (rules.impurity, "from random import choice"),
    (rules.impurity, "from datetime import datetime\nx = datetime.now()"),
    (rules.impurity, "import os\nx = os.environ['HOME']"),
    (rules.impurity, "import uuid\nx = uuid.uuid4()"),
    (rules.registry_addresses, REGISTRY),
    (rules.registry_addresses, SIMPLE),
    (rules.unreasoned, 'ignore = [\n    "E501",\n]'),
    (rules.unreasoned, '"tests/**" = [\n    "S101", # why\n    "FBT",\n]'),
]

GOOD: list[tuple[Rule, str]] = [
    (rules.file_length, "x\n" * 400),
    (rules.function_length, "def run():\n    return 1"),
    (rules.banned_classes, "class CommitRequest: ..."),
    (rules.test_docstrings, 'def test_it():\n    """One is true."""\n    assert 1\n\ndef fixture(): ...'),
    (rules.unfinished, "raise ValueError"),
    (rules.impurity, "from datetime import datetime\ndef f(now: datetime): return now"),
    (rules.registry_addresses, "https://iceberg.apache" + ".org/spec and a simple word"),
    (rules.unreasoned, 'ignore = [\n    "E501", # why\n]\nselect = [\n    "ALL",\n]'),
]


@pytest.mark.parametrize(("rule", "text"), FAULTS)
def test_a_planted_fault_is_found(rule: Rule, text: str) -> None:
    """Every rule over text complains of the fault it is there for, once."""
    assert len(list(rule(text))) == 1


@pytest.mark.parametrize(("rule", "text"), GOOD)
def test_good_text_passes(rule: Rule, text: str) -> None:
    """No rule over text complains of text as it should be."""
    assert not list(rule(text))


@pytest.mark.parametrize("path", ["src/firnline/core/utils.py", "tests/helpers/x.py", "src/firnline/table_manager.py"])
def test_a_grab_bag_is_found(path: str) -> None:
    """A file or folder named after nothing is refused."""
    assert len(list(rules.banned_path(PurePosixPath(path)))) == 1


def test_a_noun_is_no_grab_bag() -> None:
    """A banned word inside another word is no fault."""
    assert not list(rules.banned_path(PurePosixPath("src/firnline/loop/commits.py")))


def test_unknown_furniture_is_found() -> None:
    """A capability's file must have a fixed name or be introduced by its package."""
    assert list(rules.furniture("stuff", "Tables as code. `difference` compares."))
    assert not list(rules.furniture("difference", "Tables as code. `difference` compares."))
    assert not list(rules.furniture("plan", None))


def test_a_dead_module_is_found() -> None:
    """A module nobody imports is dead, one that only imports itself too."""
    sources = {
        "firnline.cli.app": "from firnline.core import ids\nLAZY = 'firnline.cli.plan:plan'",
        "firnline.core.ids": "",
        "firnline.cli.plan": "",
        "firnline.core.old": "import firnline.core.old",
    }
    assert list(rules.dead_modules(sources, ["firnline.cli.app"])) == ["firnline.core.old is imported by nothing"]


def test_an_adapter_that_knows_logic_is_found() -> None:
    """An adapter may import a capability's values and ports, and nothing else of it."""
    assert list(rules.adapter_imports("from firnline.tables.plan import plan", ["tables"]))
    assert list(rules.adapter_imports("from firnline.tables import run", ["tables"]))
    assert not list(rules.adapter_imports("from firnline.tables.values import Change", ["tables"]))


@pytest.mark.parametrize(
    ("module", "pure"),
    [
        ("firnline.core.ids", True),
        ("firnline.tables.plan", True),
        ("firnline.loop.values", True),
        ("firnline.judge.rules.small_files", True),
        ("firnline.tables.run", False),
        ("firnline.adapters.spark.session", False),
    ],
)
def test_pure_places(module: str, pure: bool) -> None:
    """The core and the furniture that decides are pure; what runs and what adapts is not."""
    assert rules.is_pure_place(module, ["tables"]) is pure


def test_enum_words_are_found() -> None:
    """The words of a StrEnum are its values, of another enum its names; private enums have none."""
    text = (
        "class Kind(StrEnum):\n    A = 'not-done'\nclass Rank(IntEnum):\n    FOLD = 1\nclass _X(StrEnum):\n    B = 'b'"
    )
    assert list(rules.enum_words(text)) == [("Kind", "not done"), ("Rank", "fold")]


def test_glossary_words_are_found() -> None:
    """Bold words at the start of a line are explained ones; bold in the text is not."""
    assert rules.glossary_words("**Done**, **not done**: two. And **this** not.\nplain") == {"done", "not done"}

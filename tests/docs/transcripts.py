"""Reads the runnable parts of a Markdown page: files to write and commands to run, with what they print.

    ```yaml file=tables/shop/orders.yaml      a file of the reader's project, written as it stands
    ```console                                commands after `$ `, each with its output below; `…` stands for anything
    ```console exit=3                         the last command of the block ends with this code

A command without output below it may print whatever it likes. Lines that start with `#` are words to the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"(\w+)=(\S+)")


@dataclass(frozen=True, slots=True)
class FileText:
    """A file the page tells its reader to write."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, the exit code it ends with, and what the page says it prints (None: nothing said)."""

    line: str
    exit: int
    output: str | None


def parts(markdown: str) -> Iterator[FileText | Command]:
    """The runnable parts, in the order of the page."""
    for language, options, body in _FENCE.findall(markdown):
        named = dict(_OPTION.findall(options))
        if "file" in named:
            yield FileText(named["file"], body)
        elif language == "console":
            yield from _commands(body, int(named.get("exit", 0)))


def _commands(body: str, code: int) -> Iterator[Command]:
    blocks = re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]
    for position, block in enumerate(blocks):
        line, _, rest = block.partition("\n")
        output = "\n".join(each for each in rest.splitlines() if not each.startswith("#")).strip("\n")
        yield Command(line.strip(), code if position == len(blocks) - 1 else 0, output or None)


def matches(expected: str, printed: str) -> bool:
    """Whether what was printed is what is shown: `…` for anything, across lines too; spaces at line ends aside."""
    wanted = "\n".join(line.rstrip() for line in expected.strip("\n").splitlines())
    seen = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
    pattern = ".*".join(re.escape(piece) for piece in wanted.split("…"))
    return re.fullmatch(pattern, seen, re.DOTALL) is not None

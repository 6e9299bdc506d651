"""Writes docs/reference from the code: `make docs`. A test fails while a page is not what this would write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from firnline.cli import app
from firnline.config import amounts, grammar, prices, project, schema, shapes
from firnline.core import errors
from tests.decisions import changes

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
_MADE = "<!-- Made by `make docs` from the code: edit it there. -->\n"


def pages() -> dict[str, str]:
    """Every generated file under docs/reference, by its name."""
    return {
        "cli.md": _page("Command line", _cli()),
        "table-file.md": _page("Table files", _keys("`tables/**/*.yaml`: one file per table.", grammar.TABLE)),
        "lakehouse-file.md": _page("lakehouse.yaml", _keys("The file at the top of a project.", project.LAKEHOUSE)),
        "prices-file.md": _page("prices.yaml", _keys("What things cost, when not the list price.", prices.PRICES)),
        "exit-codes.md": _page("Exit codes", _exit_codes()),
        "changes.md": changes.markdown(),
        "table.schema.json": json.dumps(schema.table(), indent=2, ensure_ascii=False) + "\n",
        "lakehouse.schema.json": json.dumps(schema.lakehouse(), indent=2, ensure_ascii=False) + "\n",
        "prices.schema.json": json.dumps(schema.prices(), indent=2, ensure_ascii=False) + "\n",
    }


def _page(title: str, lines: Iterator[str]) -> str:
    return f"# {title}\n\n{_MADE}\n" + "\n".join(lines).rstrip() + "\n"


def _cli() -> Iterator[str]:
    yield "Options every command has are listed once, at the end."
    root: Any = typer.main.get_command(app.build())
    for name, command in root.commands.items():
        if hasattr(command, "commands"):
            yield from ("", f"## firnline {name}", "", command.help or "")
            for verb, inner in command.commands.items():
                yield from _command(f"{name} {verb}", inner, "###")
        else:
            yield from _command(name, command, "##")
    yield from ("", "## Options of every command", "", *_table(_common(root)))


def _command(name: str, command: Any, level: str) -> Iterator[str]:
    yield from ("", f"{level} firnline {name}", "", command.help or "")
    own = [parameter for parameter in command.params if parameter.name not in {*app.COMMON, "help"}]
    if own:
        yield from ("", *_table(own))


def _common(root: Any) -> list[Any]:
    plan = root.commands["plan"]
    return [parameter for parameter in plan.params if parameter.name in app.COMMON]


def _table(parameters: list[Any]) -> Iterator[str]:
    yield from ("| argument or option | meaning |", "|---|---|")
    for parameter in parameters:
        option = parameter.param_type_name == "option"
        shown = ", ".join(parameter.opts) if option else _argument(parameter)
        meaning = (getattr(parameter, "help", None) or "").replace("|", r"\|")
        yield f"| `{shown}` | {meaning} |"


def _argument(parameter: Any) -> str:
    if parameter.metavar:
        return str(parameter.metavar)
    name = parameter.name.upper() + ("..." if parameter.nargs == -1 else "")
    return name if parameter.required else f"[{name}]"


def _keys(words: str, record: shapes.Record) -> Iterator[str]:
    yield words
    seen: set[str] = set()
    waiting = [(record.name, record)]
    while waiting:
        name, current = waiting.pop(0)
        if current.name in seen:
            continue
        seen.add(current.name)
        yield from ("", f"## {name}", "", "| key | what | meaning |", "|---|---|---|")
        for key, known in current.keys.items():
            must = " (required)" if known.required else ""
            yield f"| `{key}`{must} | {_what(known.shape)} | {known.doc} |"
            waiting += [(inner.name, inner) for inner in _records(known.shape, frozenset())]


def _records(shape: shapes.Shape, inside: frozenset[str]) -> Iterator[shapes.Record]:
    match shape:
        case shapes.Record():
            yield shape
        case shapes.Each():
            yield from _records(shape.item, inside)
        case shapes.Named():
            yield from _records(shape.value, inside)
        case shapes.Either():
            for option in shape.options:
                yield from _records(option, inside)
        case shapes.Later() if shape.name not in inside:
            yield from _records(shape.shape(), inside | {shape.name})
        case _:
            return


def _what(shape: shapes.Shape) -> str:
    match shape:
        case shapes.Text():
            return " or ".join(f"`{choice}`" for choice in shape.choices) if shape.choices else shape.what
        case shapes.Number():
            return "number"
        case shapes.Truth():
            return "`true` or `false`"
        case shapes.Duration():
            return "duration, such as `7d`"
        case shapes.Each():
            return f"list: {_what(shape.item)}"
        case shapes.Named():
            return f"mapping of {shape.name}"
        case shapes.Record():
            return f"{shape.name} (below)"
        case shapes.Either():
            return shape.what.rstrip(",")
        case shapes.Later():
            return f"{shape.name} (below)"
        case shapes.Written() | shapes.Leaf():
            return "value"
        case shapes.Amount():
            return amounts.WRITTEN[shape.unit]


def _exit_codes() -> Iterator[str]:
    yield "Every command ends with one of these. stdout is data and stderr is talk, whatever the code."
    yield from ("", "| code | meaning |", "|---|---|")
    meanings = {
        errors.EXIT_DONE: "done, or nothing to do",
        errors.EXIT_FAILED: "tried and failed; a part is missing; readers disagree; an outcome is unknown",
        errors.EXIT_BAD_INPUT: "something you wrote needs mending: a file, a name, an option",
        errors.EXIT_REFUSED: "refused, or blocked by somebody else; also `plan --expect-empty` with something to do",
        errors.EXIT_PARTIAL: "some of it was done",
        errors.EXIT_INTERRUPTED: "interrupted",
    }
    for code, meaning in sorted(meanings.items()):
        yield f"| {code} | {meaning} |"


def main() -> None:
    """Write every page."""
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}")


if __name__ == "__main__":
    main()

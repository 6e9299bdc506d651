"""The command `firnline`: options → use case → rendering, no logic. One file per verb, registered here by name."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import firnline
from firnline.cli import render
from firnline.core import errors

if TYPE_CHECKING:
    from firnline.lakehouse.opening import Lakehouse


class Output(StrEnum):
    """How stdout is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class LogFormat(StrEnum):
    """How stderr is written."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class State:
    """What every command knows: which project, which environment, how to speak."""

    project: Path
    env: str | None
    output: Output
    yes: bool

    def lakehouse(self) -> Lakehouse:
        """Open the project's lakehouse; nothing is connected until it is used."""
        from firnline.lakehouse.opening import Lakehouse

        return Lakehouse.open(self.project, env=self.env, notify=render.progress)


def state_of(ctx: typer.Context) -> State:
    """The state of the running command."""
    state = ctx.obj
    assert isinstance(state, State)
    return state


_ENV = typer.Option("--env", "-e", help="The environment; FIRNLINE_ENV and `default:` otherwise.", metavar="NAME")
_PROJECT = typer.Option("--project", "-C", help="The folder of lakehouse.yaml, or one below it.", metavar="DIR")
_OUTPUT = typer.Option("--output", "-o", help="How stdout is written.")
_YES = typer.Option("--yes", "-y", help="Do not ask; for scripts.")
_LOG = typer.Option("--log-format", help="How stderr is written.")

COMMON: dict[str, tuple[Any, Any]] = {
    "env": (Annotated[str | None, _ENV], None),
    "project": (Annotated[Path, _PROJECT], Path()),
    "output": (Annotated[Output, _OUTPUT], Output.TABLE),
    "yes": (Annotated[bool, _YES], False),
    "log_format": (Annotated[LogFormat, _LOG], LogFormat.TEXT),
}


def with_common(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options every command has, after its own, and put the State into its context."""
    own = inspect.signature(function).parameters
    hints = typing.get_type_hints(function, include_extras=True)
    common = {name: option for name, option in COMMON.items() if name not in own}

    @functools.wraps(function)
    def run(ctx: typer.Context, **given: Any) -> None:
        chosen: dict[str, Any] = {name: given.pop(name) if name in common else given.get(name) for name in COMMON}
        render.configure(output=chosen["output"], json_log=chosen["log_format"] is LogFormat.JSON)
        ctx.obj = State(chosen["project"], chosen["env"], chosen["output"], bool(chosen["yes"]))
        function(ctx, **given)

    parameters = [parameter.replace(annotation=hints.get(name, Any)) for name, parameter in own.items()]
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters += [
        inspect.Parameter(name, keyword, annotation=hint, default=default) for name, (hint, default) in common.items()
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def group(help_text: str) -> typer.Typer:
    """A Typer of our settings."""
    return typer.Typer(
        help=help_text,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"firnline {firnline.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """The operator for Apache Iceberg lakehouses: declare tables, plan, apply, look, undo, prove."""


def build() -> typer.Typer:
    """The whole command, every verb in its place."""
    from firnline.cli import commands

    app = group("")
    app.callback()(_root)
    for name, function in commands.VERBS.items():
        app.command(name)(with_common(function))
    for name, (help_text, verbs) in commands.GROUPS.items():
        sub = group(help_text)
        for verb, function in verbs.items():
            sub.command(verb)(with_common(function))
        app.add_typer(sub, name=name)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code, by the table. Nothing an ending can be gets past here."""
    try:
        build()(args=list(arguments), prog_name="firnline")
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else errors.EXIT_DONE
    except errors.FirnlineError as error:
        render.error(error)
        return error.exit_code
    except KeyboardInterrupt:
        render.warn("Interrupted.")
        return errors.EXIT_INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return errors.EXIT_DONE
    except Exception as error:  # noqa: BLE001 - the one place a bug of ours is met: no traceback, all of it in a file
        render.bug(error, os.environ)
        return errors.EXIT_FAILED
    return errors.EXIT_DONE


def main() -> None:
    """Entry point of the command."""
    sys.exit(run(sys.argv[1:]))

"""`firnline spark-conf`: the Spark settings of an environment, for jobs of the user's own."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import typer

from firnline.cli import render
from firnline.cli.app import Output, state_of

_REFERENCE = re.compile(r"\$\{env:([A-Za-z_]\w*)\}")


class Format(StrEnum):
    """What is to read the settings."""

    PROPERTIES = "properties"
    SUBMIT = "submit"
    JSON = "json"
    PYTHON = "python"


def spark_conf(
    ctx: typer.Context,
    format_: Annotated[
        Format, typer.Option("--format", help="spark-defaults.conf, spark-submit options, JSON, or a Python program.")
    ] = Format.PROPERTIES,
) -> None:
    """Print the Spark settings of the environment, jars included, for your own jobs. Nothing is started.

    A secret is never printed: what refers to a variable stays a reference. Example: firnline spark-conf --format submit
    """
    from firnline.config.secrets import MASK

    state = state_of(ctx)
    conf = state.lakehouse().spark.conf()
    if state.output is Output.JSON or format_ is Format.JSON:
        render.json(conf)
    elif state.output is Output.CSV:
        render.table(("setting", "value"), tuple(conf.items()))
    else:
        render.out(_FORMATS[format_](conf))
    masked = [key for key, value in conf.items() if MASK in value]
    if masked:
        render.warn(f"Secret, and masked: {', '.join(masked)}. Fill them in where the job runs.")


def properties(conf: Mapping[str, str]) -> str:
    """As spark-defaults.conf has them."""
    return "\n".join(f"{key} {_escaped(value)}".rstrip() for key, value in conf.items())


def submit(conf: Mapping[str, str]) -> str:
    """Options of spark-submit, for a shell; a reference becomes the shell's own."""
    return " \\\n".join(f"--conf {_shell(f'{key}={value}')}" for key, value in conf.items())


def python(conf: Mapping[str, str]) -> str:
    """A program that makes the session."""
    lines = [f"    .config({json.dumps(key)}, {_literal(value)})" for key, value in conf.items()]
    imports = ["import os", ""] if any("os.environ" in line for line in lines) else []
    head = [*imports, "from pyspark.sql import SparkSession", "", "spark = (", "    SparkSession.builder"]
    return "\n".join([*head, *lines, "    .getOrCreate()", ")"])


_FORMATS = {Format.PROPERTIES: properties, Format.SUBMIT: submit, Format.PYTHON: python}


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def _shell(text: str) -> str:
    pieces = _REFERENCE.split(text)
    # What stands between references alternates with the names in them.
    return "".join(
        f'"${{{piece}}}"' if position % 2 else (shlex.quote(piece) if piece else "")
        for position, piece in enumerate(pieces)
    )


def _literal(value: str) -> str:
    found = _REFERENCE.fullmatch(value)
    return f"os.environ[{json.dumps(found[1])}]" if found else json.dumps(value)

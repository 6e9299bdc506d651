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


class Place(StrEnum):
    """Where Spark is to run."""

    LOCAL = "local"
    SPARK_SUBMIT = "spark-submit"
    EMR_SERVERLESS = "emr-serverless"
    GLUE = "glue"


def spark_conf(
    ctx: typer.Context,
    format_: Annotated[
        Format | None,
        typer.Option("--format", help="spark-defaults.conf, spark-submit options, JSON, or a Python program."),
    ] = None,
    place: Annotated[
        Place,
        typer.Option(
            "--for", help="Where it is to run. EMR Serverless: sparkSubmitParameters; Glue: job arguments as JSON."
        ),
    ] = Place.LOCAL,
) -> None:
    """Print the Spark settings of the environment, jars included, for your own jobs. Nothing is started.

    A secret is never printed: what refers to a variable stays a reference. Example: firnline spark-conf --for glue
    """
    from firnline.config.secrets import MASK
    from firnline.lakehouse.spark import Target

    state = state_of(ctx)
    spark = state.lakehouse().spark
    conf = spark.conf(Target(place))
    if state.output is Output.CSV:
        render.table(("setting", "value"), tuple(conf.items()))
    elif state.output is Output.JSON or format_ is Format.JSON:
        render.json(conf)
    else:
        render.out(_FORMATS[format_](conf) if format_ else _USUAL[place](conf))
    if left := spark.left_out(Target(place)):
        render.warn(f"Left out, for the job's role stands for them: {', '.join(left)}.")
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


def emr_serverless(conf: Mapping[str, str]) -> str:
    """`sparkSubmitParameters` of a job run: one line."""
    return " ".join(f"--conf {shlex.quote(f'{key}={value}')}" for key, value in conf.items())


def glue(conf: Mapping[str, str]) -> str:
    """Arguments of a Glue job. It takes one `--conf`: the others stand inside its value."""
    inside = " --conf ".join(f"{key}={value}" for key, value in conf.items())
    return json.dumps({"--datalake-formats": "iceberg", "--conf": inside}, indent=2)


_FORMATS = {Format.PROPERTIES: properties, Format.SUBMIT: submit, Format.PYTHON: python}
_USUAL = {
    Place.LOCAL: properties,
    Place.SPARK_SUBMIT: submit,
    Place.EMR_SERVERLESS: emr_serverless,
    Place.GLUE: glue,
}


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

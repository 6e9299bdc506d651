"""`firnline iam-policy`: the least an environment needs on AWS, as a policy to attach."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from firnline.cli import render
from firnline.cli.app import Output, state_of


class Purpose(StrEnum):
    """What the policy is for."""

    LOOK = "look"
    OPERATE = "operate"


def iam_policy(
    ctx: typer.Context,
    purpose: Annotated[
        Purpose, typer.Option("--for", help="look: nothing that writes. operate: everything Firnline does.")
    ] = Purpose.LOOK,
    account: Annotated[
        str | None, typer.Option("--account", help="The account's number; `*` stands for it otherwise.", metavar="ID")
    ] = None,
) -> None:
    """Print the least-privilege IAM policy of the environment: what Firnline asks of AWS there, and nothing else.

    AWS is not asked anything. Example: firnline iam-policy --env prod --for look > policy.json
    """
    from firnline.lakehouse import rights

    state = state_of(ctx)
    made = rights.policy(state.lakehouse().settings, purpose.value, account)
    if state.output is Output.CSV:
        rows = (
            (each["Sid"], action, " ".join(each["Resource"]))
            for each in made.document["Statement"]
            for action in each["Action"]
        )
        render.table(("statement", "action", "resources"), rows)
    else:
        render.json(made.document)
    for note in made.notes:
        render.say(f"note: {note}")

"""What the policy of a bucket refuses to us, and whether it lets everybody in: a decision table. Pure."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from firnline.adapters.aws.looks import PolicyStatement

READING = ("s3:ListBucket", "s3:GetObject")
WRITING = ("s3:PutObject", "s3:DeleteObject")
ALWAYS, SOMETIMES, UNENCRYPTED = "always", "sometimes", "unencrypted"
_TLS = frozenset({"aws:securetransport", "s3:tlsversion"})  # we never come without
_ENCRYPTION = "s3:x-amz-server-side-encryption"
_SSE = {"kms": "aws:kms", "dsse-kms": "aws:kms:dsse", "s3": "AES256"}


@dataclass(frozen=True, slots=True)
class Us:
    """Who we are to the policy, and what has been shown to work whatever it says."""

    bucket: str
    prefix: str
    account: str | None
    arn: str | None
    actions: tuple[str, ...]  # those we need
    shown: frozenset[str] = frozenset()
    sse: str | None = None  # how we encrypt what we write


@dataclass(frozen=True, slots=True)
class Refusal:
    """A statement that refuses us something: always, sometimes (by its condition), or what comes unencrypted."""

    statement: str
    kind: str
    actions: tuple[str, ...]
    condition: tuple[str, ...] = ()  # the keys it looks at
    wanted: tuple[str, ...] = ()  # the encryption it asks for


def refusals(statements: Iterable[PolicyStatement], us: Us) -> Iterator[Refusal]:
    """Every refusal that may be meant for us and is not known to miss us."""
    for statement in statements:
        if statement.effect != "Deny" or not _is_for(statement, us) or not _is_about(statement, us):
            continue
        actions = tuple(each for each in us.actions if each not in us.shown and _names(statement.actions, each))
        keys = tuple(sorted({key for each in statement.condition.values() for key in each}))
        if not actions or (keys and all(key.casefold() in _TLS for key in keys)):
            continue
        if not keys:
            yield Refusal(statement.name, ALWAYS, actions)
        elif all(key.casefold().startswith(_ENCRYPTION) for key in keys):
            wanted = tuple(sorted(_values(statement, _ENCRYPTION)))
            if _SSE.get(us.sse or "") not in wanted:
                yield Refusal(statement.name, UNENCRYPTED, actions, keys, wanted)
        else:
            yield Refusal(statement.name, SOMETIMES, actions, keys)


def lets_everybody_in(statements: Iterable[PolicyStatement]) -> str | None:
    """The first statement that does, without a condition."""
    return next(
        (each.name for each in statements if each.effect == "Allow" and "*" in each.principals and not each.condition),
        None,
    )


def _values(statement: PolicyStatement, key: str) -> set[str]:
    return {
        value
        for keys in statement.condition.values()
        for name, values in keys.items()
        if name.casefold() == key
        for value in values
    } - {"true", "false"}  # of the operator Null


def _is_for(statement: PolicyStatement, us: Us) -> bool:
    """Whether its principals may mean us. A role's sessions are meant by the role's own ARN."""
    own = {text for text in (us.account, us.arn, us.account and f":{us.account}:root") if text}
    role = us.arn.split("/")[1] if us.arn and ":assumed-role/" in us.arn else None

    def means_us(principal: str) -> bool:
        return principal in own or principal.endswith((*own, f":role/{role}", f"/{role}") if role else tuple(own))

    excluded = [each.removeprefix("!") for each in statement.principals if each.startswith("!")]
    if excluded:
        return not any(each == "*" or means_us(each) for each in excluded)
    return any(each == "*" or not own or means_us(each) for each in statement.principals)


def _is_about(statement: PolicyStatement, us: Us) -> bool:
    """Whether one of its resources may be the bucket or a file under our folder, in whichever partition of AWS."""
    folder = f"{us.bucket}/{us.prefix}/" if us.prefix else f"{us.bucket}/"
    for each in statement.resources:
        name = each.removeprefix("!").rpartition(":::")[2]
        fixed = name.partition("*")[0].partition("?")[0]
        touched = name == us.bucket or folder.startswith(fixed) or fixed.startswith(folder)
        if touched != each.startswith("!"):
            return True
    return False


def _names(patterns: Iterable[str], action: str) -> bool:
    """Whether an action is one of those named, or not one of those excluded."""
    found = [(each.startswith("!"), each.removeprefix("!")) for each in patterns]
    named = any(fnmatch.fnmatchcase(action.casefold(), each.casefold()) for _, each in found)
    return named != any(excluded for excluded, _ in found)

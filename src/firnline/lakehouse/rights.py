"""The least that an environment needs on AWS, as an IAM policy: the table of rights, laid over what is declared.

Nothing is asked of AWS. What the declarations do not say stands as `*`, and a note says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from firnline.config import aws, endpoints, rights
from firnline.config.aws import AwsSettings, Partition
from firnline.config.endpoints import Endpoint, FilesAlone, GlueEndpoint, RestEndpoint
from firnline.config.values import CatalogSettings, LakehouseSettings
from firnline.core.errors import BadInput
from firnline.lakehouse import ledger

POLICY_CHARACTERS_MAX = 6_144  # of a managed policy, white space not counted
_VERSION = "2012-10-17"  # of IAM's policy language
_S3 = re.compile(r"s3[an]?://([A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9])(?:/(.*))?", re.DOTALL)
_WILD = re.compile(r"[*?$]")  # IAM's wildcards, and the sign of its variables
_ACCOUNT = re.compile(r"\d{12}")
_REST = {"glue": rights.GLUE_REST, "s3tables": rights.S3TABLES_REST}
Reached = Endpoint | FilesAlone
_INCLUDED = {rights.LOOK: (rights.LOOK, rights.EXAMINE), rights.OPERATE: (rights.LOOK, rights.EXAMINE, rights.OPERATE)}


@dataclass(frozen=True, slots=True)
class Place:
    """Where files of tables lie: a bucket, and the folder in it without slashes around it; empty: all of it."""

    bucket: str
    prefix: str

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")


@dataclass(frozen=True, slots=True)
class Policy:
    """An IAM policy, and what its reader has to know."""

    document: Mapping[str, Any]
    notes: tuple[str, ...]


def place(location: str | None) -> Place | None:
    """The bucket and folder of an S3 location, None for any other."""
    found = _S3.fullmatch(location or "")
    return Place(found[1], (found[2] or "").strip("/")) if found else None


def places(settings: LakehouseSettings, reached: Reached) -> tuple[Place, ...]:
    """Every place that is declared to hold tables of a catalog, each once, none inside another. Nobody declares where
    S3 Tables puts them.
    """
    if isinstance(reached, RestEndpoint) and reached.dialect == "s3tables":
        return ()
    own = reached.location or reached.warehouse if isinstance(reached, RestEndpoint) else reached.warehouse
    found = {each for text in (own, *(one.location for one in settings.namespaces)) if (each := place(text))}
    return tuple(
        sorted((each for each in found if not any(_holds(other, each) for other in found if other != each)), key=str)
    )


def _holds(outer: Place, inner: Place) -> bool:
    return outer.bucket == inner.bucket and f"{inner.prefix}/".startswith(f"{outer.prefix}/" if outer.prefix else "")


def policy(settings: LakehouseSettings, purpose: str, account: str | None = None) -> Policy:
    """What the environment needs for looking, or for everything. BadInput where nothing of it is on AWS."""
    if account is not None and not _ACCOUNT.fullmatch(account):
        raise BadInput(f"{account!r} is not the number of an AWS account.", next_step="It has 12 digits.")
    grounds = tuple(_grounds(settings, account or "*"))
    if not grounds:
        raise BadInput(
            f"Nothing of the environment {settings.environment.name!r} is on AWS: there is nothing to allow.",
            next_step=_others(settings),
        )
    document = {"Version": _VERSION, "Statement": _statements(grounds, purpose)}
    return Policy(document, tuple(dict.fromkeys(_notes(grounds, document, account))))


def _others(settings: LakehouseSettings) -> str | None:
    others = [name for name in settings.environments if name != settings.environment.name]
    return f"Choose another one with --env: {', '.join(others)}." if others else None


@dataclass(frozen=True, slots=True)
class _Scope:
    """What some rights are about, as a statement says it."""

    resources: tuple[str, ...]
    condition: tuple[tuple[str, str, tuple[str, ...]], ...] = ()  # operator, key, values

    def statement(self, sid: str, actions: Iterable[str]) -> dict[str, Any]:
        made = {"Sid": sid, "Effect": "Allow", "Action": sorted(set(actions)), "Resource": list(self.resources)}
        condition = {operator: {key: list(values)} for operator, key, values in self.condition}
        return made | ({"Condition": condition} if condition else {})


_EVERYWHERE = _Scope(("*",))


@dataclass(frozen=True, slots=True)
class _Ground:
    """One part of the environment: the services it is spoken to by, and what each kind of right is about there."""

    services: frozenset[str]
    scopes: Mapping[str, tuple[_Scope, ...]]
    settings: AwsSettings
    unplaced: str | None = None  # a catalog that does not say where its tables lie


@dataclass(frozen=True, slots=True)
class _Arns:
    """Writes ARNs of one region and account."""

    region: str
    account: str

    @property
    def partition(self) -> Partition:
        return aws.partition(self.region)

    def of(self, service: str, rest: str) -> str:
        return f"arn:{self.partition.name}:{service}:{self.region}:{self.account}:{rest}"

    def s3(self, rest: str) -> str:
        return f"arn:{self.partition.name}:s3:::{rest}"


def _grounds(settings: LakehouseSettings, account: str) -> Iterator[_Ground]:
    for catalog in settings.environment.catalogs.values():
        reached = endpoints.reached(catalog)
        if is_on_aws(settings, reached):
            yield _catalog(settings, catalog, reached, account)
    state = settings.environment.state
    if state.type == "dynamodb":
        reached_by = aws.settings(state.properties, "state")
        table = _Arns(reached_by.region or "*", account).of("dynamodb", f"table/{state_table(settings)}")
        scopes = {rights.STATE: (_Scope((table,)),), rights.ACCOUNT: (_EVERYWHERE,)}
        yield _Ground(frozenset({"dynamodb", "sts"}), scopes, reached_by)


def state_table(settings: LakehouseSettings) -> str:
    """The DynamoDB table of leases and ledger."""
    return settings.environment.state.properties.get("table", ledger.TABLE)


def is_on_aws(settings: LakehouseSettings, reached: Reached) -> bool:
    """Whether a catalog, or what lies in it, is on AWS, or on what speaks like it."""
    named = isinstance(reached, RestEndpoint) and reached.dialect in _REST
    return isinstance(reached, GlueEndpoint) or named or bool(places(settings, reached))


def _catalog(settings: LakehouseSettings, catalog: CatalogSettings, reached: Reached, account: str) -> _Ground:
    services = {"sts"}
    scopes: dict[str, tuple[_Scope, ...]] = {rights.ACCOUNT: (_EVERYWHERE,)}
    arns = _Arns(reached.aws.region or "*", account)
    if isinstance(reached, GlueEndpoint):
        services |= {"glue", "lakeformation"}
        scopes[rights.CATALOG] = (_glue(arns, reached.catalog_id),)
    if isinstance(reached, RestEndpoint) and reached.dialect in _REST:
        services |= {_REST[reached.dialect], reached.dialect} - {"glue"}
        scopes |= _rest(arns, reached)
    if reached.aws.kms_key:
        services.add("kms")
    if here := places(settings, reached):
        services |= {"s3", rights.SPARK}
        scopes |= _storage(arns, here, reached.aws.kms_key)
    holds_files = bool(here) or rights.ITS_TABLES in scopes
    return _Ground(frozenset(services), scopes, reached.aws, None if holds_files else catalog.name)


def _rest(arns: _Arns, reached: RestEndpoint) -> dict[str, tuple[_Scope, ...]]:
    vended: dict[str, tuple[_Scope, ...]] = {rights.VENDED: (_EVERYWHERE,)} if reached.vended else {}
    if reached.dialect == "s3tables":
        bucket = reached.warehouse or arns.of("s3tables", "bucket/*")
        return vended | {
            rights.TABLE_BUCKET: (_Scope((bucket,)),),
            rights.ITS_TABLES: (_Scope((f"{bucket}/table/*",)),),
        }
    return vended | {rights.CATALOG: (_glue(arns, reached.warehouse),)}


def _glue(arns: _Arns, catalog: str | None) -> _Scope:
    """The ARNs of a catalog, all its databases and tables. `catalog` is an account, or ACCOUNT:NESTED/CATALOG."""
    account, _, nested = (catalog or "").partition(":")
    own = _Arns(arns.region, account if _ACCOUNT.fullmatch(account) else arns.account)
    folder = f"{nested}/" if nested else ""
    above = [f"catalog/{'/'.join(parts)}" for parts in _beginnings(nested.split("/"))] if nested else []
    named = ("catalog", *above, f"database/{folder}*", f"table/{folder}*/*")
    return _Scope(tuple(own.of("glue", each) for each in named))


def _beginnings(parts: list[str]) -> Iterator[list[str]]:
    return (parts[:count] for count in range(1, len(parts) + 1))


def _storage(arns: _Arns, here: Iterable[Place], key: str | None) -> dict[str, tuple[_Scope, ...]]:
    by_bucket: dict[str, list[str]] = {}
    for each in here:
        by_bucket.setdefault(each.bucket, []).append(each.prefix)
    found: dict[str, tuple[_Scope, ...]] = {
        rights.BUCKET: (_Scope(tuple(arns.s3(bucket) for bucket in by_bucket)),),
        rights.LISTING: tuple(_listing(arns.s3(bucket), prefixes) for bucket, prefixes in by_bucket.items()),
        rights.FILES: (
            _Scope(tuple(arns.s3("/".join(filter(None, (each.bucket, _literal(each.prefix), "*")))) for each in here)),
        ),
    }
    return found if key is None else found | _key(arns, key)


def _listing(bucket: str, prefixes: list[str]) -> _Scope:
    if "" in prefixes:
        return _Scope((bucket,))
    below = tuple(text for prefix in map(_literal, prefixes) for text in (prefix, f"{prefix}/*"))
    return _Scope((bucket,), (("StringLike", "s3:prefix", below),))


def _literal(text: str) -> str:
    """A name as IAM takes it for itself."""
    return _WILD.sub(lambda found: f"${{{found[0]}}}", text)


def _key(arns: _Arns, key: str) -> dict[str, tuple[_Scope, ...]]:
    """A KMS key by ARN, id or alias. IAM knows keys by id only: an alias becomes a condition."""
    by_s3 = ("StringLike", "kms:ViaService", (f"s3.{arns.region}.{arns.partition.suffix}",))
    resource = key if key.startswith("arn:") and ":alias/" not in key else arns.of("kms", f"key/{key}")
    condition: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    if "alias/" in key:
        resource = arns.of("kms", "key/*")
        condition = (("ForAnyValue:StringEquals", "kms:ResourceAliases", ("alias/" + key.partition("alias/")[2],)),)
    return {
        rights.KEY: (_Scope((resource,), (*condition, by_s3)),),
        rights.KEY_ITSELF: (_Scope((resource,), condition),),
    }


def _statements(grounds: Iterable[_Ground], purpose: str) -> list[dict[str, Any]]:
    actions: dict[tuple[str, _Scope], list[str]] = {}
    for ground in grounds:
        for right in rights.RIGHTS:
            if right.purpose in _INCLUDED[purpose] and right.service in ground.services:
                for scope in ground.scopes.get(right.on, ()):
                    actions.setdefault((right.on, scope), []).append(right.action)
    seen: Counter[str] = Counter()
    made = []
    for (on, scope), granted in actions.items():
        seen[on] += 1
        number = str(seen[on]) if seen[on] > 1 else ""
        made.append(scope.statement(on.title().replace(" ", "") + number, granted))
    return made


def _notes(grounds: Iterable[_Ground], document: Mapping[str, Any], account: str | None) -> Iterator[str]:
    statements: list[dict[str, Any]] = document["Statement"]
    resources = [resource for statement in statements for resource in statement["Resource"]]
    # arn:PARTITION:SERVICE:REGION:ACCOUNT:…
    if account is None and any(resource.split(":")[4:5] == ["*"] for resource in resources):
        yield "The account is not declared and stands as *: --account fills it in."
    if any(resource.split(":")[3:4] == ["*"] for resource in resources):
        yield "A region is not declared and stands as *: set `region:`."
    for ground in grounds:
        if ground.unplaced:
            yield (
                f"Where tables of the catalog {ground.unplaced!r} lie is not declared: rights to their files are "
                "missing. Set its `warehouse`, or the locations of namespaces."
            )
        if ground.settings.role:
            yield f"This is for the role {ground.settings.role}; who assumes it needs sts:AssumeRole on it."
    if any("kms:" in action for statement in statements for action in statement["Action"]):
        yield "The policy of the KMS key must let this account use it, too."
    elif any("s3:GetObject" in statement["Action"] for statement in statements):
        yield "No KMS key is declared. If the bucket is encrypted with one of yours, set `s3.sse.key`."
    if any("s3:prefix" in str(statement.get("Condition")) for statement in statements):
        yield "Tables that lie outside the declared places need rights of their own."
    size = sum(not character.isspace() for character in str(document))
    if size > POLICY_CHARACTERS_MAX:
        yield f"It has about {size:,} characters; a managed policy holds {POLICY_CHARACTERS_MAX:,}: make it two."

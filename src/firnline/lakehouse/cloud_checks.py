"""Doctor for what lies on AWS: looks by `adapters.aws.examining`, and judges what was seen. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from firnline.config import aws, endpoints, rights
from firnline.config.aws import AwsSettings
from firnline.config.endpoints import GlueEndpoint, RestEndpoint
from firnline.core.errors import FirnlineError
from firnline.lakehouse import cloud_buckets, parts
from firnline.lakehouse import rights as granting
from firnline.lakehouse.checks import NOT_CHECKED, OK, PROBLEM, WARNING, Check, failed
from firnline.lakehouse.cloud_buckets import Ours, unknown

if TYPE_CHECKING:
    from firnline.adapters.aws.examining import Wanted
    from firnline.adapters.aws.looks import Caller, Denial, GlueLook, Look, Said, Versions
    from firnline.adapters.aws.sessions import Sessions
    from firnline.lakehouse.opening import Lakehouse

SKEW_PROBLEM_SECONDS = 300  # AWS takes no signature that is older, or younger, than five minutes
SKEW_WARNING_SECONDS = 60
# Quotas of Glue, which AWS raises for who asks.
TABLE_VERSIONS_MAX, ACCOUNT_VERSIONS_MAX = 100_000, 1_000_000
NEAR, VERY_NEAR = 0.5, 0.9
NAMED_MAX = 3
_GRANT = (
    "Have an administrator of Lake Formation grant these credentials DESCRIBE and SELECT (to write also ALTER, INSERT, "
    "DELETE) on the databases and tables: aws lakeformation grant-permissions"
)
_NOT_TRIED = "Of writing nothing else can be tried without writing."


def checks(lakehouse: Lakehouse) -> Iterator[Check]:
    """Every check of the lakehouse's catalog; none of one that has nothing to do with AWS."""
    catalog = lakehouse.settings.catalog
    reached = endpoints.reached(catalog)
    if not granting.is_on_aws(lakehouse.settings, reached):
        return
    name = f"aws {catalog.name}"
    try:
        parts.require("boto3", "aws", "AWS")
        look = _examined(lakehouse.storage.sessions, _wanted(lakehouse, reached))
    except FirnlineError as error:
        yield failed(name, error)
        return
    seen = bool(look.buckets) or look.glue is not None or look.table_bucket is not None
    if look.caller.failed is not None and not seen:
        yield Check(name, PROBLEM, f"{look.caller.failed} Nothing else can be looked at.", look.caller.fix)
        yield from _clock(f"{name}: clock", look.skew_seconds)
        return
    yield _identity(name, look)
    yield from _clock(f"{name}: clock", look.skew_seconds)
    ours = Ours(look.region, look.of_aws, lakehouse.may_write, catalog.properties, reached.aws.sse, look.caller.value)
    for bucket in look.buckets:
        yield from cloud_buckets.checks(bucket, ours)
    if look.glue is not None and isinstance(reached, GlueEndpoint):
        yield from of_glue(f"glue {catalog.name}", look.glue, reached, _grants(look.denials))
    if look.table_bucket is not None:
        yield _table_bucket(f"table bucket {catalog.name}", look.table_bucket)
    shown = ("s3:PutObject",) if any(each.written and each.written.known for each in look.buckets) else ()
    yield _rights(f"rights {catalog.name}", look, lakehouse, shown)


def state_checks(lakehouse: Lakehouse) -> Iterator[Check]:
    """The DynamoDB table of leases and ledger: whether it is there, and may be used."""
    state = lakehouse.settings.environment.state
    if state.type != "dynamodb":
        return
    from firnline.adapters.aws.examining import Wanted
    from firnline.adapters.aws.sessions import Sessions

    table = granting.state_table(lakehouse.settings)
    name, wanted = f"state {table}", Wanted(state_table=table, writing=lakehouse.may_write)
    try:
        parts.require("boto3", "aws", "AWS")
        sessions = Sessions(aws.settings(state.properties, "state"))
        try:
            look = _examined(sessions, wanted)
        finally:
            sessions.close()
    except FirnlineError as error:
        yield failed(name, error)
        return
    said = look.state or look.caller
    if not said.known:
        yield Check(name, PROBLEM, said.failed, said.fix) if said.failed else unknown(name, said)
    elif said.value is None:
        made = ": the first run makes it" if lakehouse.may_write else ", and access: read does not make it"
        yield Check(name, OK, f"The DynamoDB table {table} is not there yet{made}.")
    else:
        yield Check(name, OK if said.value == "ACTIVE" else WARNING, f"DynamoDB, {said.value}, in {look.region}")
    tried = ("dynamodb:UpdateItem",) if lakehouse.may_write and said.value is not None else ()
    yield _rights("rights state", look, lakehouse, tried)


def _examined(sessions: Sessions, wanted: Wanted) -> Look:
    from firnline.adapters.aws import examining

    return examining.examine(sessions, wanted)


def _wanted(lakehouse: Lakehouse, reached: granting.Reached) -> Wanted:
    from firnline.adapters.aws.examining import Wanted

    tables = reached.warehouse if isinstance(reached, RestEndpoint) and reached.dialect == "s3tables" else None
    return Wanted(
        tuple((each.bucket, each.prefix) for each in granting.places(lakehouse.settings, reached)),
        reached if isinstance(reached, GlueEndpoint) else None,
        tables if _speaks_s3tables(reached.aws) else None,
        writing=lakehouse.may_write,
    )


def _speaks_s3tables(settings: AwsSettings) -> bool:
    """A REST catalog of one's own that is spoken to in this dialect has no S3 Tables beside it, unless it is named."""
    return "s3tables" in settings.endpoints or not settings.endpoints


def _identity(name: str, look: Look) -> Check:
    caller: Said[Caller] = look.caller
    if caller.value is not None:
        return Check(name, OK, f"account {caller.value.account}, region {look.region}, as {caller.value.arn}")
    if caller.denied is not None or caller.failed is not None:
        return unknown(name, caller)
    return Check(name, OK, f"servers that are not AWS, spoken to as region {look.region}")


def _clock(name: str, ahead: float | None) -> Iterator[Check]:
    if ahead is None:
        return
    seconds = abs(ahead)
    if seconds < SKEW_WARNING_SECONDS:
        yield Check(name, OK, "as the servers', to the minute")
        return
    text = f"This machine is {seconds:.0f} seconds {'ahead of' if ahead > 0 else 'behind'} the servers."
    fix = "Set the clock, for example with `timedatectl set-ntp true`."
    if seconds >= SKEW_PROBLEM_SECONDS:
        yield Check(name, PROBLEM, f"{text} From five minutes on no signature is accepted.", fix)
    else:
        yield Check(name, WARNING, f"{text} From five minutes on no signature would be accepted.", fix)


def of_glue(name: str, glue: GlueLook, reached: GlueEndpoint, grants: tuple[Denial, ...]) -> Iterator[Check]:
    """A Glue catalog: what of it may be listed, its versions, and whether Lake Formation is in the way."""
    if glue.tables.failed is not None:
        yield Check(name, PROBLEM, glue.tables.failed, glue.tables.fix)
        return
    if not glue.tables.known:
        yield unknown(name, glue.tables)
        if grants:
            yield _lake_formation(f"{name}: lake formation", glue, grants)
        return
    seen = f"{glue.tables.value:,} entries{'' if glue.whole else ' seen, and there are more'}"
    if glue.refused:
        shown = ", ".join(glue.refused[:NAMED_MAX]) + (", …" if len(glue.refused) > NAMED_MAX else "")
        yield Check(name, WARNING, f"{seen}. Not to be listed: {shown}.", "See the rights below.")
    else:
        yield Check(name, OK, seen)
    yield from _versions(f"{name}: versions", glue, reached)
    yield _lake_formation(f"{name}: lake formation", glue, grants)


def _versions(name: str, glue: GlueLook, reached: GlueEndpoint) -> Iterator[Check]:
    """Glue numbers versions whether it keeps them or not: the number bounds from above, counting pages from below."""
    keep = None if reached.skip_archive else "Set `glue.skip-archive: true` of the catalog, and in every other writer."
    near = [each for each in glue.most if each.more and each.made >= NEAR * TABLE_VERSIONS_MAX]
    for each in near:
        yield _near(name, each, keep)
    unseen = next(
        (each.kept for each in glue.most if not each.kept.known and each.made >= NEAR * TABLE_VERSIONS_MAX), None
    )
    if unseen is not None:
        yield unknown(name, unseen)
    if not reached.skip_archive:
        yield Check(name, WARNING, "Every commit adds a version that Glue keeps (glue.skip-archive: false).", keep)
    if not near and unseen is None and reached.skip_archive:
        most = f"; at most {glue.made:,} of {ACCOUNT_VERSIONS_MAX:,} in the account" if glue.whole else ""
        if glue.made >= NEAR * ACCOUNT_VERSIONS_MAX and any(each.more for each in glue.most):
            text = f"At most {glue.made:,} are kept, and an account may have {ACCOUNT_VERSIONS_MAX:,}."
            yield Check(name, WARNING, text, "Delete old ones (aws glue batch-delete-table-version), busiest first.")
        else:
            yield Check(name, OK, f"no table near {TABLE_VERSIONS_MAX:,}{most}")


def _near(name: str, versions: Versions, keep: str | None) -> Check:
    database, _, table = versions.table.partition(".")
    state = PROBLEM if versions.made >= VERY_NEAR * TABLE_VERSIONS_MAX else WARNING
    text = (
        f"{versions.table} has at least {versions.kept.value:,} versions and at most {versions.made:,}; at "
        f"{TABLE_VERSIONS_MAX:,} its commits fail."
    )
    delete = (
        f"Delete old ones, 100 at a time: aws glue batch-delete-table-version --database-name {database} "
        f"--table-name {table} --version-ids …"
    )
    return Check(name, state, text, f"{keep} {delete}" if keep else delete)


def _lake_formation(name: str, glue: GlueLook, grants: tuple[Denial, ...]) -> Check:
    if grants:
        text = f"It refuses {grants[0].action} on {grants[0].resource}: no IAM policy helps."
        return Check(name, PROBLEM, text, _GRANT)
    settings = glue.lake_formation.value
    admins = f" Its administrators: {', '.join(settings.admins[:NAMED_MAX])}." if settings and settings.admins else ""
    if glue.registered:
        count, first = len(glue.registered), glue.registered[0]
        text = f"{count} tables lie in places registered with it, such as {first}: grants decide there, beside IAM."
        return Check(name, WARNING, f"{text}{admins}", _GRANT)
    if settings is None:
        return unknown(name, glue.lake_formation)
    if not settings.iam_alone:
        text = "New tables are not open to whom IAM allows (IAMAllowedPrincipals): grants decide over them."
        return Check(name, WARNING, f"{text}{admins}", _GRANT)
    return Check(name, OK, "not in the way: IAM alone decides")


def _table_bucket(name: str, said: Said[str]) -> Check:
    if said.value is not None:
        return Check(name, OK, said.value)
    if said.denied is not None:
        return unknown(name, said)
    return Check(name, PROBLEM, said.failed or "There is no such table bucket.", said.fix or "Correct `warehouse`.")


def _grants(denials: tuple[Denial, ...]) -> tuple[Denial, ...]:
    return tuple(each for each in denials if each.by_lake_formation)


def _rights(name: str, look: Look, lakehouse: Lakehouse, written: tuple[str, ...]) -> Check:
    """Rights that were missing, by name. One that only doctor asks for is no problem for the work."""
    missing = {each.action: each.resource for each in look.denials if not each.by_lake_formation}
    purpose = rights.OPERATE if lakehouse.may_write else rights.LOOK
    environment = lakehouse.settings.environment.name
    fix = f"Attach what `firnline iam-policy --env {environment} --for {purpose}` prints."
    if missing:
        shown = ", ".join(f"{action} on {resource}" for action, resource in sorted(missing.items()))
        vital = any(rights.purpose_of(action) != rights.EXAMINE for action in missing)
        return Check(name, PROBLEM if vital else WARNING, f"Missing: {shown}.", fix)
    if any(each.region.failed for each in look.buckets):
        return Check(name, NOT_CHECKED, "Not everything could be asked for; what could was not refused.")
    if not lakehouse.may_write:
        return Check(name, OK, "nothing that was asked for was refused; writing: access: read")
    tried = f", nor was {', '.join(written)}" if written else ""
    return Check(name, OK, f"nothing that was asked for was refused{tried}. {_NOT_TRIED}")

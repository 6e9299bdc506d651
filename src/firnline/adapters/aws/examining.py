"""Everything doctor wants to know of AWS, asked in one go. Nothing is written; what is found is judged elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firnline.adapters.aws import bucket_looks, catalog_looks
from firnline.adapters.aws.inquiries import Inquiries
from firnline.adapters.aws.items import to_key
from firnline.adapters.aws.looks import Caller, Look, Said
from firnline.adapters.aws.sessions import Sessions
from firnline.config.endpoints import GlueEndpoint
from firnline.core.errors import FirnlineError

_NOBODY = "firnline-doctor-nobody"  # a key no item of the state has


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look at. `writing` also asks for rights to write, in ways that can write nothing."""

    places: Sequence[tuple[str, str]] = ()  # bucket and folder
    glue: GlueEndpoint | None = None
    table_bucket: str | None = None
    state_table: str | None = None
    writing: bool = False


def examine(sessions: Sessions, wanted: Wanted) -> Look:
    """The look. Where there are no credentials, or AWS does not accept them, nothing more is asked; an STS that is out
    of reach, as in a network without an endpoint for it, leaves only the caller unknown. Raises ours when there is not
    even a region.
    """
    inquiries = Inquiries(sessions)
    region, of_aws = sessions.region(), sessions.of_aws
    caller: Said[Caller] = _caller(inquiries) if sessions.may_ask("sts") else Said()
    if caller.failed is not None and (inquiries.rejected or not _has_credentials(sessions)):
        return Look(region, caller, of_aws, inquiries.skew_seconds)
    buckets = tuple(
        bucket_looks.look(
            inquiries, bucket, prefix, key=sessions.settings.kms_key, of_aws=of_aws, writing=wanted.writing
        )
        for bucket, prefix in wanted.places
    )
    glue = catalog_looks.look(inquiries, wanted.glue, of_aws=of_aws) if wanted.glue is not None else None
    table_bucket = _table_bucket(inquiries, wanted.table_bucket) if wanted.table_bucket is not None else None
    state = _state(inquiries, wanted.state_table, writing=wanted.writing) if wanted.state_table is not None else None
    skew, denials = inquiries.skew_seconds, tuple(dict.fromkeys(inquiries.denials))
    return Look(region, caller, of_aws, skew, buckets, glue, table_bucket, state, denials)


def _has_credentials(sessions: Sessions) -> bool:
    """Whether there are any to sign with: a role's come from the STS that did not answer."""
    try:
        sessions.access()
    except FirnlineError:
        return False
    return True


def _caller(inquiries: Inquiries) -> Said[Caller]:
    try:
        sts = inquiries.client("sts")
    except FirnlineError as error:
        return Said(failed=" ".join(part for part in (error.what, error.why) if part), fix=error.next_step)
    return inquiries.ask(sts.get_caller_identity, "the caller", lambda found: Caller(found["Account"], found["Arn"]))


def _table_bucket(inquiries: Inquiries, arn: str) -> Said[str]:
    tables = inquiries.client("s3tables")
    return inquiries.ask(tables.get_table_bucket, arn, lambda found: str(found["name"]), tableBucketARN=arn)


def _state(inquiries: Inquiries, table: str, *, writing: bool) -> Said[str]:
    """The status of the table. Its items are asked for by a key none has; the update that is tried asks for an item of
    that key to be there already, and so changes nothing.
    """
    dynamodb, resource = inquiries.client("dynamodb"), f"DynamoDB table {table}"
    status = inquiries.ask(
        dynamodb.describe_table, resource, lambda found: str(found["Table"]["TableStatus"]), TableName=table
    )
    if status.value is None and status.denied is None:  # not there, or nobody answers
        return status
    key = to_key((_NOBODY, _NOBODY))
    inquiries.ask(dynamodb.get_item, resource, lambda _: True, TableName=table, Key=key)
    several = {table: {"Keys": [key]}}
    inquiries.ask(dynamodb.batch_get_item, resource, lambda _: True, RequestItems=several)
    nobody = {"KeyConditionExpression": "pk = :nobody", "ExpressionAttributeValues": {":nobody": {"S": _NOBODY}}}
    inquiries.ask(dynamodb.query, resource, lambda _: True, TableName=table, Limit=1, **nobody)
    if writing:
        change = {"UpdateExpression": "REMOVE nothing", "ConditionExpression": "attribute_exists(pk)"}
        inquiries.ask(dynamodb.update_item, resource, lambda _: True, TableName=table, Key=key, **change)
    return status

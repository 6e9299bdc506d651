"""Looks at one bucket: where it is, who gets in, what becomes of its files. One call each, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from firnline.adapters.aws.inquiries import Inquiries
from firnline.adapters.aws.looks import BucketLook, Encryption, Events, LifecycleRule, PolicyStatement, Said

# What AWS still calls the first regions in a bucket's location.
_OLD_NAMES = {"EU": "eu-west-1", "": "us-east-1"}
_DEFAULT = "ApplyServerSideEncryptionByDefault"
_NO_UPLOAD = "firnline-doctor-no-such-upload"
_NEVER_A_FILE = "firnline-doctor-never-a-file"


def look(inquiries: Inquiries, bucket: str, prefix: str, *, key: str | None, of_aws: bool, writing: bool) -> BucketLook:
    """Everything of interest. `key` is the KMS key writers are told to use; `writing` also asks whether that may be."""
    s3, resource = inquiries.client("s3"), f"s3://{bucket}"
    region = inquiries.ask(
        s3.get_bucket_location, resource, lambda answer: _region(answer, of_aws=of_aws), Bucket=bucket
    )
    if region.failed is not None:
        return BucketLook(bucket, prefix, region)
    encryption = inquiries.ask(s3.get_bucket_encryption, resource, _encryption, Bucket=bucket)
    used = {each for each in (key, encryption.value.key if encryption.value else None) if each}
    folder = f"{prefix}/" if prefix else ""
    listed = inquiries.ask(s3.list_objects_v2, f"{resource}/{folder}", _first, Bucket=bucket, Prefix=folder, MaxKeys=1)
    _ask_for_versions(inquiries, bucket, folder, listed.value)
    return BucketLook(
        bucket,
        prefix,
        region,
        block=inquiries.ask(s3.get_public_access_block, resource, _block, Bucket=bucket),
        versioning=inquiries.ask(
            s3.get_bucket_versioning, resource, lambda answer: answer.get("Status"), Bucket=bucket
        ),
        encryption=encryption,
        keys={each: _key(inquiries, each) for each in sorted(used)} if of_aws else None,
        events=inquiries.ask(s3.get_bucket_notification_configuration, resource, _events, Bucket=bucket),
        lifecycle=inquiries.ask(s3.get_bucket_lifecycle_configuration, resource, _lifecycle, Bucket=bucket),
        policy=inquiries.ask(s3.get_bucket_policy, resource, _policy, Bucket=bucket),
        listed=Said(listed.value is not None, listed.denied, listed.failed, listed.fix),
        read=_read(inquiries, bucket, listed.value) if listed.value is not None else None,
        written=_written(inquiries, bucket, folder) if writing else None,
    )


def _region(answer: Mapping[str, Any], *, of_aws: bool) -> str | None:
    """None where a server that is not AWS names no region: it has none."""
    text = answer.get("LocationConstraint") or ""
    return _OLD_NAMES.get(text, text) if text or of_aws else None


def _first(answer: Mapping[str, Any]) -> str | None:
    return next((str(each["Key"]) for each in answer.get("Contents", ())), None)


def _read(inquiries: Inquiries, bucket: str, key: str) -> Said[bool]:
    """Whether a file may be read, its encryption taken off: one byte of it, or an answer that it has none."""
    s3 = inquiries.client("s3")

    def close(answer: Mapping[str, Any]) -> bool:
        answer["Body"].close()
        return True

    return inquiries.ask(s3.get_object, f"s3://{bucket}/{key}", close, Bucket=bucket, Key=key, Range="bytes=0-0")


def _ask_for_versions(inquiries: Inquiries, bucket: str, folder: str, key: str | None) -> None:
    """What only some of the work looks at. Of interest is whether it may: the inquiries remember."""
    s3, resource = inquiries.client("s3"), f"s3://{bucket}/{folder}"
    inquiries.ask(s3.list_object_versions, resource, lambda _: True, Bucket=bucket, Prefix=folder, MaxKeys=1)
    if key is not None:
        inquiries.ask(s3.get_object_tagging, f"s3://{bucket}/{key}", lambda _: True, Bucket=bucket, Key=key)


def _written(inquiries: Inquiries, bucket: str, folder: str) -> Said[bool]:
    """Whether a file could be written. A part of an upload that does not exist goes nowhere, on any server: the right
    is looked at first, then the upload is found missing.
    """
    s3, name = inquiries.client("s3"), f"{folder}{_NEVER_A_FILE}"
    given = {"Bucket": bucket, "Key": name, "UploadId": _NO_UPLOAD, "PartNumber": 1, "Body": b""}
    said = inquiries.ask(s3.upload_part, f"s3://{bucket}/{name}", lambda _: True, **given)
    return Said(said.known, said.denied, said.failed, said.fix)


def _key(inquiries: Inquiries, key: str) -> Said[str]:
    kms = inquiries.client("kms")
    return inquiries.ask(kms.describe_key, f"key {key}", lambda found: found["KeyMetadata"]["KeyState"], KeyId=key)


def _block(answer: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(name for name, on in answer["PublicAccessBlockConfiguration"].items() if on))


def _encryption(answer: Mapping[str, Any]) -> Encryption | None:
    rules = answer["ServerSideEncryptionConfiguration"]["Rules"]
    default = next((each[_DEFAULT] for each in rules if _DEFAULT in each), None)
    return Encryption(default["SSEAlgorithm"], default.get("KMSMasterKeyID")) if default else None


def _events(answer: Mapping[str, Any]) -> Events:
    kept = {name: value for name, value in answer.items() if name.endswith(("Configurations", "Configuration"))}
    others = sum(len(value) for name, value in kept.items() if name.endswith("Configurations"))
    return Events("EventBridgeConfiguration" in kept, others, json.dumps(kept, sort_keys=True, default=str))


def _lifecycle(answer: Mapping[str, Any]) -> tuple[LifecycleRule, ...]:
    return tuple(_rule(number, each) for number, each in enumerate(answer.get("Rules", ()), start=1))


def _rule(number: int, rule: Mapping[str, Any]) -> LifecycleRule:
    """One rule, whether its filter stands alone, under And, or, as in old ones, as a bare Prefix."""
    given = rule.get("Filter") or {}
    both = given.get("And", {})
    tags = [*both.get("Tags", ()), *((given["Tag"],) if "Tag" in given else ())]
    expiration = rule.get("Expiration", {})
    gone = rule.get("NoncurrentVersionExpiration", {})
    return LifecycleRule(
        id=str(rule.get("ID") or f"number {number}"),
        enabled=rule.get("Status") == "Enabled",
        prefix=str(both.get("Prefix") or given.get("Prefix") or rule.get("Prefix") or ""),
        tags={each["Key"]: each["Value"] for each in tags} or None,
        larger=both.get("ObjectSizeGreaterThan", given.get("ObjectSizeGreaterThan")),
        smaller=both.get("ObjectSizeLessThan", given.get("ObjectSizeLessThan")),
        expires=_when(expiration),
        moves=tuple((each["StorageClass"], when) for each in rule.get("Transitions", ()) if (when := _when(each))),
        noncurrent_expires=_when({"Days": gone.get("NoncurrentDays")}),
        aborts_days=rule.get("AbortIncompleteMultipartUpload", {}).get("DaysAfterInitiation"),
    )


def _when(given: Mapping[str, Any]) -> str | None:
    if given.get("Days") is not None:
        return f"after {given['Days']} days"
    return f"on {given['Date']:%Y-%m-%d}" if given.get("Date") is not None else None


def _policy(answer: Mapping[str, Any]) -> tuple[PolicyStatement, ...]:
    try:
        read = json.loads(answer["Policy"])
        return tuple(_statement(number, each) for number, each in enumerate(_several(read["Statement"]), start=1))
    except (ValueError, KeyError, TypeError, AttributeError):  # S3 keeps whatever it once accepted
        return ()


def _statement(number: int, given: Mapping[str, Any]) -> PolicyStatement:
    principal = given.get("Principal", given.get("NotPrincipal", "*"))
    named = list(principal.values()) if isinstance(principal, Mapping) else [principal]
    # `!` stands before what a statement excludes.
    return PolicyStatement(
        name=str(given.get("Sid") or f"number {number}"),
        effect=str(given["Effect"]),
        principals=tuple(_texts("!" * ("NotPrincipal" in given), *named)),
        actions=tuple(_texts("!" * ("NotAction" in given), given.get("Action", given.get("NotAction")))),
        resources=tuple(_texts("!" * ("NotResource" in given), given.get("Resource", given.get("NotResource")))),
        condition={
            operator: {key: tuple(map(str, _several(values))) for key, values in keys.items()}
            for operator, keys in given.get("Condition", {}).items()
        },
    )


def _texts(mark: str, *values: Any) -> Iterator[str]:
    """The texts of single values and lists, each with the mark before it."""
    for value in values:
        yield from (f"{mark}{each}" for each in _several(value))


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]

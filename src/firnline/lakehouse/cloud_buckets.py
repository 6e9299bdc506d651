"""Judges what was seen of a bucket: each check with what was found and, where something is wrong, the fix. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from firnline.adapters.aws.looks import BucketLook, Caller, Events, Said
from firnline.lakehouse import cloud_lifecycle, cloud_policies
from firnline.lakehouse.checks import NOT_CHECKED, OK, PROBLEM, WARNING, Check
from firnline.lakehouse.cloud_policies import READING, WRITING, Us

SWITCHES = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
_ANOTHER_KEY = "Look at it: aws kms describe-key --key-id {key}"
_KEY_FIXES = {
    "Disabled": "aws kms enable-key --key-id {key}",
    "PendingDeletion": "aws kms cancel-key-deletion --key-id {key}, then aws kms enable-key --key-id {key}",
}


@dataclass(frozen=True, slots=True)
class Ours:
    """What of our own settings the checks are held against."""

    region: str
    of_aws: bool
    may_write: bool
    properties: Mapping[str, str]  # the catalog's
    sse: str | None = None
    caller: Caller | None = None


def checks(look: BucketLook, ours: Ours) -> Iterator[Check]:
    """Every check of one bucket; of one that cannot be reached, that alone."""
    name = f"bucket {look.bucket}"
    if look.region.failed is not None:
        yield Check(name, PROBLEM, look.region.failed, look.region.fix)
        return
    yield _place(name, look, ours)
    yield _policy(f"{name}: policy", look, ours)
    yield from _lifecycle(f"{name}: lifecycle", look, ours)
    if ours.of_aws:  # what a bucket of a server of one's own should be like is for its owner to say
        yield _public(f"{name}: public access", look)
        yield _versioning(f"{name}: versioning", look)
        yield _encryption(f"{name}: encryption", look)
        yield _events(f"{name}: events", look, ours)


def unknown(name: str, said: Said[Any]) -> Check:
    """Of what could not be asked: why, and what to do."""
    if said.denied is not None:
        return Check(name, NOT_CHECKED, f"It takes the right {said.denied}.", "`firnline iam-policy` has it.")
    return Check(name, NOT_CHECKED, said.failed or "", said.fix)


def _command(*words: str) -> str:
    return f"aws {shlex.join(words)}"


def _place(name: str, look: BucketLook, ours: Ours) -> Check:
    region = look.region.value
    if region is not None and region != ours.region:
        text = f"It is in {region}, and requests are signed for {ours.region}: engines fail there, or pay for traffic."
        return Check(name, PROBLEM, text, f"Set `region: {region}` of the catalog.")
    if look.listed.failed is not None:
        return Check(name, PROBLEM, look.listed.failed, look.listed.fix)
    where = f", in {region}" if region is not None else ""
    folder = f"s3://{look.bucket}/{look.prefix}".rstrip("/")
    state = "with files" if look.listed.value else "with no file yet" if look.listed.known else "that may not be listed"
    return Check(name, OK, f"{folder}{where}, {state}")


def _public(name: str, look: BucketLook) -> Check:
    if not look.block.known:
        return unknown(name, look.block)
    on = look.block.value or ()
    off = [each for each in SWITCHES if each not in on]
    switches = ",".join(f"{each}=true" for each in SWITCHES)
    fix = _command(
        "s3api", "put-public-access-block", "--bucket", look.bucket, "--public-access-block-configuration", switches
    )
    public = cloud_policies.lets_everybody_in(look.policy.value or ())
    if public is not None and "RestrictPublicBuckets" in off:
        return Check(name, PROBLEM, f"The statement {public!r} of its policy lets everybody in.", fix)
    if off:
        text = f"Not blocked by the bucket itself: {', '.join(off)}. The account's own settings may block them."
        return Check(name, WARNING, text, fix)
    return Check(name, OK, "blocked")


def _policy(name: str, look: BucketLook, ours: Ours) -> Check:
    if not look.policy.known:
        return unknown(name, look.policy)
    caller = ours.caller
    us = Us(
        look.bucket,
        look.prefix,
        caller.account if caller else None,
        caller.arn if caller else None,
        (*READING, *WRITING) if ours.may_write else READING,
        frozenset(_shown(look)),
        ours.sse,
    )
    found = tuple(cloud_policies.refusals(look.policy.value or (), us))
    if not found:
        return Check(name, OK, "refuses nothing we need" if look.policy.value else "none")
    return _refused(name, found[0], len(found))


def _shown(look: BucketLook) -> Iterator[str]:
    """What this look itself has done, so that no policy can be in its way."""
    for action, said in zip((*READING, WRITING[0]), (look.listed, look.read, look.written), strict=True):
        if said is not None and said.known:
            yield action


def _refused(name: str, refusal: cloud_policies.Refusal, count: int) -> Check:
    actions = ", ".join(refusal.actions)
    more = f" {count - 1} more statements refuse something." if count > 1 else ""
    said = f"The statement {refusal.statement!r} refuses {actions}"
    if refusal.kind == cloud_policies.ALWAYS:
        return Check(name, PROBLEM, f"{said}.{more}", "Have its owner leave these credentials out of it.")
    if refusal.kind == cloud_policies.UNENCRYPTED:
        kind = "s3" if refusal.wanted == ("AES256",) else "kms"
        text = f"{said} of what does not come encrypted with {' or '.join(refusal.wanted) or 'a certain key'}.{more}"
        return Check(name, WARNING, text, f"Set `s3.sse.type: {kind}` of the catalog.")
    text = f"{said}, depending on {', '.join(refusal.condition)}; whether that means us cannot be told.{more}"
    return Check(name, WARNING, text, "Look at it where the work runs: `firnline doctor` there tells.")


def _lifecycle(name: str, look: BucketLook, ours: Ours) -> Iterator[Check]:
    if not look.lifecycle.known:
        yield unknown(name, look.lifecycle)
        return
    rules, bucket = look.lifecycle.value or (), look.bucket
    found = [each for rule in rules for each in cloud_lifecycle.effects(rule, look.prefix, ours.properties)]
    get = _command("s3api", "get-bucket-lifecycle-configuration", "--bucket", bucket)
    put = ("put-bucket-lifecycle-configuration", "--bucket", bucket, "--lifecycle-configuration", "file://rules.json")
    for effect in found:
        state = PROBLEM if effect.weight == cloud_lifecycle.HARM else WARNING
        why = " S3 does not know which files a table still needs." if state == PROBLEM else ""
        text = f"The rule {effect.rule!r} {effect.text}.{why}"
        fix = f"{get} > rules.json, take the tables out of that rule, then {_command('s3api', *put)} (it replaces all)."
        yield Check(name, state, text, fix)
    if not found:
        count = {0: "no rules", 1: "one rule, which takes"}.get(len(rules), f"{len(rules)} rules, which take")
        yield Check(name, OK, count if not rules else f"{count} nothing a table needs")


def _versioning(name: str, look: BucketLook) -> Check:
    if not look.versioning.known:
        return unknown(name, look.versioning)
    if look.versioning.value != "Enabled":
        put = ("put-bucket-versioning", "--bucket", look.bucket, "--versioning-configuration", "Status=Enabled")
        text = f"{look.versioning.value or 'Never switched on'}: what is deleted by mistake cannot be brought back."
        return Check(name, WARNING, text, _command("s3api", *put))
    rules = look.lifecycle.value or ()
    if look.lifecycle.known and not cloud_lifecycle.keeps_no_old_versions(rules, look.prefix):
        text = "On, and nothing ever deletes old versions: every file that was rewritten or expired is paid for on."
        return Check(name, WARNING, text, "Add a lifecycle rule with NoncurrentVersionExpiration, such as 14 days.")
    return Check(name, OK, "on")


def _encryption(name: str, look: BucketLook) -> Check:
    if not look.encryption.known:
        return unknown(name, look.encryption)
    for key, said in (look.keys or {}).items():
        if said.known and said.value != "Enabled":
            text = f"The key {key} is {said.value or 'not there'}: what it encrypted cannot be read."
            return Check(name, PROBLEM, text, _KEY_FIXES.get(said.value or "", _ANOTHER_KEY).format(key=key))
    default = look.encryption.value
    if default is None:
        put = ("put-bucket-encryption", "--bucket", look.bucket, "--server-side-encryption-configuration")
        rule = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]}
        return Check(name, WARNING, "None by default.", _command("s3api", *put, json.dumps(rule)))
    with_key = f" with {default.key}" if default.key else " with AWS's own key" if default.algorithm != "AES256" else ""
    unseen = next((said for said in (look.keys or {}).values() if not said.known), None)
    if unseen is not None and not (look.read and look.read.known):
        why = unknown(name, unseen)
        return replace(why, text=f"{default.algorithm}{with_key}, and whether the key can be used: {why.text}")
    return Check(name, OK, f"{default.algorithm}{with_key}")


def _events(name: str, look: BucketLook, ours: Ours) -> Check:
    if not look.events.known or look.events.value is None:
        return unknown(name, look.events)
    events = look.events.value
    others = f"{events.others} other receiver{'s' if events.others != 1 else ''}"
    if events.event_bridge:
        return Check(name, OK, f"EventBridge is told of new files, and {others}" if events.others else "EventBridge")
    are = "is" if events.others == 1 else "are"
    text = f"EventBridge is not told of new files{f'; {others} {are}' if events.others else ''}."
    if not ours.may_write:
        return Check(name, OK, text)
    return Check(name, WARNING, f"{text} Work can only be started by the clock.", _event_bridge(look.bucket, events))


def _event_bridge(bucket: str, events: Events) -> str:
    """The command with everything that is there already: a put replaces the whole configuration."""
    merged = json.dumps({**json.loads(events.existing), "EventBridgeConfiguration": {}}, sort_keys=True)
    put = ("put-bucket-notification-configuration", "--bucket", bucket, "--notification-configuration", merged)
    kept = "This put replaces what is there; what was there is in it." if events.others else ""
    return f"{_command('s3api', *put)} {kept}".rstrip()

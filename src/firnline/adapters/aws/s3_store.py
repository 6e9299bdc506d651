"""Writes, deletes and marks single files of S3: the port `Store`.

A put is conditional: of several who write one name, one wins. Where a server does not know conditional puts it is
looked first, and between looking and writing somebody else may write the same name; the names of metadata files hold a
random uuid, so nobody does. Tags are read, put together and written back, and S3 has no condition for that: of two who
tag one file at once, one may undo the other.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from typing import Any

from botocore import exceptions as raised

from firnline.adapters.aws import troubles
from firnline.adapters.aws.locations import file_at
from firnline.adapters.aws.sessions import Sessions
from firnline.config.aws import AwsSettings
from firnline.core.errors import Blocked, FirnlineError, Refused
from firnline.loop.store import NameTaken, Version

BATCH_FILES = 1000  # the most one DeleteObjects takes
TAGS_MAX = 10  # of one file, S3's own bound
AGAIN_SECONDS = 1.0  # at most, before what was refused for the moment is asked for again
_TAKEN = frozenset({"PreconditionFailed", "412"})
_CONFLICT = frozenset({"ConditionalRequestConflict", "OperationAborted", "409"})
_UNKNOWN_HERE = frozenset({"NotImplemented", "501"})
_FOR_THE_MOMENT = troubles.THROTTLED | {"InternalError", "RequestTimeout"}
# The names of a batch travel as XML, which has no way to write these: such files are deleted one by one.
_NOT_XML = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_SSE = {"s3": "AES256", "kms": "aws:kms", "dsse-kms": "aws:kms:dsse"}


class S3Store:
    """`loop.store.Store` over `s3:`, `s3a:` and `s3n:` locations."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._conditional = True  # until the server says that it knows no conditional put

    @cached_property
    def _client(self) -> Any:
        return self._sessions.client("s3")

    # ------------------------------------------------------------------------------------------------------- writing

    def put(self, location: str, data: bytes) -> None:
        """A new file. One that is there and has these very bytes is ours: the answer to an earlier try was lost."""
        bucket, key = file_at(location)
        with self._sessions.asking("s3:PutObject", location):
            if self._conditional and self._put_if_none(location, bucket, key, data):
                return
            held = self._holds(bucket, key, data)
            if held is None:
                self._client.put_object(Bucket=bucket, Key=key, Body=data, **encryption(self._sessions.settings))
            elif not held:
                raise _taken(location)

    def _put_if_none(self, location: str, bucket: str, key: str, data: bytes) -> bool:
        """True: it is there. False: the server knows no such put."""
        left = self._sessions.settings.tries
        while True:
            left -= 1
            try:
                self._client.put_object(
                    Bucket=bucket, Key=key, Body=data, IfNoneMatch="*", **encryption(self._sessions.settings)
                )
            except raised.ClientError as error:
                found = troubles.code(error)
                if found in _UNKNOWN_HERE:
                    self._conditional = False
                    return False
                held = self._holds(bucket, key, data) if found in _TAKEN else None
                if held:
                    return True
                if held is False:
                    raise _taken(location) from error
                # It met another put, or what was there is gone again: neither may be in.
                if not left or found not in _TAKEN | _CONFLICT:
                    raise
                _wait()
            else:
                return True

    def _holds(self, bucket: str, key: str, data: bytes) -> bool | None:
        """Whether the file has these bytes; None when there is none."""
        try:
            if self._client.head_object(Bucket=bucket, Key=key)["ContentLength"] != len(data):
                return False
            with closing(self._client.get_object(Bucket=bucket, Key=key)["Body"]) as body:
                return bool(body.read() == data)
        except raised.ClientError as error:
            if troubles.is_absent(error):
                return None
            raise

    # ------------------------------------------------------------------------------------------------------ deleting

    def delete(self, locations: Sequence[str]) -> Mapping[str, str]:
        """Exactly these, a thousand at a time; where a bucket keeps versions, each stays as one."""
        left: dict[str, str] = {}
        buckets: dict[str, dict[str, list[str]]] = {}
        for location in locations:
            try:
                bucket, key = file_at(location)
            except FirnlineError as error:
                left[location] = error.what
            else:
                buckets.setdefault(bucket, {}).setdefault(key, []).append(location)
        for bucket, spelled in buckets.items():
            for key, reason in self._delete(bucket, list(spelled)).items():
                left.update(dict.fromkeys(spelled[key], reason))
        return left

    def _delete(self, bucket: str, keys: Sequence[str]) -> dict[str, str]:
        """The reasons of those that are left. What was refused for the moment is asked for once more."""
        left: dict[str, str] = {}
        again: list[str] = []
        for batch in _batches(keys):
            for key, (found, reason) in self._delete_batch(bucket, batch).items():
                if found in _FOR_THE_MOMENT:
                    again.append(key)
                else:
                    left[key] = reason
        if again:
            _wait()
        for batch in _batches(again):
            left.update((key, reason) for key, (_, reason) in self._delete_batch(bucket, batch).items())
        return left

    def _delete_batch(self, bucket: str, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
        """What the server calls the reason, and the reason, of those that are left."""
        try:
            with self._sessions.asking("s3:DeleteObject", f"s3://{bucket}/{keys[0]}"):
                if _NOT_XML.search(keys[0]):
                    self._client.delete_object(Bucket=bucket, Key=keys[0])
                    return {}
                listed = {"Objects": [{"Key": key} for key in keys], "Quiet": True}
                answer = self._client.delete_objects(Bucket=bucket, Delete=listed)
        except FirnlineError as error:
            return dict.fromkeys(keys, ("SlowDown" if isinstance(error, Blocked) else "", error.what))
        errors = [one for one in answer.get("Errors", ()) if one.get("Code") != "NoSuchKey"]
        return {
            one["Key"]: (one.get("Code", ""), troubles.said(f"{one.get('Code')}: {one.get('Message')}"))
            for one in errors
        }

    def tidy(self, location: str, deleted: Sequence[str]) -> None:
        """There are no folders, and so nothing is left behind."""

    # ------------------------------------------------------------------------------------------------------ versions

    def versions(self, location: str) -> tuple[Version, ...]:
        """Every version of one file, the newest first. Of a deletion and a version of one moment, the deletion comes
        first: S3 lists the two apart, by seconds.
        """
        bucket, key = file_at(location)
        with self._sessions.asking("s3:ListBucketVersions", location):
            try:
                found = list(self._versions(bucket, key))
            except raised.ClientError as error:
                if troubles.code(error) not in _UNKNOWN_HERE:
                    raise
                found = self._only_version(bucket, key)
        return tuple(sorted(found, key=lambda one: (one.latest, one.millis, one.deleted), reverse=True))

    def _versions(self, bucket: str, key: str) -> Iterator[Version]:
        given: dict[str, str] = {}
        while True:
            answer = self._client.list_object_versions(Bucket=bucket, Prefix=key, **given)
            for kind in ("Versions", "DeleteMarkers"):
                for one in answer.get(kind, ()):
                    if one["Key"] == key:
                        millis = round(one["LastModified"].timestamp() * 1000)
                        yield Version(
                            one.get("VersionId", ""),
                            one.get("Size", 0),
                            millis,
                            one["IsLatest"],
                            kind == "DeleteMarkers",
                        )
            # The key comes before every other one it is the beginning of.
            if not answer["IsTruncated"] or answer.get("NextKeyMarker") != key:
                return
            given = {"KeyMarker": key, "VersionIdMarker": answer["NextVersionIdMarker"]}

    def _only_version(self, bucket: str, key: str) -> list[Version]:
        try:
            found = self._client.head_object(Bucket=bucket, Key=key)
        except raised.ClientError as error:
            if troubles.is_absent(error):
                return []
            raise
        millis = round(found["LastModified"].timestamp() * 1000)
        return [Version("", found["ContentLength"], millis, latest=True)]

    def restore(self, location: str) -> bool:
        """Take away the deletions that lie on the newest version, by their ids: what is written meanwhile stays."""
        bucket, key = file_at(location)
        taken = False
        while (found := self.versions(location)) and found[0].deleted:
            if all(one.deleted for one in found):
                return False
            with self._sessions.asking("s3:DeleteObjectVersion", location):
                self._client.delete_object(Bucket=bucket, Key=key, VersionId=found[0].id)
            taken = True
        return taken

    # ---------------------------------------------------------------------------------------------------------- tags

    def tags(self, location: str) -> Mapping[str, str]:
        """The tags of a file; Missing when there is no such file."""
        bucket, key = file_at(location)
        with self._sessions.asking("s3:GetObjectTagging", location):
            answer = self._client.get_object_tagging(Bucket=bucket, Key=key)
        return {one["Key"]: one["Value"] for one in answer["TagSet"]}

    def tag(self, location: str, tags: Mapping[str, str]) -> None:
        """Put these beside those it has. Refused where it would have more than S3 allows."""
        bucket, key = file_at(location)
        there = self.tags(location)
        merged = {**there, **tags}
        if merged == there:
            return
        if len(merged) > TAGS_MAX:
            raise Refused(
                f"{location} would have {len(merged)} tags, and S3 allows {TAGS_MAX}.",
                why=f"It has {', '.join(sorted(there))}." if there else None,
                next_step="Take some of them away: aws s3api put-object-tagging",
            )
        marked = {"TagSet": [{"Key": name, "Value": value} for name, value in merged.items()]}
        with self._sessions.asking("s3:PutObjectTagging", location):
            self._client.put_object_tagging(Bucket=bucket, Key=key, Tagging=marked)


def encryption(settings: AwsSettings) -> dict[str, str]:
    """How what we write is to be encrypted, as arguments of a put; none: as the bucket says."""
    if settings.sse not in _SSE:
        return {}
    given = {"ServerSideEncryption": _SSE[settings.sse]}
    if settings.kms_key is not None and settings.sse != "s3":
        given["SSEKMSKeyId"] = settings.kms_key
    return given


def _batches(keys: Iterable[str]) -> Iterator[Sequence[str]]:
    keys = list(keys)
    plain = [key for key in keys if not _NOT_XML.search(key)]
    for start in range(0, len(plain), BATCH_FILES):
        yield plain[start : start + BATCH_FILES]
    yield from ([key] for key in keys if _NOT_XML.search(key))


def _taken(location: str) -> NameTaken:
    return NameTaken(f"{location} is there already, with other bytes.")


def _wait() -> None:
    time.sleep(random.uniform(0, AGAIN_SECONDS))  # noqa: S311  # keeps those who met apart: no secret

"""Reads and lists what lies on S3: the ports `Files` and `Blobs` of facts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from functools import cached_property, partial
from itertools import islice
from typing import Any, TypeAlias

from botocore import exceptions as raised
from botocore.parsers import ResponseParserError

from firnline.adapters.aws import troubles
from firnline.adapters.aws.locations import bucket_and_key, file_at, is_marker
from firnline.adapters.aws.s3_answers import decoded, take_apart
from firnline.adapters.aws.s3_ranges import AT_ONCE, Entry, Listed, Unordered, in_folders, in_ranges
from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.local.blobs import BLOB_BYTES_MAX
from firnline.core.errors import Failed, Missing
from firnline.core.sizes import show_bytes
from firnline.facts.ports import Page, StoredFile

REQUEST_FILES = 1000  # the most S3 gives at once
WALKS_MAX = 8  # kept to be gone on with, each with its pages ahead
# Buckets that do not list in the order of keys, by name: AWS's directory buckets.
_UNORDERED_ENDING = "--x-s3"
# Servers that do not, by what they call themselves: SeaweedFS has the order of a file system.
_UNORDERED_SERVER = "SeaweedFS"
_CUT = (
    raised.ResponseStreamingError, raised.IncompleteReadError, raised.ReadTimeoutError, raised.FlexibleChecksumError
)  # fmt: skip
BEYOND_THE_END = 416

_Walk: TypeAlias = Iterator[StoredFile]


class S3Files:
    """`facts.ports.Files` and `facts.ports.Blobs` over `s3:`, `s3a:` and `s3n:` locations.

    Files come in the order of their keys' bytes, spelled as the location that was asked for. Keys are taken literally.
    An empty file whose key ends in a slash stands for a folder and is none of the files.
    """

    def __init__(
        self, sessions: Sessions, *, bytes_max: int = BLOB_BYTES_MAX, request_files: int = REQUEST_FILES
    ) -> None:
        self._sessions = sessions
        self._bytes_max = bytes_max
        self._request_files = request_files
        self._unordered: set[str] = set()
        self._walks: dict[tuple[str, str], tuple[StoredFile, _Walk]] = {}
        self._lock = threading.Lock()

    # ------------------------------------------------------------------------------------------------------- listing

    def list(self, location: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """Files under it at any depth, after a location. One that is not there has none; Missing without the bucket."""
        with self._lock:
            kept = None if after is None else self._walks.pop((location, after), None)
        first, walk = ((), self._walk(location, after)) if kept is None else ((kept[0],), kept[1])
        files = (*first, *islice(walk, max(1, limit) - len(first)))
        following = next(walk, None)
        if following is None:
            return Page(files, None)
        last = files[-1].location
        with self._lock:
            self._walks[location, last] = (following, walk)
            if len(self._walks) > WALKS_MAX:
                del self._walks[next(iter(self._walks))]
        return Page(files, last)

    def _walk(self, location: str, after: str | None) -> _Walk:
        bucket, key = bucket_and_key(location)
        prefix = f"{key.removesuffix('/')}/" if key else ""
        spelled = f"{location.removesuffix('/')}/"
        begin = "" if after is None else _within(bucket, prefix, after)
        if begin is None:
            return
        for key, size, millis in self._entries(bucket, prefix, begin):
            if not is_marker(key, size):
                yield StoredFile(spelled + key[len(prefix) :], size, millis)

    def _entries(self, bucket: str, prefix: str, begin: str) -> Iterator[Entry]:
        done = begin
        if not self._lists_by_folder(bucket):
            try:
                for entry in in_ranges(partial(self._ask, bucket), self._pool, prefix, begin):
                    yield entry
                    done = entry[0]
                return
            except Unordered:
                self._unordered.add(bucket)
                if done != begin:  # what was passed over so far nobody knows
                    raise Failed(
                        f"The server of s3://{bucket} does not list files in the order of their names.",
                        why="What was listed so far may not be all.",
                        next_step="Begin the listing anew: from now on it is done folder by folder.",
                    ) from None
        yield from in_folders(partial(self._folder, bucket), prefix, begin)

    def _lists_by_folder(self, bucket: str) -> bool:
        return bucket in self._unordered or bucket.endswith(_UNORDERED_ENDING)

    def _ask(self, bucket: str, prefix: str, after: str, *, fold: bool) -> Listed:
        given: dict[str, Any] = {"StartAfter": after} if after else {}
        while True:
            answer = self._listing(bucket, prefix, fold=fold, **given)
            server = answer["ResponseMetadata"]["HTTPHeaders"].get("server", "")
            if server.startswith(_UNORDERED_SERVER):
                raise Unordered(server)
            listed = _listed(answer)
            # A page may be empty and not the last: it had only deleted names.
            if listed.last != "" or not (token := answer.get("NextContinuationToken")):
                return listed
            given = {"ContinuationToken": token}

    def _folder(self, bucket: str, prefix: str) -> Iterator[Listed]:
        given: dict[str, Any] = {}
        while True:
            answer = self._listing(bucket, prefix, fold=True, **given)
            yield _listed(answer)
            if not (token := answer.get("NextContinuationToken")):
                return
            given = {"ContinuationToken": token}

    def _listing(self, bucket: str, prefix: str, *, fold: bool, **given: Any) -> Any:
        if fold:
            given["Delimiter"] = "/"
        with self._sessions.asking("s3:ListBucket", f"s3://{bucket}/{prefix}"):
            answer = self._client.list_objects_v2(
                Bucket=bucket, Prefix=prefix, MaxKeys=self._request_files, EncodingType="url", **given
            )
            if "IsTruncated" not in answer:
                raise ResponseParserError("no listing")
            return answer

    # ------------------------------------------------------------------------------------------------- single files

    def look(self, location: str) -> StoredFile | None:
        """One file as it is now, or None when there is none. S3 tells only who may list the bucket: others are
        refused instead.
        """
        bucket, key = file_at(location)
        with self._sessions.asking("s3:GetObject", location):
            try:
                found = self._client.head_object(Bucket=bucket, Key=key)
            except raised.ClientError as error:
                if troubles.is_absent(error):
                    return None
                raise
        size = int(found["ContentLength"])
        return None if is_marker(key, size) else StoredFile(location, size, _millis(found["LastModified"]))

    def part(self, location: str, start: int, length: int) -> bytes:
        """Bytes from `start` on, as many as there are up to `length`; Missing when there is no such file."""
        if length > 0:
            return self._body(location, partial(_part, start=start, length=length))
        if self.look(location) is None:
            raise _missing(location)
        return b""

    def read(self, location: str) -> bytes:
        """The whole file. Missing when it is not there, Failed when it may not be read or is larger than the bound."""
        return self._body(location, partial(_whole, location=location, bytes_max=self._bytes_max))

    def _body(self, location: str, take: Callable[[Any, str, str], bytes]) -> bytes:
        """What `take` gets. An answer that is cut off is asked for again; botocore does that only until it begins."""
        bucket, key = file_at(location)
        left = self._sessions.settings.tries
        with self._sessions.asking("s3:GetObject", location):
            while True:
                left -= 1
                try:
                    return take(self._client, bucket, key)
                except raised.ClientError as error:
                    if troubles.is_absent(error):
                        raise _missing(location) from error
                    raise
                except _CUT:
                    if not left:
                        raise

    # -------------------------------------------------------------------------------------------------------- wiring

    @cached_property
    def _client(self) -> Any:
        client = self._sessions.client("s3")
        take_apart(client)
        return client

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(AT_ONCE, thread_name_prefix="s3-listing")


def _whole(client: Any, bucket: str, key: str, *, location: str, bytes_max: int) -> bytes:
    answer = client.get_object(Bucket=bucket, Key=key)
    with closing(answer["Body"]) as body:
        size = answer.get("ContentLength")
        data: bytes = b"" if size is not None and size > bytes_max else body.read(None if size else bytes_max + 1)
    size = len(data) if size is None else size
    if size > bytes_max:
        raise Failed(
            f"{location} has {show_bytes(size)}, more than the {show_bytes(bytes_max)} a metadata file may have.",
            why="It would have to fit into memory whole.",
        )
    return data


def _part(client: Any, bucket: str, key: str, *, start: int, length: int) -> bytes:
    try:
        answer = client.get_object(Bucket=bucket, Key=key, Range=f"bytes={start}-{start + length - 1}")
    except raised.ClientError as error:
        if troubles.status(error) == BEYOND_THE_END:
            return b""
        raise
    with closing(answer["Body"]) as body:
        if "ContentRange" in answer:
            return bytes(body.read())
        return bytes(body.read(start + length)[start:])  # a server that knows no ranges sends the file


def _listed(answer: Any) -> Listed:
    found, folders = answer.get("Contents", ()), [one["Prefix"] for one in answer.get("CommonPrefixes", ())]
    keys: Iterable[str] = (one["Key"] for one in found)
    if answer.get("EncodingType") == "url":  # a server that does not encode does not say so
        keys, folders = decoded(keys), list(decoded(folders))
    files = [(key, one["Size"], _millis(one["LastModified"])) for key, one in zip(keys, found, strict=True)]
    ends = [*(key for key, _, _ in files[-1:]), *folders[-1:]]
    return Listed(files, folders, max(ends, default="") if answer["IsTruncated"] else None)


def _within(bucket: str, prefix: str, after: str) -> str | None:
    """The key to go on behind, empty for the first; None when everything under the prefix comes before it."""
    there, key = bucket_and_key(after)
    root, begin = f"{bucket}/{prefix}", f"{there}/{key}"
    if begin.startswith(root):
        return key
    return "" if begin < root else None


def _millis(written: datetime) -> int:
    return round(written.timestamp() * 1000)


def _missing(location: str) -> Missing:
    return Missing(
        f"There is no file {location}.",
        why="The catalog or a metadata file points to it, so the table cannot be read without it.",
        next_step="Where the bucket keeps versions it may be brought back; a lifecycle rule may have taken it.",
    )

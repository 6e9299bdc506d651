"""What writing to S3 has beyond the port: lost answers, servers that know less, encryption, batches."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import pytest

from firnline.adapters.aws import s3_store
from firnline.adapters.aws.s3_store import S3Store
from firnline.config.aws import AwsSettings, Keys
from firnline.core.errors import Failed
from firnline.loop.store import NameTaken
from tests import s3_places
from tests.answering import Answer, Asked, Server, answering


def settings(server: Server, **more: Any) -> AwsSettings:
    """Of a server that answers as it likes."""
    given = {"region": "eu-west-1", "keys": Keys("a", "b"), "endpoints": {"s3": server.endpoint}, "path_style": True}
    return AwsSettings(**{**given, "tries": 3, **more})


def error(status: int, code: str) -> Answer:
    """An error as S3 writes it."""
    return Answer(status, f"<Error><Code>{code}</Code><Message>said so</Message></Error>".encode())


@dataclass
class Bucket:
    """Conditional puts in memory, with answers that come first, in turn, instead of the right one."""

    instead: list[Answer | None] = field(default_factory=list)  # None: the right one
    carries_out: bool = True  # also what it answers otherwise
    conditional: bool = True
    files: dict[str, bytes] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, asked: Asked) -> Answer:
        with self.lock:
            if asked.method != "PUT":
                found = self.files.get(asked.target)
                return error(404, "NoSuchKey") if found is None else Answer(body=found)
            instead = self.instead.pop(0) if self.instead else None
            if instead is None or self.carries_out:
                right = self._put(asked)
                return instead or right
            return instead

    def _put(self, asked: Asked) -> Answer:
        if "if-none-match" in asked.headers:
            if not self.conditional:
                return error(501, "NotImplemented")
            if asked.target in self.files:
                return error(412, "PreconditionFailed")
        self.files[asked.target] = asked.body
        return Answer()


@pytest.mark.parametrize(
    "lost", [error(500, "InternalError"), error(503, "SlowDown"), Answer(status=200, cut=0, body=b" ")]
)
def test_a_lost_answer(lost: Answer) -> None:
    """A put that was carried out and not answered is done: its retry finds its own bytes."""
    bucket = Bucket([lost])
    with answering(bucket) as server, s3_places.opened(settings(server)) as sessions:
        S3Store(sessions).put("s3://lake/a", b"12345")
    assert bucket.files == {"/lake/a": b"12345"}


def test_another_was_there_meanwhile() -> None:
    """A put that failed, and whose name somebody else took before the retry, is no success of ours."""
    bucket = Bucket([error(500, "InternalError")], carries_out=False)
    bucket.files["/lake/a"] = b"54321"
    with answering(bucket) as server, s3_places.opened(settings(server)) as sessions, pytest.raises(NameTaken):
        S3Store(sessions).put("s3://lake/a", b"12345")


def test_puts_that_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A put that met another is sent again, some times; then it has failed."""
    monkeypatch.setattr(s3_store, "AGAIN_SECONDS", 0.01)
    meets = error(409, "ConditionalRequestConflict")
    bucket = Bucket([meets, meets], carries_out=False)
    with answering(bucket) as server, s3_places.opened(settings(server)) as sessions:
        S3Store(sessions).put("s3://lake/a", b"1")
        assert bucket.files == {"/lake/a": b"1"}
        bucket.instead = [meets] * 3
        with pytest.raises(Failed, match="ConditionalRequestConflict"):
            S3Store(sessions).put("s3://lake/b", b"1")


def test_without_conditional_puts() -> None:
    """A server that knows no conditional put is looked at first, and asked for one only once."""
    bucket = Bucket(conditional=False)
    with answering(bucket) as server, s3_places.opened(settings(server)) as sessions:
        store = S3Store(sessions)
        store.put("s3://lake/a", b"1")
        store.put("s3://lake/a", b"1")
        with pytest.raises(NameTaken):
            store.put("s3://lake/a", b"2")
        store.put("s3://lake/b", b"2")
        assert sum("if-none-match" in asked.headers for asked in server.asked) == 1
    assert bucket.files == {"/lake/a": b"1", "/lake/b": b"2"}


SSE = {
    "nothing said": ({}, {}),
    "none": ({"sse": "none"}, {}),
    "s3": ({"sse": "s3", "kms_key": "ignored"}, {"": "AES256"}),
    "kms": ({"sse": "kms", "kms_key": "arn:k"}, {"": "aws:kms", "-aws-kms-key-id": "arn:k"}),
    "kms, its default key": ({"sse": "kms"}, {"": "aws:kms"}),
    "dsse": ({"sse": "dsse-kms", "kms_key": "arn:k"}, {"": "aws:kms:dsse", "-aws-kms-key-id": "arn:k"}),
}


@pytest.mark.parametrize("case", SSE)
@pytest.mark.parametrize("conditional", [True, False], ids=["conditional", "plain"])
def test_encryption(case: str, conditional: bool) -> None:
    """What is written is encrypted as set, by either way of writing; what is not set is the bucket's to say."""
    more, expected = SSE[case]
    name = "x-amz-server-side-encryption"
    with (
        answering(Bucket(conditional=conditional)) as server,
        s3_places.opened(settings(server, **more)) as sessions,
    ):
        S3Store(sessions).put("s3://lake/a", b"1")
        put = [asked for asked in server.asked if asked.method == "PUT"][-1]
    found = {key.removeprefix(name): text for key, text in put.headers.items() if key.startswith(name)}
    assert found == expected


def deleted(asked: Asked) -> list[str]:
    """The keys of a batch."""
    return re.findall("<Key>(.*?)</Key>", asked.body.decode())


def reasons(keys: list[str], code: str) -> Answer:
    """Keys that could not be deleted."""
    errors = "".join(f"<Error><Key>{key}</Key><Code>{code}</Code><Message>said so</Message></Error>" for key in keys)
    return Answer(body=f"<DeleteResult>{errors}</DeleteResult>".encode())


def test_batches() -> None:
    """Many are deleted a thousand at a time, each once."""
    with answering(lambda _: reasons([], "")) as server, s3_places.opened(settings(server)) as sessions:
        assert S3Store(sessions).delete([f"s3://lake/{number}" for number in range(2500)]) == {}
        batches = [deleted(asked) for asked in server.asked]
    assert [len(batch) for batch in batches] == [1000, 1000, 500]
    assert sorted(chain.from_iterable(batches), key=int) == [f"{number}" for number in range(2500)]


def test_reasons() -> None:
    """A file that could not be deleted is named as it was asked for, with the server's reason; others are gone."""

    def answer(asked: Asked) -> Answer:
        return reasons([key for key in deleted(asked) if key.startswith("no")], "AccessDenied")

    with answering(answer) as server, s3_places.opened(settings(server)) as sessions:
        left = S3Store(sessions).delete(["s3a://lake/no/1", "s3://lake/yes", "s3://lake/no/2"])
        assert len(server.asked) == 1
    assert left == dict.fromkeys(["s3a://lake/no/1", "s3://lake/no/2"], "AccessDenied: said so")


@pytest.mark.parametrize("code", ["SlowDown", "InternalError"])
@pytest.mark.parametrize("times", [1, 2])
def test_throttled(monkeypatch: pytest.MonkeyPatch, code: str, times: int) -> None:
    """What was refused for the moment is asked for once more, alone."""
    monkeypatch.setattr(s3_store, "AGAIN_SECONDS", 0.01)
    count = 0

    def answer(asked: Asked) -> Answer:
        nonlocal count
        count += 1
        return reasons([key for key in deleted(asked) if key == "b"] if count <= times else [], code)

    with answering(answer) as server, s3_places.opened(settings(server)) as sessions:
        left = S3Store(sessions).delete(["s3://lake/a", "s3://lake/b"])
        assert [deleted(asked) for asked in server.asked] == [["a", "b"], ["b"]]
    assert left == ({} if times == 1 else {"s3://lake/b": f"{code}: said so"})


def test_a_batch_that_fails() -> None:
    """A batch that is refused whole leaves all of its files, each with the reason, and raises nothing."""
    with answering(lambda _: error(403, "AccessDenied")) as server, s3_places.opened(settings(server)) as sessions:
        left = S3Store(sessions).delete(["s3://lake/a", "s3://lake/b", "no-location"])
    assert set(left) == {"s3://lake/a", "s3://lake/b", "no-location"}
    assert "s3:DeleteObject" in left["s3://lake/a"]


def test_names_that_are_no_xml() -> None:
    """A name a batch cannot hold is deleted by itself."""
    with answering(lambda _: reasons([], "")) as server, s3_places.opened(settings(server)) as sessions:
        assert S3Store(sessions).delete(["s3://lake/a", "s3://lake/b\x01c", "s3://lake/d\re"]) == {}
        assert [asked.method for asked in server.asked] == ["POST", "DELETE", "DELETE"]
        assert server.asked[1].target == "/lake/b%01c"


def test_long_histories() -> None:
    """All versions of a file are found, however many pages they fill, and those of its neighbours are not."""
    sessions = s3_places.moto()
    bucket, key = s3_places.versioned(sessions), s3_places.prefix()
    client = sessions.client("s3")
    for number in range(5):
        client.put_object(Bucket=bucket, Key=key, Body=b"1" * number)
        client.put_object(Bucket=bucket, Key=f"{key}/beneath", Body=b"")
    versions = S3Store(sessions).versions(f"s3://{bucket}/{key}")
    assert sorted(one.size for one in versions) == [0, 1, 2, 3, 4]
    assert versions[0].latest
    assert versions[0].size == 4


def test_restored_is_the_newest() -> None:
    """What comes back is the newest version, and what is written after the deletion is left alone."""
    sessions = s3_places.moto()
    bucket, key = s3_places.versioned(sessions), s3_places.prefix()
    client, store, location = sessions.client("s3"), S3Store(sessions), f"s3://{bucket}/{key}"
    for data in (b"old", b"new"):
        client.put_object(Bucket=bucket, Key=key, Body=data)
    store.delete([location])
    assert store.restore(location)
    assert client.get_object(Bucket=bucket, Key=key)["Body"].read() == b"new"
    assert not store.restore(location)

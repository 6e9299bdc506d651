"""What reading and listing S3 has beyond the port: spellings, folders that are none, answers that break off."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from firnline.adapters.aws.s3_files import S3Files
from firnline.config.aws import AwsSettings, Keys
from firnline.core.errors import Failed
from tests import s3_places
from tests.answering import Answer, Asked, Server, answering


def settings(server: Server, tries: int = 3) -> AwsSettings:
    """Of a server that answers as it likes."""
    return AwsSettings(
        "eu-west-1", keys=Keys("a", "b"), endpoints={"s3": server.endpoint}, path_style=True, tries=tries
    )


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_spelled_back(scheme: str) -> None:
    """Every spelling of S3 reaches the same files, spelled as asked, and goes on behind any other spelling."""
    sessions, prefix = s3_places.moto(), s3_places.prefix()
    for name in ("a", "b"):
        sessions.client("s3").put_object(Bucket="lake", Key=f"{prefix}/{name}", Body=name.encode())
    files, location = S3Files(sessions), f"{scheme}://lake/{prefix}"
    assert [file.location for file in files.list(location).files] == [f"{location}/a", f"{location}/b"]
    assert [file.location for file in files.list(location, after=f"s3://lake/{prefix}/a").files] == [f"{location}/b"]
    assert files.read(f"{location}/a") == b"a"
    found = files.look(f"{location}/a")
    assert found is not None
    assert found.location == f"{location}/a"


@pytest.mark.parametrize(
    ("key", "target"),
    [("a/../b", "a/../b"), ("./c", "./c"), ("d%2Fe", "d%252Fe"), ("f+g h", "f%2Bg%20h"), ("x//y", "x//y"),
     ("?a=b&c#d", "%3Fa%3Db%26c%23d"), ("z/", "z/"), ("/lead", "/lead")],
)  # fmt: skip
def test_literally(key: str, target: str) -> None:
    """A key is asked for as it is: dots lead nowhere, slashes are kept, percent signs are not decoded."""
    with answering(lambda _: Answer(body=b"1")) as server, s3_places.opened(settings(server)) as sessions:
        assert S3Files(sessions).read(f"s3://lake/{key}") == b"1"
        assert server.asked[0].target == f"/lake/{target}"


def test_markers() -> None:
    """What stands for a folder is no file; a file with bytes is, whatever its name ends in."""
    sessions, prefix = s3_places.moto(), s3_places.prefix()
    for name, data in (("dir/", b""), ("dir/a", b"1"), ("full/", b"12"), ("e", b"")):
        sessions.client("s3").put_object(Bucket="lake", Key=f"{prefix}/{name}", Body=data)
    files, location = S3Files(sessions), f"s3://lake/{prefix}"
    assert [file.location for file in files.list(location).files] == [
        f"{location}/dir/a", f"{location}/e", f"{location}/full/"
    ]  # fmt: skip
    assert files.look(f"{location}/dir/") is None
    assert files.look(f"{location}/full/") is not None


def test_a_whole_bucket() -> None:
    """A bucket itself can be listed, and a slash behind it changes nothing."""
    sessions = s3_places.moto()
    sessions.client("s3").create_bucket(Bucket="whole")
    for key in ("a", "b/c", "/d"):
        sessions.client("s3").put_object(Bucket="whole", Key=key, Body=b"")
    files = S3Files(sessions)
    expected = ["s3://whole//d", "s3://whole/a", "s3://whole/b/c"]
    assert [file.location for file in files.list("s3://whole").files] == expected
    assert [file.location for file in files.list("s3://whole/").files] == expected
    assert [file.location for file in files.list("s3://whole//").files] == expected[:1]
    assert [file.location for file in files.list("s3://whole", after="s3://whole//d").files] == expected[1:]
    assert files.list("s3://whole", after="s3://x/").files == ()


def test_as_botocore_reads() -> None:
    """Our reading of an answer finds what botocore's finds."""
    sessions, prefix = s3_places.moto(), s3_places.prefix()
    client = sessions.client("s3")
    for name in ("a b", "a+b", "a%20b", "ü/🐘", "x/<&>", "x/y"):
        client.put_object(Bucket="lake", Key=f"{prefix}/{name}", Body=name.encode())
    with s3_places.opened(sessions.settings) as plain:
        for delimiter in ({}, {"Delimiter": "/"}):
            theirs = plain.client("s3").list_objects_v2(Bucket="lake", Prefix=f"{prefix}/", **delimiter)
            S3Files(sessions).list(f"s3://lake/{prefix}")
            ours = client.list_objects_v2(Bucket="lake", Prefix=f"{prefix}/", **delimiter)
            wanted = ("Key", "Size", "LastModified")
            assert ours["Contents"] == [{name: one[name] for name in wanted} for one in theirs["Contents"]]
            assert ours.get("CommonPrefixes") == theirs.get("CommonPrefixes")


def test_too_large() -> None:
    """A file larger than the bound is refused before it is read; one of the bound is read."""
    sessions, location = s3_places.moto(), f"s3://lake/{s3_places.prefix()}"
    bucket, key = "lake", location.removeprefix("s3://lake/")
    sessions.client("s3").put_object(Bucket=bucket, Key=key, Body=b"12345")
    with pytest.raises(Failed, match="5 B, more than the 4 B"):
        S3Files(sessions, bytes_max=4).read(location)
    assert S3Files(sessions, bytes_max=5).read(location) == b"12345"


@pytest.mark.parametrize("whole", [1, 2, 3], ids="at try {}".format)
def test_cut_off(whole: int) -> None:
    """An answer that breaks off is asked for again; a part of it is never taken for the whole."""
    count = 0

    def answer(_: Asked) -> Answer:
        nonlocal count
        count += 1
        return Answer(body=b"0123456789" * 100, cut=None if count == whole else 500)

    with answering(answer) as server, s3_places.opened(settings(server)) as sessions:
        assert S3Files(sessions).read("s3://lake/a") == b"0123456789" * 100
        assert count == whole


def test_cut_off_always() -> None:
    """What breaks off every time has failed, after as many tries as are set."""
    with (
        answering(lambda _: Answer(body=b"0123456789", cut=5)) as server,
        s3_places.opened(settings(server)) as sessions,
    ):
        with pytest.raises(Failed):
            S3Files(sessions).read("s3://lake/a")
        assert len(server.asked) == 3


def test_a_server_without_ranges() -> None:
    """One that sends the whole file instead of a part is no reason to take the wrong bytes."""
    with answering(lambda _: Answer(body=b"0123456789")) as server, s3_places.opened(settings(server)) as sessions:
        assert S3Files(sessions).part("s3://lake/a", 3, 4) == b"3456"


def page(keys: list[str], token: str = "") -> Answer:
    """A page of a listing."""
    more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>"
    files = "".join(
        f"<Contents><Key>{key}</Key><LastModified>2026-11-19T23:53:16.123Z</LastModified><Size>1</Size></Contents>"
        for key in keys
    )
    space = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
    end = more if token else "<IsTruncated>false</IsTruncated>"
    return Answer(body=f"<ListBucketResult {space}>{end}{files}</ListBucketResult>".encode())


def test_an_empty_page() -> None:
    """A page without a file is not the end where there is another one behind it."""

    def answer(asked: Asked) -> Answer:
        return page(["t/a"]) if "continuation-token=more" in asked.target else page([], "more")

    with answering(answer) as server, s3_places.opened(settings(server)) as sessions:
        (file,) = S3Files(sessions).list("s3://lake/t").files
    assert (file.location, file.size) == ("s3://lake/t/a", 1)
    assert datetime.fromtimestamp(file.millis / 1000, UTC).isoformat(timespec="milliseconds")[17:23] == "16.123"


def test_the_order_breaks() -> None:
    """A server whose order breaks in the middle is told of, and from then on listed folder by folder."""

    def answer(asked: Asked) -> Answer:
        if "delimiter" in asked.target:
            return page(["t/b", "t/a", "t/c"])
        after = re.search("start-after=t%2F(.)", asked.target)
        return page(["t/a", "t/c"], "more") if after is None else page(["t/b"])

    with answering(answer) as server, s3_places.opened(settings(server)) as sessions:
        files = S3Files(sessions)
        with pytest.raises(Failed, match="in the order of their names"):
            files.list("s3://lake/t")
        found = [file.location for file in files.list("s3://lake/t").files]
    assert found == ["s3://lake/t/a", "s3://lake/t/b", "s3://lake/t/c"]


def test_a_directory_bucket() -> None:
    """AWS's directory buckets list in no order: they are asked folder by folder from the beginning."""
    files = S3Files(s3_places.moto())
    assert files._lists_by_folder("fast--use1-az4--x-s3")
    assert not files._lists_by_folder("fast")


def test_few_requests() -> None:
    """A small table is one request."""
    with answering(lambda _: page(["t/a", "t/b"])) as server, s3_places.opened(settings(server)) as sessions:
        assert len(S3Files(sessions).list("s3://lake/t").files) == 2
        assert len(server.asked) == 1
        assert "firnline/" in server.asked[0].headers["user-agent"]

"""Our listing of S3 beside boto3's paginator, over the same server with the same latency.

    python -m benchmarks.s3_listing [FILES]

Method: a server in a process of its own that knows nothing but ListObjectsV2 over sorted keys and answers each request
20 ms after it came, as S3 at its best does; a real one would be measured instead of the client. The keys are those of a
table of a year by day and 8 buckets, then of one folder without any beneath. Both sides turn every file into key, size
and time. Wall seconds, the best of two turns; requests are counted by the server. The bound on the ratio of the first
is 2, the aim 4: what is left is reading XML, which threads do not share out. Both grow linearly.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import parse_qs, quote_plus, urlsplit

from firnline.adapters.aws.s3_files import S3Files
from firnline.adapters.aws.sessions import Sessions
from firnline.config.aws import AwsSettings, Keys

FILES = 100_000
LATENCY_SECONDS = 0.020
PAGE = 1000
TURNS = 2
BOUND = 2
_FILE = (
    "<Contents><Key>{}</Key><LastModified>2026-11-19T23:53:16.000Z</LastModified><ETag>&quot;{:032x}&quot;</ETag>"
    "<ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType><Size>{}</Size>"
    "<StorageClass>STANDARD</StorageClass></Contents>"
)


def names(files: int) -> list[str]:
    """Sorted keys: `days` is partitioned, `flat` is not."""
    days = [
        f"days/data/ts_day=2026-{1 + at % 365 // 31:02}-{1 + at % 365 % 31:02}/user_id_bucket={at // 365 % 8}/"
        f"00000-{at:07}-4f3c2b1a-0000-1111-2222-333344445555-00001.parquet"
        for at in range(files)
    ]
    flat = [f"flat/data/00000-{at:07}-4f3c2b1a-0000-1111-2222-333344445555-00001.parquet" for at in range(files)]
    return sorted(days + flat)


def page(keys: list[str], query: dict[str, str]) -> str:
    """One answer. Folders are found by stepping over what they hold."""
    prefix, after = query.get("prefix", ""), query.get("continuation-token") or query.get("start-after", "")
    at = max(bisect_right(keys, after), bisect_left(keys, prefix))
    shown: list[str] = []
    last = ""
    while at < len(keys) and keys[at].startswith(prefix) and len(shown) < PAGE:
        key = keys[at]
        slash = key.find("/", len(prefix)) if "delimiter" in query else -1
        last = key[: slash + 1] if slash >= 0 else key
        at = at + 1 if slash < 0 else bisect_left(keys, f"{last}\U0010ffff")
        shown.append(
            f"<CommonPrefixes><Prefix>{quote_plus(last, safe='/')}</Prefix></CommonPrefixes>" if slash >= 0
            else _FILE.format(quote_plus(key, safe="/"), at, at + 12_345_678)
        )  # fmt: skip
    more = at < len(keys) and keys[at].startswith(prefix)
    token = f"<NextContinuationToken>{last}</NextContinuationToken>" if more else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<EncodingType>url</EncodingType><IsTruncated>{str(more).lower()}</IsTruncated>{token}{''.join(shown)}"
        "</ListBucketResult>"
    )


def serve(files: int, line: Connection) -> None:
    """The server; says its port, and how many requests it had whenever it is asked. Answers are made once."""
    keys, count = names(files), 0
    answers: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 1 << 20

        def do_GET(self) -> None:
            nonlocal count
            due, count = time.monotonic() + LATENCY_SECONDS, count + 1
            query = urlsplit(self.path).query
            body = answers.get(query)
            if body is None:
                given = {name: values[0] for name, values in parse_qs(query).items()}
                body = answers[query] = page(keys, given).encode()
            time.sleep(max(0.0, due - time.monotonic()))
            self.send_response(200)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    line.send(server.server_port)
    while line.recv():
        line.send(count)
        count = 0


@contextmanager
def server(files: int) -> Iterator[tuple[str, Callable[[], int]]]:
    """Its endpoint, and the requests since it was last asked for them."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(files, theirs), daemon=True)
    process.start()

    def requests() -> int:
        ours.send(True)
        return int(ours.recv())

    try:
        yield f"http://127.0.0.1:{ours.recv()}", requests
    finally:
        ours.send(False)
        process.join()


def ours(sessions: Sessions, folder: str) -> int:
    """Files, by the port."""
    files, after, count = S3Files(sessions), None, 0
    while True:
        found = files.list(f"s3://lake/{folder}", after=after, limit=PAGE)
        count += len(found.files)
        if (after := found.after) is None:
            return count


def rivals(client: Any, folder: str) -> int:
    """Files, by boto3's paginator."""
    count = 0
    for found in client.get_paginator("list_objects_v2").paginate(Bucket="lake", Prefix=f"{folder}/"):
        count += len([(one["Key"], one["Size"], one["LastModified"]) for one in found.get("Contents", ())])
    return count


def best(run: Callable[[], int], requests: Callable[[], int], wanted: int) -> tuple[float, int]:
    """Seconds, and requests, of the best of some turns."""
    figures = []
    for _ in range(TURNS):
        requests()
        begun = time.perf_counter()
        assert run() == wanted
        figures.append((time.perf_counter() - begun, requests()))
    return min(figures)


def main() -> None:
    """Print the figures; exit 1 below the bound."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    figures: dict[str, float] = {"files": files}
    with server(files) as (endpoint, requests):
        settings = AwsSettings("eu-west-1", keys=Keys("a", "b"), endpoints={"s3": endpoint}, path_style=True)
        sessions, plain = Sessions(settings), Sessions(settings)
        client = plain.client("s3")
        print(f"files of each table                        {files:>9,}  ({LATENCY_SECONDS * 1000:.0f} ms a request)")
        for folder, shape in (("days", "by day and bucket"), ("flat", "in one folder")):
            theirs, asked = best(lambda folder=folder: rivals(client, folder), requests, files)  # type: ignore[misc]
            print(f"{shape:18} boto3's paginator       {theirs:9.2f}  s, {asked:5} requests")
            mine, asked = best(lambda folder=folder: ours(sessions, folder), requests, files)  # type: ignore[misc]
            print(f"{'':18} ours                    {mine:9.2f}  s, {asked:5} requests")
            print(f"{'':18} ratio                   {theirs / mine:9.1f}")
            figures |= {f"{folder}_ours": mine, f"{folder}_boto3": theirs, f"{folder}_ratio": theirs / mine}
        sessions.close()
        plain.close()
    print(f"the bound of the first                     {BOUND:9}")
    print(json.dumps(figures))
    sys.exit(figures["days_ratio"] < BOUND)


if __name__ == "__main__":
    main()

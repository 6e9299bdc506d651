"""Answers to ListObjectsV2, taken apart by us on the way to botocore.

botocore walks its model for every field of every file: 55 ms for a page of a thousand, where reading the XML takes 4.
That is more than the network takes, and threads do not share it out. So the files are taken out of the body before
botocore sees it, and put beside what it reads from the rest: who asks for a listing finds `Contents` as ever, with the
key, size and time of each file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote_plus
from xml.etree import ElementTree as ET

_EVENT = "before-parse.s3.ListObjectsV2"


def take_apart(client: Any) -> None:
    """Have this client's listings read here. Twice is once."""
    client.meta.events.register(_EVENT, _take_apart, unique_id="firnline-listing")


def _take_apart(response_dict: Any, customized_response_dict: Any, **_: object) -> None:
    if response_dict["status_code"] != 200:
        return
    try:
        # As safe as botocore's own reading, which is the same parser: expat bounds what entities may grow to.
        root = ET.fromstring(response_dict["body"])  # noqa: S314
        space = root.tag.rpartition("}")[0] + "}" if root.tag.startswith("{") else ""
        files = [_file(node, space) for node in root.iterfind(f"{space}Contents")]
    except (ET.ParseError, ValueError):
        return  # not what S3 answers: botocore says so
    root[:] = [node for node in root if node.tag != f"{space}Contents"]
    response_dict["body"] = ET.tostring(root)
    customized_response_dict["Contents"] = files


def _file(node: Any, space: str) -> dict[str, Any]:
    written = datetime.fromisoformat(node.findtext(f"{space}LastModified", "1970-01-01T00:00:00Z"))
    return {
        "Key": node.findtext(f"{space}Key", ""),  # encoded still: botocore decodes it unless it was asked for so
        "Size": int(node.findtext(f"{space}Size", "0")),
        "LastModified": written if written.tzinfo else written.replace(tzinfo=UTC),
    }


def decoded(keys: Iterable[str]) -> Iterator[str]:
    """The keys of an answer that was asked for with EncodingType=url: XML could not write some of them otherwise."""
    folders: dict[str, str] = {}
    for key in keys:
        folder, slash, name = key.rpartition("/")
        if folder not in folders:
            folders[folder] = unquote_plus(folder)
        yield folders[folder] + slash + (unquote_plus(name) if "%" in name or "+" in name else name)

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from urllib3.util.url import _encode_target

from firnline.adapters.rest import paths
from firnline.core.errors import BadInput
from firnline.core.ids import Identifier

NAMES = st.text(st.characters(exclude_characters="\x00\x1f", exclude_categories=["Cs"]), min_size=1).filter(
    lambda name: name not in {".", ".."}
)


@given(st.lists(NAMES, min_size=1, max_size=4), NAMES)
def test_any_name_arrives(namespace: list[str], name: str) -> None:
    """Whatever a namespace and a table are called, a server that splits and decodes as the specification says has them
    back, and nothing on the way spells the address anew.
    """
    path = paths.table(Identifier(tuple(namespace), name))
    _, between, _, last = path.split("/")
    assert ([unquote(part) for part in between.split("%1F")], unquote(last)) == (namespace, name)
    assert _encode_target(f"/{path}") == f"/{path}"


@given(st.lists(st.tuples(NAMES, st.text(st.characters(exclude_categories=["Cs"]))), min_size=1, max_size=3))
def test_queries_arrive(pairs: list[tuple[str, str]]) -> None:
    """A query goes over the wire as it was written, and so as it was signed."""
    target = f"/v1/config{paths.query(pairs)}"
    assert _encode_target(target) == target
    found = [tuple(map(unquote, pair.split("="))) for pair in target.split("?", 1)[1].split("&")]
    assert found == pairs


@pytest.mark.parametrize(
    ("given_", "sent"),
    [
        ("catalogs/123456789012", "catalogs/123456789012"),
        ("catalogs/123456789012:s3tablescatalog/bucket", "catalogs/123456789012:s3tablescatalog/bucket"),
        ("arn%3aaws%3as3tables%3a%2flake", "arn%3Aaws%3As3tables%3A%2Flake"),
        ("with space/ü", "with%20space/%C3%BC"),
    ],
)
def test_prefixes(given_: str, sent: str) -> None:
    """A prefix goes out as the server gave it: slashes stay, nothing is encoded twice, escapes are in capitals before
    they are signed.
    """
    assert paths.raw(given_) == sent
    assert _encode_target(f"/{sent}") == f"/{sent}"


@pytest.mark.parametrize(
    ("separator", "path", "query"),
    [("%1F", "a.b%1Fc%2Fd", "a.b\x1fc/d"), ("%2E", "a.b%2Ec%2Fd", "a.b.c/d"), (".", "a.b.c%2Fd", "a.b.c/d")],
)
def test_separators(separator: str, path: str, query: str) -> None:
    """The separator is the server's, encoded in paths as it gave it and plain in queries."""
    assert paths.namespace(("a.b", "c/d"), separator) == path
    assert paths.parent(("a.b", "c/d"), separator) == query


@pytest.mark.parametrize("name", ["", ".", "..", "a\x1fb", "a\x00b", "\ud800"])
def test_names_that_cannot_arrive(name: str) -> None:
    """What a server would take for something else is not sent."""
    with pytest.raises(BadInput, match="cannot be the name"):
        paths.segment(name)


def test_no_namespace() -> None:
    """The empty namespace has no address."""
    with pytest.raises(BadInput, match="empty namespace"):
        paths.namespace(())

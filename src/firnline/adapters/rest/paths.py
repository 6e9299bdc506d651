"""Addresses inside a REST catalog, spelled once: what is signed here is what goes over the wire, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, unquote

from firnline.core.errors import BadInput
from firnline.core.ids import Identifier, join_name

SEPARATOR = "%1F"  # between the parts of a namespace, unless the server's configuration says otherwise
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
_KEPT = "%/:@!$&'()*+,;=~"


def segment(name: str) -> str:
    """A name as one segment of a path. BadInput for one that would not arrive as one: servers and proxies fold `.` and
    `..` away, and the unit separator is what parts of a namespace are joined with.
    """
    try:
        encoded = quote(name, safe="")
    except UnicodeEncodeError:  # half of a character
        encoded = ""
    if encoded in {"", ".", ".."} or "\x1f" in name or "\x00" in name:
        raise BadInput(f"{name!r} cannot be the name of anything in a REST catalog.")
    return encoded


def namespace(parts: tuple[str, ...], separator: str = SEPARATOR) -> str:
    """A namespace as one segment of a path. The separator stays as the server wrote it, which is encoded: a dot in a
    part is a dot, and a `%2E` between parts is none.
    """
    if not parts:
        raise BadInput("The empty namespace is none a table can be in.")
    return quote(separator, safe="%").join(segment(part) for part in parts)


def parent(parts: tuple[str, ...], separator: str = SEPARATOR) -> str:
    """A namespace as the value of `parent=`: joined by the plain separator, and encoded once with the whole query."""
    return unquote(separator).join(parts)


def table(identifier: Identifier, separator: str = SEPARATOR, *, kind: str = "tables") -> str:
    """The path of a table, or of a view, below the prefix."""
    return f"namespaces/{namespace(identifier.namespace, separator)}/{kind}/{segment(identifier.name)}"


def query(pairs: Iterable[tuple[str, str]]) -> str:
    """The query with its question mark, in the order given; nothing for no pairs."""
    text = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in pairs)
    return f"?{text}" if text else ""


def raw(text: str) -> str:
    """What a server or a person gave encoded already, such as a prefix with a slash in it or an ARN: escapes stay, in
    the capitals HTTP libraries would write them in after the request was signed, and only what no address may hold is
    encoded.
    """
    return _ESCAPE.sub(lambda found: found[0].upper(), quote(text, safe=_KEPT))


def shown(parts: tuple[str, ...]) -> str:
    """A namespace for people."""
    return join_name(parts) or "(the top)"

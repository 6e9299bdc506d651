"""Every error of a metastore, as one sentence that says what to do. For looking: what an error means for a commit is
said in `answers`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from firnline.adapters.hive.client import HiveClient
from firnline.adapters.hive.wire import UNKNOWN_METHOD, Broken, Fault, Unreachable
from firnline.config.endpoints import HIVE_PORT, HiveEndpoint
from firnline.core.errors import Failed, FirnlineError

SAID_MAX = 400  # characters of what a server says: more is a stack trace
_DENIED = re.compile(
    r"permission denied|AccessControlException|HiveAccessControl|not (?:authorized|privileged|allowed)|no privilege"
    r"|authorization failed",
    re.IGNORECASE,
)
_SASL = (b"\x03\x00\x00", b"\x04\x00\x00")  # SASL's BAD and ERROR, then the length of a message
_TLS = (b"\x15\x03", b"\x16\x03")


@contextmanager
def explained(client: HiveClient, what: str) -> Iterator[None]:
    """Errors of the metastore inside are raised as ours. `what` was asked for, as people name it."""
    try:
        yield
    except (Unreachable, Broken, Fault) as error:
        raise trouble(error, client, what) from error


def trouble(error: Unreachable | Broken | Fault, client: HiveClient, what: str) -> FirnlineError:
    """The same error as a person wants to read it."""
    server = address(client.endpoint)
    if isinstance(error, Unreachable):
        return Failed(
            f"The metastore {server} cannot be reached: {said(error.reason)}.",
            next_step="Check `uri` of the catalog, and that the metastore is running.",
        )
    if isinstance(error, Broken):
        return _silent(error, server)
    if error.name == UNKNOWN_METHOD:
        return Failed(
            f"The metastore {server} does not know what it was asked: {message(error)}.",
            why="Hive Metastore 2.3, 3 and 4 know everything that Firnline asks.",
            next_step="Check its version.",
        )
    if denied(error):
        return Failed(
            f"The user {client.user} may not read {said(what)} in the metastore {server}.",
            why=f"It said: {message(error)}.",
            next_step=f"Ask for the right, or set HADOOP_USER_NAME if {client.user} is the wrong user.",
        )
    return Failed(
        f"The metastore {server} could not give {said(what)}: {message(error)}.",
        next_step="Its own log says more.",
    )


def _silent(error: Broken, server: str) -> FirnlineError:
    if error.slow:
        return Failed(
            f"The metastore {server} did not answer: {said(error.reason)}.",
            next_step="See what it is busy with; `request-timeout` of the catalog is how long is waited.",
        )
    heard = error.heard
    if heard is None:
        return Failed(
            f"The metastore {server} broke off the connection: {said(error.reason)}.",
            next_step="Run the command again; if it stays so, see the metastore's log.",
        )
    if heard[:4] == b"HTTP" or b"<html" in heard.lower():
        return Failed(
            f"{server} speaks HTTP, and not the metastore's own protocol.",
            next_step=f"`uri` of the catalog wants the thrift port ({HIVE_PORT} unless it was moved). A metastore with "
            "metastore.server.thrift.transport.mode=http is not supported.",
        )
    if heard.startswith(_TLS):
        return Failed(
            f"{server} wants an encrypted line (TLS), which is not supported.",
            next_step="Reach it through a tunnel, or use the catalog's REST endpoint if it has one.",
        )
    if heard.startswith(_SASL):
        return Failed(
            f"The metastore {server} wants Kerberos (SASL), which is not supported.",
            next_step="Use a metastore with hive.metastore.sasl.enabled=false, or a REST catalog in front of it.",
        )
    if heard:
        return Failed(
            f"{server} does not speak the metastore's protocol.",
            next_step=f"Check `uri` of the catalog: the thrift port is {HIVE_PORT} unless it was moved.",
        )
    return Failed(
        f"{server} closed the connection without an answer.",
        why="A metastore does so that wants Kerberos (SASL) or framed messages, and neither is supported; so does a "
        "server that is no metastore.",
        next_step="Check `uri` of the catalog, hive.metastore.sasl.enabled and "
        "hive.metastore.thrift.framed.transport.enabled.",
    )


def denied(error: Fault) -> bool:
    """Whether the server says that we may not."""
    return _DENIED.search(message(error)) is not None


def message(error: Unreachable | Broken | Fault) -> str:
    """What the server or this machine says, in one line, without the full stop."""
    return said((error.text or error.name) if isinstance(error, Fault) else error.reason).rstrip(".")


def said(text: object) -> str:
    """A text from outside, fit to be shown: one line, printable, bounded."""
    line = " ".join(str(text).split())
    line = "".join(character if character.isprintable() else "\ufffd" for character in line)
    return line if len(line) <= SAID_MAX else line[: SAID_MAX - 1] + "…"


def address(endpoint: HiveEndpoint) -> str:
    """The server as `uri` names it."""
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"thrift://{host}:{endpoint.port}"

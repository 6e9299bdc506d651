"""One clear message for each way a metastore cannot be asked."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from firnline.adapters.hive.client import HiveClient
from firnline.adapters.hive.pointers import HivePointers
from firnline.adapters.hive.troubles import trouble
from firnline.adapters.hive.wire import UNKNOWN_METHOD, Broken, Fault
from firnline.config.aws import AwsSettings
from firnline.config.endpoints import HiveEndpoint
from firnline.core.errors import Failed

SASL = b"\x04\x00\x00\x00\x13Invalid status -128"  # how Java's SASL transport turns a plain client away


@contextmanager
def answering(answer: bytes | None) -> Iterator[int]:
    """A server that says this to whatever it is asked, then closes; None: it stays silent."""

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                with client:
                    client.recv(1 << 16)
                    if answer is None:
                        client.recv(1)
                    else:
                        client.sendall(answer)

    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def complaint(host: str, port: int, millis: int = 20_000) -> Failed:
    """What a look into this metastore ends with."""
    client = HiveClient(HiveEndpoint(host, port, AwsSettings(), timeout_millis=millis))
    with pytest.raises(Failed) as raised:
        list(HivePointers(client).list())
    client.close()
    assert raised.value.next_step
    return raised.value


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "speaks HTTP"),
        (b"\x15\x03\x01\x00\x02\x02\x46", "wants an encrypted line (TLS)"),
        (SASL, "wants Kerberos (SASL), which is not supported"),
        (b"", "closed the connection without an answer"),
        (b"220 mail.example.com ESMTP\r\n", "does not speak the metastore's protocol"),
        (b"\x80\x01\x00\x02\x00\x00\x00\x07set_ugi\x00\x00\x00\x00\xff", "does not speak the metastore's protocol"),
    ],
    ids=["http", "tls", "sasl", "silence", "mail", "nonsense"],
)
def test_not_a_metastore(answer: bytes, words: str) -> None:
    """What answers in another protocol is called by its name, with the address."""
    with answering(answer) as port:
        error = complaint("127.0.0.1", port)
        assert words in error.what
        assert f"thrift://127.0.0.1:{port}" in error.what


def test_too_slow() -> None:
    """A server that does not answer is waited for as long as was set, once."""
    with answering(None) as port:
        assert "no answer within 0.2 s" in complaint("127.0.0.1", port, 200).what


def test_nobody_there() -> None:
    """An address where nothing listens, and one there is not."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
    assert f"thrift://127.0.0.1:{port} cannot be reached" in complaint("127.0.0.1", port).what
    assert "cannot be reached" in complaint("metastore.invalid", 9083).what
    assert "cannot be reached" in complaint("a..b", 9083).what


@pytest.mark.parametrize(
    ("error", "what", "next_step"),
    [
        (
            Fault("MetaException", "java.security.AccessControlException: Permission denied: user=ann, access=READ"),
            "The user ann may not read shop.orders in the metastore thrift://[::1]:9083.",
            "HADOOP_USER_NAME",
        ),
        (Fault(UNKNOWN_METHOD, "Invalid method name: 'get_table_req'"), "does not know what it was asked", "version"),
        (Fault("MetaException", "Unable to\nopen\x1b[31m it."), "could not give shop.orders: Unable to open", "log"),
        (Fault("MetaException", ""), "could not give shop.orders: MetaException", "log"),
        (Broken("reset by peer", sent=True), "broke off the connection: reset by peer", "again"),
    ],
    ids=["rights", "version", "fault", "wordless", "broken"],
)
def test_what_it_says(error: Broken | Fault, what: str, next_step: str) -> None:
    """An answer that is an error is quoted in one line, with what to do."""
    client = HiveClient(HiveEndpoint("::1", 9083, AwsSettings()), user="ann")
    found = trouble(error, client, "shop.orders")
    assert what in found.what
    assert next_step in (found.next_step or "")
    assert found.what.isprintable()

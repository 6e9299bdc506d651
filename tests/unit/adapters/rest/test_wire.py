from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator

import pytest

from firnline.adapters.rest.wire import NoReply, Request, Wire, _proxy
from tests.unit.adapters.rest.scripted import SETTINGS, Say, scripted

BOUND = 1000


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A wire with short timeouts."""
    opened = Wire(SETTINGS)
    yield opened
    opened.close()


def unused() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/"


def test_an_answer_is_whole(wire: Wire) -> None:
    """Status, headers in lower case and the body, decompressed; by both ways of sending."""
    body = gzip.compress(b"snow")
    with scripted(lambda _: Say(418, body, {"Content-Encoding": "gzip", "X-Any": "1"})) as server:
        for send in (wire.ask, wire.tell):
            reply = send(Request("GET", f"{server.uri}/a"), BOUND)
            assert (reply.status, reply.headers["x-any"], reply.body) == (418, "1", b"snow")


def test_the_target_is_sent_as_it_is(wire: Wire) -> None:
    """Not a byte of path and query is spelled anew: a signature is over exactly these."""
    target = "/v1/arn%3Aaws%2Flake/a%1Fb/./../x~y'(z)?pageToken=&q=%2B%20%7e"
    with scripted(lambda _: Say()) as server:
        wire.tell(Request("POST", server.uri + target, {"X-One": "1"}, b"body"), BOUND)
        (heard,) = server.heard
    assert (heard.method, heard.target.replace("%7E", "%7e"), heard.headers["x-one"], heard.body) == (
        "POST", target, "1", b"body",
    )  # fmt: skip


def test_commits_have_a_connection_of_their_own(wire: Wire) -> None:
    """A connection the server may just have closed is not used for what may be sent once only."""
    closing = Say(headers={"Keep-Alive": "timeout=1"})
    with scripted(lambda _: closing) as server:
        for _ in range(3):
            assert wire.tell(Request("POST", server.uri, {}, b"x"), BOUND).status == 200
        assert len(server.heard) == 3


def test_redirects_are_answers(wire: Wire) -> None:
    """No redirect is followed, and no credential goes anywhere it was not sent."""
    with scripted(lambda _: Say()) as other:
        with scripted(lambda _: Say(307, headers={"Location": other.uri})) as server:
            request = Request("GET", server.uri, {"Authorization": "Bearer x"})
            assert [wire.ask(request, BOUND).status, wire.tell(request, BOUND).status] == [307, 307]
        assert other.heard == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (Say(raw=b""), "closed connection"),
        (Say(raw=b"HTTP/1.1 2"), "2"),
        (Say(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}"), "broke off"),
        (Say(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}"), "broke off"),
        (Say(raw=b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"), "broke off"),
        (Say(silent=True), "did not answer in time"),
        (Say(body=b"x" * (BOUND + 1)), "more than"),
        (Say(body=gzip.compress(b"x" * 10**7), headers={"Content-Encoding": "gzip"}), "more than"),
    ],
)
def test_broken_answers(wire: Wire, said: Say, words: str) -> None:
    """Whatever goes wrong once the request is out, nobody knows what became of it."""
    with scripted(lambda _: said) as server:
        with pytest.raises(NoReply, match=words) as raised:
            wire.tell(Request("POST", server.uri, {}, b"x"), BOUND)
        assert raised.value.sent


def test_a_length_that_is_too_short(wire: Wire) -> None:
    """Of a body longer than its declared length the declared part comes back: half of a JSON text, which is none."""
    with scripted(lambda _: Say(raw=b'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"a": 1}')) as server:
        assert wire.tell(Request("POST", server.uri), BOUND).body == b'{"a":'


@pytest.mark.parametrize("url", ["http://no-such-host.invalid/", unused()])
def test_nothing_was_sent(wire: Wire, url: str) -> None:
    """Where there is no connection there was no request."""
    with pytest.raises(NoReply) as raised:
        wire.tell(Request("POST", url, {}, b"x"), BOUND)
    assert (raised.value.sent, raised.value.tls) == (False, False)


def test_no_trust_no_request(wire: Wire) -> None:
    """A handshake that fails is told apart, and nothing is sent before it is over."""
    with scripted(lambda _: Say()) as server:
        with pytest.raises(NoReply) as raised:
            wire.tell(Request("POST", server.uri.replace("http:", "https:"), {}, b"x"), BOUND)
        assert (raised.value.sent, raised.value.tls, raised.value.lasting) == (False, True, True)
        assert all(heard.method != "POST" for heard in server.heard)


def test_proxies(monkeypatch: pytest.MonkeyPatch, wire: Wire) -> None:
    """The environment's proxy is used as by every HTTP client, and never for this machine."""
    with scripted(lambda _: Say(body={"by": "proxy"})) as proxy:
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, proxy.uri.replace("//", "//ann:secret@"))
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.setenv(name, "inside.example")
        assert _proxy("http://127.0.0.1:1/") is None
        assert _proxy("http://inside.example/") is None
        assert wire.tell(Request("POST", "http://lake.example/v1/x?y=%20", {}, b"z"), BOUND).body == b'{"by": "proxy"}'
        (heard,) = proxy.heard
    assert heard.target == "http://lake.example/v1/x?y=%20"
    assert heard.headers["proxy-authorization"].startswith("Basic ")

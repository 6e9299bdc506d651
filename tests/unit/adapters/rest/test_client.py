from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from firnline.adapters.rest.client import PAUSE_SECONDS_MAX, RestClient, _origin
from firnline.adapters.rest.faults import MESSAGE_MAX, Fault
from firnline.adapters.rest.signing_in import Exchanged
from firnline.adapters.rest.wire import NoReply, Request, Wire
from firnline.config.endpoints import Bearer, OAuth2, RestEndpoint, SigV4
from firnline.core.errors import BadInput, Blocked, Failed, FirnlineError
from tests.unit.adapters.rest.scripted import CONFIG, SETTINGS, Heard, Say, Scripted, endpoint, scripted

CREDENTIAL = "ann:s3cret-of-ann"


@contextmanager
def client(script: Callable[[Heard], Say], **more: Any) -> Iterator[tuple[RestClient, Scripted, list[float]]]:
    """A client, the server it talks to, and the pauses it made."""
    pauses: list[float] = []
    with scripted(script) as server:
        made = RestClient(endpoint(server.uri + "/cat", **more), pause=pauses.append)
        try:
            yield made, server, pauses
        finally:
            made.close()


def after_config(*said: Say) -> Callable[[Heard], Say]:
    """The configuration, and then these answers, the last one for ever."""
    rest = list(said)

    def script(heard: Heard) -> Say:
        if "/v1/config" in heard.target:
            return CONFIG
        return rest.pop(0) if len(rest) > 1 else rest[0]

    return script


def test_configuration() -> None:
    """Overrides win over defaults, the prefix is used as it is, and the configuration is asked for once."""
    said = {
        "defaults": {"prefix": "no", "namespace-separator": "%2E", "header.X-Of": "default", "header.X-Low": "1"},
        "overrides": {"prefix": "catalogs/1/", "header.X-Up": "2", "header.Authorization": "theirs"},
        "endpoints": ["GET /v1/{prefix}/namespaces/{namespace}/views"],
    }
    headers = {"X-Of": "user", "X-Up": "0", "X-Iceberg-Access-Delegation": "vended-credentials"}
    with client(lambda _: Say(body=said), warehouse="my lake", headers=headers) as (rest, server, _):
        rest.ask("namespaces", [("a", "b c")])
        rest.ask("namespaces")
        heard = server.heard
        assert rest.config.separator == "%2E"
        assert rest.has("GET /v1/{prefix}/namespaces/{namespace}/views")
        assert not rest.has("GET /v1/{prefix}/namespaces/{namespace}/views/{view}")
    assert [each.target for each in heard] == [
        "/cat/v1/config?warehouse=my%20lake", "/cat/v1/catalogs/1/namespaces?a=b%20c", "/cat/v1/catalogs/1/namespaces",
    ]  # fmt: skip
    sent = heard[-1].headers
    assert (sent["x-of"], sent["x-low"], sent["x-up"]) == ("user", "1", "2")
    assert "authorization" not in sent
    assert "x-iceberg-access-delegation" not in sent


def test_another_server() -> None:
    """A configuration that names another server is not followed with our credentials."""
    said = Say(body={"overrides": {"uri": "https://elsewhere.example/cat"}})
    with (
        client(lambda _: said) as (rest, _, _),
        pytest.raises(BadInput, match="sends its clients to https://elsewhere"),
    ):
        rest.ask("namespaces")


def test_another_path_of_the_server() -> None:
    """A configuration may name another path of the same server."""
    with scripted(lambda heard: Say(body={"overrides": {"uri": f"http://{heard.headers['host']}/deep/v1/"}})) as server:
        rest = RestClient(endpoint(server.uri))
        rest.ask("namespaces")
        rest.close()
        assert server.heard[-1].target == "/deep/v1/namespaces"


@pytest.mark.parametrize(
    "passing",
    [
        Say(503), Say(429), Say(500), Say(502), Say(504), Say(raw=b""), Say(silent=True),
        Say(400, {"__type": "ThrottlingException"}), Say(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"),
    ],
)  # fmt: skip
def test_questions_are_asked_again(passing: Say) -> None:
    """What passes is waited out, longer each time, and as often as the settings say."""
    with client(after_config(passing, passing, Say(body={"namespaces": []}))) as (rest, _, pauses):
        assert rest.ask("namespaces") == {"namespaces": []}
    assert len(pauses) == 2
    assert 0.1 <= pauses[0] <= 0.2 <= pauses[1] <= 0.4


def test_the_server_says_when() -> None:
    """Retry-After is kept, within a bound."""
    answers = after_config(Say(503, headers={"Retry-After": "7"}), Say(503, headers={"Retry-After": "86400"}), Say())
    with client(answers) as (rest, _, pauses):
        rest.ask("namespaces")
    assert pauses == [7.0, PAUSE_SECONDS_MAX]


@pytest.mark.parametrize("status", [400, 403, 404, 409, 501])
def test_what_lasts_is_asked_once(status: int) -> None:
    """An answer that would be the same again is taken."""
    with client(after_config(Say(status))) as (rest, server, pauses):
        found = rest.ask("namespaces")
        assert isinstance(found, Fault)
        assert found.status == status
        assert (len(server.heard), pauses) == (2, [])


def test_commits_are_sent_once() -> None:
    """Nothing that may change something is sent again by itself, whatever the answer."""
    for said in (Say(503), Say(429), Say(500)):
        with client(after_config(said)) as (rest, server, pauses):
            assert rest.tell("POST", "namespaces", body={}).status == said.status
            assert ([each.method for each in server.heard], pauses) == (["GET", "POST"], [])
    with client(after_config(Say(raw=b""))) as (rest, server, _):
        with pytest.raises(NoReply):
            rest.tell("POST", "namespaces", body={})
        assert [each.method for each in server.heard] == ["GET", "POST"]


def token_server(*, lives: int | None, good: int) -> Callable[[Heard], Say]:
    """Gives tokens 1, 2, 3 …, and takes no token before the one numbered `good`."""
    given = [0]

    def script(heard: Heard) -> Say:
        if heard.target.endswith("/v1/oauth/tokens"):
            given[0] += 1
            return Say(body={"access_token": f"token-{given[0]}", "token_type": "bearer", "expires_in": lives})
        number = int(heard.headers.get("authorization", "Bearer token-0").rsplit("-", 1)[1])
        return CONFIG if number >= good else Say(401, {"error": {"type": "NotAuthorizedException", "message": "old"}})

    return script


def test_tokens() -> None:
    """A credential is exchanged once, as a form, and the token is used until it ends."""
    with client(token_server(lives=3600, good=1), auth=OAuth2(CREDENTIAL, scope="a b")) as (rest, server, _):
        rest.ask("namespaces")
        rest.tell("POST", "namespaces", body={})
        exchanges = [each for each in server.heard if each.target.endswith("tokens")]
    assert [each.body for each in exchanges] == [
        b"grant_type=client_credentials&client_id=ann&client_secret=s3cret-of-ann&scope=a%20b"
    ]
    assert exchanges[0].headers["content-type"] == "application/x-www-form-urlencoded"
    assert all("s3cret" not in each.target for each in server.heard)


def test_tokens_end() -> None:
    """A token that is about to end is renewed before it is used."""
    clock = [0.0]
    with scripted(token_server(lives=100, good=1)) as server:
        wire = Wire(SETTINGS)
        signed = Exchanged(wire, server.uri, OAuth2("only-a-secret"), lambda: clock[0])
        seen = []
        for moment in (0.0, 89.0, 90.0, 179.0, 180.1):
            clock[0] = moment
            seen.append(signed.headers(Request("GET", server.uri))["Authorization"])
        assert server.heard[0].body == b"grant_type=client_credentials&client_secret=only-a-secret&scope=catalog"
        wire.close()
    assert seen == ["Bearer token-1", "Bearer token-1", "Bearer token-2", "Bearer token-2", "Bearer token-3"]


def test_a_token_that_ended_early() -> None:
    """After a 401 a new token is got once, for questions and for commits: a 401 proves that nothing was done."""
    with client(token_server(lives=None, good=2), auth=OAuth2(CREDENTIAL)) as (rest, _, _):
        assert rest.ask("namespaces") == CONFIG.body
    with (
        client(token_server(lives=None, good=3), auth=OAuth2(CREDENTIAL)) as (rest, _, _),
        pytest.raises(BadInput, match="does not take the token it was just given"),
    ):
        rest.ask("namespaces")


def test_a_token_that_was_replaced_meanwhile() -> None:
    """Threads that are refused with the same old token get one new token, and not one each."""
    with scripted(token_server(lives=None, good=1)) as server:
        wire = Wire(SETTINGS)
        sign_in = Exchanged(wire, server.uri, OAuth2(CREDENTIAL))
        plain = Request("GET", server.uri)
        refused = Request("GET", server.uri, sign_in.headers(plain))
        seen = []
        for _ in range(2):
            assert sign_in.renew(refused)
            seen.append(sign_in.headers(plain)["Authorization"])
        wire.close()
    assert seen == ["Bearer token-2", "Bearer token-2"]


@pytest.mark.parametrize("token", ["s3cret\n", "s3cret\nX-Other: y", "s3cret☃"])
def test_a_token_that_cannot_be_sent(token: str) -> None:
    """A token no header can carry, as a server may give one, is an error that does not quote it, and nothing was sent
    before it.
    """
    with client(lambda _: CONFIG, auth=Bearer(token)) as (rest, server, pauses):
        with pytest.raises(Failed, match="a character that cannot be sent") as raised:
            rest.ask("namespaces")
        assert "s3cret" not in "".join(traceback.format_exception(raised.value))
        assert (server.heard, pauses) == ([], [])
    wire = Wire(SETTINGS)
    with pytest.raises(NoReply) as silent:
        wire.tell(Request("POST", server.uri, {"Authorization": f"Bearer {token}"}, b"x"), 1000)
    assert not silent.value.sent


@pytest.mark.parametrize("before", [0, MESSAGE_MAX - 100])
def test_a_session_token_is_not_repeated(before: int) -> None:
    """AWS answers a wrong signature with all that was signed, the session token too; whole or cut, it is hidden."""
    token = "IQoJb3JpZ2lu" + "s3cret+/" * 40
    message = f"{'x' * before} x-amz-security-token:{token} host:glue"
    refused = Say(403, {"__type": "SignatureDoesNotMatch", "message": message})
    with scripted(lambda _: refused) as server:
        signed = endpoint(server.uri, auth=SigV4("glue", "eu-west-1"), dialect="glue")
        rest = RestClient(signed, lambda *_: {"X-Amz-Security-Token": token}, pause=lambda _: None)
        with pytest.raises(BadInput, match="x-amz-security-token:…") as raised:
            rest.ask("namespaces")
        rest.close()
    assert "s3cret" not in str(raised.value)


def test_a_server_of_tokens_with_a_query() -> None:
    """What stands in the query of an address is sent, and not shown."""
    with scripted(lambda _: Say(500)) as tokens:
        auth = OAuth2(CREDENTIAL, f"{tokens.uri}/token?key=s3cret")
        with (
            client(lambda _: CONFIG, auth=auth) as (rest, _, _),
            pytest.raises(Blocked, match="/token gives no") as raised,
        ):
            rest.ask("namespaces")
        assert [each.target for each in tokens.heard] == ["/token?key=s3cret"]
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://lake.example", "https://LAKE.example:443/x", True),
        ("http://lake.example:80", "http://lake.example", True),
        ("http://lake.example:443", "https://lake.example:443", False),
        ("https://lake.example", "https://lake.example:8443", False),
        ("https://lake.example", "https://[::1", False),
        ("https://lake.example", "https://lake.example:port", False),
    ],
)
def test_the_same_server(one: str, other: str, *, same: bool) -> None:
    """A server is the same by scheme, host and port, a port that is not said being the scheme's own."""
    assert (_origin(one) == _origin(other)) is same


def test_a_server_of_tokens_elsewhere() -> None:
    """`oauth2-server-uri` names where tokens come from."""
    with scripted(lambda _: Say(body={"access_token": "token-9"})) as tokens:
        auth = OAuth2(CREDENTIAL, f"{tokens.uri}/realm/token")
        with client(lambda _: CONFIG, auth=auth) as (rest, server, _):
            rest.ask("namespaces")
            assert server.heard[-1].headers["authorization"] == "Bearer token-9"
        assert [each.target for each in tokens.heard] == ["/realm/token"]


HTML = Say(200, b"<html>Sign in</html>", {"Content-Type": "text/html"})
ECHO = {"error": {"type": "NotAuthorizedException", "message": f"no {CREDENTIAL} / s3cret-of-ann"}}
MESSAGES: list[tuple[Say, Any, type[FirnlineError], str]] = [
    (HTML, None, BadInput, "with a web page"),
    (Say(200, b"OK"), None, BadInput, "not what an Iceberg REST catalog answers"),
    (Say(404, b"<html>nothing</html>", {"Content-Type": "text/html"}), None, BadInput, "with a web page"),
    (Say(404, b""), None, BadInput, "There is no Iceberg REST catalog at"),
    (Say(404, {"error": {"type": "NoSuchWarehouseException", "message": "?"}}), None, BadInput, "no warehouse 'lake'"),
    (Say(400, {"message": "unknown catalog"}), None, BadInput, "no warehouse 'lake'"),
    (Say(401, {}), None, BadInput, "asks who you are, and no credentials are set"),
    (Say(401, ECHO), Bearer("s3cret-of-ann"), BadInput, "does not take the token: it has ended"),
    (Say(401, ECHO), OAuth2(CREDENTIAL), BadInput, "does not take the catalog's credential"),
    (Say(500, {}), OAuth2(CREDENTIAL), Blocked, "gives no token now"),
    (HTML, OAuth2(CREDENTIAL), BadInput, "/v1/oauth/tokens answers with a web page"),
    (Say(403, ECHO), Bearer("s3cret-of-ann"), Failed, "You may not read its configuration"),
    (Say(403, {"__type": "ExpiredTokenException"}), None, BadInput, "have ended"),
    (Say(403, {"__type": "RequestTimeTooSkewed"}), None, BadInput, "does not take the signature"),
    (Say(302, b"", {"Location": "https://login.example/?x=y"}), None, BadInput, "another address: https://login.example/."),
    (Say(503, {}), None, Blocked, "has too much to do"),
    (Say(400, {"__type": "ThrottlingException"}), None, Blocked, "has too much to do"),
    (Say(500, {"error": {"type": "Boom", "message": "?"}}), None, Failed, "failed to read its configuration: Boom"),
    (Say(418, {}), None, Failed, "would not read its configuration"),
    (Say(raw=b""), None, Failed, "did not give a whole answer"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "auth", "error", "words"), MESSAGES)
def test_messages(said: Say, auth: Any, error: type[FirnlineError], words: str) -> None:
    """Whatever a server answers, one sentence says what is wrong, and no credential is in it, though the server may
    repeat it.
    """
    with client(lambda _: said, auth=auth, warehouse="lake") as (rest, _, _), pytest.raises(error) as raised:
        rest.ask("namespaces")
    assert words in raised.value.what, raised.value.what
    assert "s3cret" not in str(raised.value)


def test_no_server() -> None:
    """An address where nobody listens, and one nobody knows, are named with the setting they come from."""
    for uri in ("http://127.0.0.1:1", "http://no-such-host.invalid"):
        rest = RestClient(RestEndpoint(uri, SETTINGS), pause=lambda _: None)
        with pytest.raises(Failed, match="cannot be reached") as raised:
            rest.ask("namespaces")
        assert "`uri`" in str(raised.value)


def test_no_trust() -> None:
    """A certificate nobody vouches for is one sentence, and is not tried again."""
    with scripted(lambda _: Say()) as server:
        pauses: list[float] = []
        rest = RestClient(endpoint(server.uri.replace("http:", "https:")), pause=pauses.append)
        with pytest.raises(Failed, match="could not be trusted"):
            rest.ask("namespaces")
        assert pauses == []


def test_nothing_to_sign_with() -> None:
    """A catalog that wants signatures is refused without anything to sign them."""
    with pytest.raises(BadInput, match="nothing signs them"):
        RestClient(RestEndpoint("http://127.0.0.1:1", SETTINGS, SigV4("glue", None), dialect="glue"))


def test_secrets_are_not_shown() -> None:
    """No value on the way shows a credential when it is printed."""
    shown = repr(Request("GET", "http://x", {"Authorization": "Bearer t0ken"}, b"client_secret=s3cret"))
    assert "t0ken" not in shown
    assert "s3cret" not in shown

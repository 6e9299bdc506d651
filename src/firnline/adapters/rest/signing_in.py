"""Who we are to a REST catalog: nobody, a token, a token that is exchanged for a credential, or a signature."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from urllib.parse import quote, urlsplit

from firnline.adapters.rest import faults, troubles
from firnline.adapters.rest.wire import NoReply, Reply, Request, Wire
from firnline.config.endpoints import Bearer, OAuth2, RestEndpoint, SigV4
from firnline.core.errors import BadInput

# Gives the headers to send for one request, whose path and query are sent exactly as they are in the URL.
Signer = Callable[[str, str, Mapping[str, str], bytes], Mapping[str, str]]

TOKEN_BYTES_MAX = 1024 * 1024
EARLY_SECONDS = 60.0  # a token is renewed this long before it ends, or in the last tenth of a short life
_AUTHORIZATION = "Authorization"
_SESSION_TOKEN = "x-amz-security-token"  # noqa: S105 - the name of a header


class SignIn:
    """What each request carries to be let in: nothing, unless a kind below says otherwise."""

    def headers(self, request: Request) -> Mapping[str, str]:
        """The headers to send with this request, its own among them."""
        return request.headers

    def renew(self, refused: Request) -> bool:  # noqa: ARG002 - for the kind that has something else
        """Whether there is something else to try after the server said 401 to this request."""
        return False

    def secrets(self) -> tuple[str, ...]:
        """What no message may repeat, though a server may."""
        return ()


class Carried(SignIn):
    """A token as it was given."""

    def __init__(self, bearer: Bearer) -> None:
        self._token = bearer.token

    def headers(self, request: Request) -> Mapping[str, str]:
        """With the token."""
        return _with_token(request, self._token)

    def secrets(self) -> tuple[str, ...]:
        """The token."""
        return (self._token,)


class Exchanged(SignIn):
    """A token got for client credentials, and another one before it ends. For any number of threads."""

    def __init__(self, wire: Wire, uri: str, auth: OAuth2, now: Callable[[], float] = time.monotonic) -> None:
        self._wire = wire
        self._auth = auth
        self._url = _token_url(uri, auth.server_uri)
        self._now = now
        self._lock = threading.Lock()
        self._token: str | None = None
        self._until: float | None = None  # None: the server did not say

    def headers(self, request: Request) -> Mapping[str, str]:
        """With a token that lives; got now, if need be."""
        with self._lock:
            if self._token is None or (self._until is not None and self._now() >= self._until):
                self._fetch()
            assert self._token is not None
            return _with_token(request, self._token)

    def renew(self, refused: Request) -> bool:
        """A server may end a token early: another one is got, unless another thread got one since."""
        with self._lock:
            if self._token is not None and refused.headers.get(_AUTHORIZATION) == f"Bearer {self._token}":
                self._token = None
        return True

    def secrets(self) -> tuple[str, ...]:
        """The credential, the secret in it, and the token of the hour."""
        return (self._auth.credential, self._client()[1], self._token or "")

    def _client(self) -> tuple[str, str]:
        """The id, empty when there is none, and the secret."""
        name, colon, secret = self._auth.credential.partition(":")
        return (name, secret) if colon else ("", name)

    def _fetch(self) -> None:
        name, secret = self._client()
        form = {"grant_type": "client_credentials", "client_id": name, "client_secret": secret,
                "scope": self._auth.scope}  # fmt: skip
        body = "&".join(f"{key}={quote(text, safe='')}" for key, text in form.items() if text).encode("ascii")
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        try:
            # A fresh connection: the request ends a token's life on some servers, and is not sent twice.
            reply = self._wire.tell(Request("POST", self._url, headers, body), TOKEN_BYTES_MAX)
        except NoReply as error:
            raise troubles.unreachable(self._url, "oauth2-server-uri", error) from error
        self._keep(reply)

    def _keep(self, reply: Reply) -> None:
        fault, answer = faults.of(reply), faults.decoded(reply)
        if fault is not None:
            raise troubles.no_token(self._url, fault, (self._auth.credential, self._client()[1]))
        token = answer.get("access_token") if isinstance(answer, dict) else None
        if not isinstance(token, str) or not token:
            raise troubles.not_a_catalog(self._url, "oauth2-server-uri", page=faults.is_page(reply))
        lives = answer.get("expires_in")
        self._token = token
        if isinstance(lives, int | float) and lives > 0:
            self._until = self._now() + lives - min(EARLY_SECONDS, lives / 10)
        else:
            self._until = None


class Signed(SignIn):
    """Every request signed as AWS wants it."""

    def __init__(self, signer: Signer) -> None:
        self._signer = signer
        self._session_tokens: tuple[str, ...] = ()  # the last two: an answer may be to a request before a change

    def headers(self, request: Request) -> Mapping[str, str]:
        """With a signature over method, address and body."""
        # Only what says how to read the body is signed: proxies may touch the rest.
        kept = {name: text for name, text in request.headers.items() if name == "Content-Type"}
        signed = self._signer(request.method, request.url, kept, request.body)
        token = next((text for name, text in signed.items() if name.casefold() == _SESSION_TOKEN), None)
        if token and token not in self._session_tokens:
            self._session_tokens = (token, *self._session_tokens[:1])
        return {**request.headers, **signed}

    def secrets(self) -> tuple[str, ...]:
        """The session token: AWS repeats it when a signature does not match."""
        return self._session_tokens


def opened(endpoint: RestEndpoint, wire: Wire, signer: Signer | None) -> SignIn:
    """The way in that the endpoint's settings name."""
    match endpoint.auth:
        case None:
            return SignIn()
        case Bearer() as bearer:
            return Carried(bearer)
        case OAuth2() as credentials:
            return Exchanged(wire, endpoint.uri, credentials)
        case SigV4(service):
            if signer is None:
                raise BadInput(f"The REST catalog at {endpoint.uri} wants requests signed for {service}, "
                               "and nothing signs them.")  # fmt: skip
            return Signed(signer)


def _with_token(request: Request, token: str) -> Mapping[str, str]:
    return {**request.headers, _AUTHORIZATION: f"Bearer {token}"}


def _token_url(uri: str, server: str | None) -> str:
    if server is None:
        return f"{uri}/v1/oauth/tokens"
    return server if urlsplit(server).scheme else f"{uri}/{server.lstrip('/')}"

"""A REST catalog as it is reached: its configuration, its addresses, questions that are asked again, and commits that
are not.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import firnline
from firnline.adapters.rest import dialects, faults, paths, signing_in, troubles
from firnline.adapters.rest.dialects import Dialect
from firnline.adapters.rest.faults import Fault
from firnline.adapters.rest.signing_in import Signer
from firnline.adapters.rest.troubles import Asked
from firnline.adapters.rest.wire import NoReply, Reply, Request, Wire
from firnline.config.endpoints import RestEndpoint
from firnline.core.errors import FirnlineError
from firnline.core.types import Json

TABLE_BYTES_MAX = 512 * 1024 * 1024  # a table's answer holds its metadata: the bound of a metadata file
ANSWER_BYTES_MAX = 32 * 1024 * 1024  # a page of a listing, a namespace, the configuration
PAUSE_SECONDS_MAX = 20.0
_FIRST_PAUSE_SECONDS = 0.2
_PASSING = frozenset({429, 500, 502, 503, 504})
_TURNED_AWAY = frozenset({401, 419})
_PORTS = {"http": 80, "https": 443}
_DELEGATION = "x-iceberg-access-delegation"

Pairs = Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Config:
    """What /v1/config says. `endpoints` None: the server does not say which it has."""

    base: str  # where the paths of tables begin, without a slash at its end
    separator: str
    endpoints: frozenset[str] | None
    properties: Mapping[str, str]
    headers: Mapping[str, str]


class RestClient:
    """Asks and tells one REST catalog. For any number of threads; nothing is sent before the first question."""

    def __init__(
        self, endpoint: RestEndpoint, signer: Signer | None = None, *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self.endpoint = endpoint
        self.dialect: Dialect = dialects.DIALECTS[endpoint.dialect]
        self._wire = Wire(endpoint.aws)
        self._sign_in = signing_in.opened(endpoint, self._wire, signer)
        self._pause = pause
        self._lock = threading.Lock()
        self._config: Config | None = None

    @property
    def config(self) -> Config:
        """The server's configuration, asked for once."""
        with self._lock:
            if self._config is None:
                self._config = self._configured()
            return self._config

    def has(self, endpoint: str) -> bool:
        """Whether the server advertises an endpoint the specification does not take for granted."""
        advertised = self.config.endpoints
        return advertised is not None and endpoint in advertised

    def lacks(self, endpoint: str) -> bool:
        """Whether the server says which endpoints it has, and this one is not among them."""
        advertised = self.config.endpoints
        return advertised is not None and endpoint not in advertised

    def ask(
        self,
        path: str,
        query: Pairs = (),
        *,
        bytes_max: int = ANSWER_BYTES_MAX,
        headers: Mapping[str, str] | None = None,
    ) -> Json | Fault:
        """The JSON at this path below the prefix, or the fault the server answers with once asking again is no use.
        FirnlineError when there is no answer, or one of something else.
        """
        request = Request("GET", self._url(path, query), {**self.config.headers, **(headers or {})})
        return self._asked(request, bytes_max)

    def tell(self, method: str, path: str, query: Pairs = (), body: Json = None) -> Reply:
        """The answer to a request that may change something, sent once; NoReply when there is none.

        A 401 proves that nothing was done: with a new token, if there is one to be had, it is sent again.
        """
        encoded = b"" if body is None else json.dumps(body).encode("ascii")
        headers = dict(self.config.headers)
        if encoded:
            headers["Content-Type"] = "application/json"
        request = Request(method, self._url(path, query), headers, encoded)
        signed = self._signed(request)
        reply = self._wire.tell(signed, TABLE_BYTES_MAX)
        if reply.status in _TURNED_AWAY and self._sign_in.renew(signed):
            reply = self._wire.tell(self._signed(request), TABLE_BYTES_MAX)
        return reply

    def explained(self, fault: Fault, doing: str) -> FirnlineError:
        """A fault for people."""
        return troubles.explained(Asked(self.endpoint, doing), fault, self._sign_in.secrets())

    def scrubbed(self, text: str) -> str:
        """A server's text without our credentials in it."""
        return troubles.scrubbed(text, self._sign_in.secrets())

    def misread(self) -> FirnlineError:
        """An answer that is JSON, and not the JSON of an Iceberg REST catalog, for people."""
        return troubles.not_a_catalog(self.endpoint.uri, "uri", page=False)

    def close(self) -> None:
        """Close what is kept open."""
        self._wire.close()

    def _url(self, path: str, query: Pairs) -> str:
        return f"{self.config.base}/{path}{paths.query(query)}"

    def _signed(self, request: Request) -> Request:
        return Request(request.method, request.url, self._sign_in.headers(request), request.body)

    def _configured(self) -> Config:
        uri = paths.raw(self.endpoint.uri)
        warehouse = self.endpoint.warehouse
        query = paths.query([("warehouse", warehouse)] if warehouse else [])
        doing = "read its configuration"
        answer = self._asked(Request("GET", f"{uri}/v1/config{query}", self._headers({})), ANSWER_BYTES_MAX)
        if isinstance(answer, Fault):
            if answer.status in {400, 404} and not answer.page and not answer.throttled:
                raise troubles.no_warehouse(Asked(self.endpoint, doing), answer, self._sign_in.secrets())
            raise self.explained(answer, doing)
        return self._merged(uri, answer)

    def _merged(self, uri: str, answer: Mapping[str, Json]) -> Config:
        """Defaults below what the user set, overrides above it."""
        defaults, overrides = texts(answer.get("defaults")), texts(answer.get("overrides"))
        properties = {**defaults, **overrides}
        base = properties.get("uri", uri).rstrip("/").removesuffix("/v1")
        if _origin(base) != _origin(uri):
            raise troubles.another_host(self.endpoint, base)
        prefix = paths.raw(properties.get("prefix", "")).strip("/")
        endpoints = answer.get("endpoints")
        return Config(
            "/".join(part for part in (paths.raw(base), "v1", prefix) if part),
            properties.get("namespace-separator") or paths.SEPARATOR,
            frozenset(map(str, endpoints)) if isinstance(endpoints, list) else None,
            properties,
            self._headers(_headers_in(defaults), _headers_in(overrides)),
        )

    def _headers(self, below: Mapping[str, str], above: Mapping[str, str] | None = None) -> dict[str, str]:
        # Every answer to a request for delegated access costs the server new credentials: it is asked for by name,
        # where they are wanted.
        ours = {name: text for name, text in self.endpoint.headers.items() if name.casefold() != _DELEGATION}
        fixed = {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": f"firnline/{firnline.__version__}",
        }
        return {**below, **ours, **(above or {}), **fixed}

    def _asked(self, request: Request, bytes_max: int) -> Json | Fault:
        attempt, renewed = 1, False
        while True:
            last = attempt >= self.endpoint.aws.tries
            signed = self._signed(request)
            try:
                reply = self._wire.ask(signed, bytes_max)
            except NoReply as error:
                if last or error.lasting:
                    raise troubles.unreachable(self.endpoint.uri, "uri", error) from error
                self._pause(_seconds(attempt, None))
                attempt += 1
                continue
            fault = faults.of(reply)
            if fault is None:
                return self._json(reply)
            if fault.status in _TURNED_AWAY and not renewed and self._sign_in.renew(signed):
                renewed = True
                continue
            if last or not (fault.throttled or fault.status in _PASSING):
                return fault
            self._pause(_seconds(attempt, fault.retry_after))
            attempt += 1

    def _json(self, reply: Reply) -> Json:
        answer = faults.decoded(reply)
        if not isinstance(answer, dict):
            raise troubles.not_a_catalog(self.endpoint.uri, "uri", page=faults.is_page(reply))
        return answer


def _seconds(attempt: int, asked: str | None) -> float:
    """How long to wait after this attempt: what the server asks for, or twice as long each time with half of it chance,
    so that those turned away together do not come back together.
    """
    if asked is not None and asked.strip().isdigit():
        return min(float(asked), PAUSE_SECONDS_MAX)
    longest = min(_FIRST_PAUSE_SECONDS * 2.0 ** (attempt - 1), PAUSE_SECONDS_MAX)
    return longest * float(random.uniform(0.5, 1.0))  # noqa: S311 - no secret hangs on it


def texts(given: Json) -> dict[str, str]:
    """Properties as a server gave them, whatever it gave."""
    return {str(key): str(value) for key, value in given.items()} if isinstance(given, dict) else {}


def _headers_in(properties: Mapping[str, str]) -> dict[str, str]:
    """The headers a configuration wants sent; whom we are is not for the server to say."""
    found = {key.removeprefix("header."): text for key, text in properties.items() if key.startswith("header.")}
    return {name: text for name, text in found.items() if name.casefold() not in {"authorization", _DELEGATION}}


def _origin(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError:  # a server's answer may hold anything: an address that is none is nobody's
        return "", None, None

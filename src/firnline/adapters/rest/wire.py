"""One request, one answer, over urllib3: pools, timeouts, bounds, proxies. Nothing is sent twice in here.

What a commit must know of a failure is whether the request may have left this machine. An error before that proves
that nothing happened; after it, nobody knows.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3 import exceptions
from urllib3.connection import HTTPConnection, HTTPSConnection

from firnline.config.aws import AwsSettings
from firnline.core.sizes import show_bytes

CONNECTIONS = 8  # of the pool for reading: the tables of a listing are loaded a few at a time
_CHUNK = 1024 * 1024
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NEVER_SENT = (exceptions.NewConnectionError, exceptions.ConnectTimeoutError)
_sending = threading.local()


@dataclass(frozen=True, slots=True)
class Request:
    """What goes out. The headers may hold credentials and are never shown."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, whole. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoReply(Exception):
    """No whole answer. `sent`: the request may have reached the server. `tls`: its certificate, or the handshake.
    `lasting`: it would be the same a second later.
    """

    def __init__(self, reason: str, *, sent: bool, tls: bool = False, lasting: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.sent = sent
        self.tls = tls
        self.lasting = lasting or tls


class _Plain(HTTPConnection):
    def endheaders(self, *given: Any, **named: Any) -> None:
        _sending.begun = True  # until here the request is only written together
        super().endheaders(*given, **named)


class _Secure(HTTPSConnection):
    def endheaders(self, *given: Any, **named: Any) -> None:
        _sending.begun = True  # the handshake is over by now
        super().endheaders(*given, **named)


class _PlainPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Secure


class Wire:
    """Sends requests. For any number of threads."""

    def __init__(self, settings: AwsSettings) -> None:
        self._timeout = urllib3.Timeout(connect=settings.connect_millis / 1000, read=settings.read_millis / 1000)
        self._managers: dict[str | None, urllib3.PoolManager] = {}
        self._lock = threading.Lock()

    def ask(self, request: Request, bytes_max: int) -> Reply:
        """A request that changes nothing, over a pooled connection. NoReply when there is no whole answer."""
        proxy = _proxy(request.url)
        with self._lock:
            manager = self._managers.get(proxy) or self._managers.setdefault(proxy, self._manager(proxy, CONNECTIONS))
        return self._exchange(manager, request, bytes_max)

    def tell(self, request: Request, bytes_max: int) -> Reply:
        """A request that may change something, over a connection of its own: on one that was kept, a server that had
        just closed it could not be told from one that took the request and died.
        """
        manager = self._manager(_proxy(request.url), 1)
        try:
            return self._exchange(manager, request, bytes_max)
        finally:
            manager.clear()

    def close(self) -> None:
        """Close what is kept open."""
        with self._lock:
            managers, self._managers = list(self._managers.values()), {}
        for manager in managers:
            manager.clear()

    def _manager(self, proxy: str | None, connections: int) -> urllib3.PoolManager:
        given: dict[str, Any] = {"timeout": self._timeout, "retries": False, "maxsize": connections}
        if proxy is None:
            manager = urllib3.PoolManager(num_pools=4, **given)
        else:
            login = urlsplit(proxy)
            said = f"{login.username}:{login.password or ''}" if login.username else None
            manager = urllib3.ProxyManager(proxy, proxy_headers=urllib3.make_headers(proxy_basic_auth=said), **given)
        manager.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}
        return manager

    def _exchange(self, manager: urllib3.PoolManager, request: Request, bytes_max: int) -> Reply:
        _sending.begun = False
        try:
            # The target goes to a pool as it is: a whole URL would have its path folded and spelled anew.
            parts = urlsplit(request.url)
            pool = manager.connection_from_host(parts.hostname, parts.port, parts.scheme)
            through_proxy = isinstance(manager, urllib3.ProxyManager) and parts.scheme == "http"
            response = pool.urlopen(
                request.method,
                request.url if through_proxy else _target(request.url),
                body=request.body or None,
                headers=dict(request.headers),
                retries=False,
                redirect=False,
                assert_same_host=False,
                preload_content=False,
            )
        except exceptions.HTTPError as error:
            raise _no_reply(error) from error
        except ValueError:  # a character that HTTP cannot carry; the error quotes the header, which may be a credential
            reason = "its address or a header holds a character that cannot be sent"
            raise NoReply(reason, sent=bool(_sending.begun), lasting=True) from None
        return _read(response, bytes_max)


def _target(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _read(response: urllib3.BaseHTTPResponse, bytes_max: int) -> Reply:
    held: list[bytes] = []
    size = 0
    try:
        while size <= bytes_max and (chunk := response.read(_CHUNK, decode_content=True)):
            held.append(chunk)
            size += len(chunk)
    except (exceptions.HTTPError, OSError) as error:
        response.close()
        raise NoReply(f"the answer broke off: {_said(error)}", sent=True) from error
    if size > bytes_max:
        response.close()
        raise NoReply(f"the answer has more than {show_bytes(bytes_max)}", sent=True, lasting=True)
    response.release_conn()
    headers = {name.lower(): text for name, text in response.headers.items()}
    return Reply(response.status, headers, b"".join(held))


def _no_reply(error: exceptions.HTTPError) -> NoReply:
    inner = error.original_error if isinstance(error, exceptions.ProxyError) else error
    sent = bool(_sending.begun) and not isinstance(inner, _NEVER_SENT)
    tls = isinstance(inner, exceptions.SSLError)
    if isinstance(inner, exceptions.NameResolutionError):
        return NoReply("its name is not known", sent=False)
    # A refused connection is a kind of it in urllib3, and nobody waited.
    if isinstance(inner, exceptions.ConnectTimeoutError) and not isinstance(inner, exceptions.NewConnectionError):
        return NoReply("it did not take the connection in time", sent=False)
    if isinstance(inner, exceptions.ReadTimeoutError):
        return NoReply("it did not answer in time", sent=sent)
    by = " by the proxy" if isinstance(error, exceptions.ProxyError) else ""
    return NoReply(f"{_said(inner)}{by}", sent=sent, tls=tls)


def _said(error: BaseException) -> str:
    """The innermost reason, without the addresses of objects that urllib3 puts around it."""
    cause: Any = error
    while isinstance(cause, BaseException):
        inner = next((each for each in cause.args if isinstance(each, BaseException)), cause.__cause__)
        if inner is None:
            break
        cause = inner
    said = getattr(cause, "strerror", None) or getattr(cause, "verify_message", None) or str(cause)
    return " ".join(said.split()) or type(cause).__name__


def _proxy(url: str) -> str | None:
    """The proxy the environment names for this address, as every HTTP client reads it; never one for this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    found = getproxies()
    proxy = found.get(parts.scheme) or found.get("all")
    return None if not proxy or host in _LOOPBACK or proxy_bypass(host) else proxy

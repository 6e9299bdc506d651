"""What went wrong on the way to a REST catalog, for the person who has to do something about it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from urllib.parse import urlsplit

from firnline.adapters.rest.faults import Fault
from firnline.adapters.rest.wire import NoReply
from firnline.config import aws
from firnline.config.endpoints import Bearer, OAuth2, RestEndpoint, SigV4
from firnline.core.errors import BadInput, Blocked, Failed, FirnlineError

_TURNED_AWAY = frozenset({401, 419})
_BUSY = frozenset({429, 503})
_CLOCK = ("RequestTimeTooSkewed", "InvalidSignatureException", "SignatureDoesNotMatch")
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")  # how OpenSSL says it, by version
_ENDED = ("ExpiredToken", "ExpiredTokenException")
_TELLING = 8  # characters of a secret that tell it from other words


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of which catalog: `doing` continues "may not …", such as "load the table shop.orders"."""

    endpoint: RestEndpoint
    doing: str


def unreachable(url: str, setting: str, error: NoReply) -> FirnlineError:
    """No whole answer came."""
    host, url = urlsplit(url).netloc, aws.shown_address(url)
    if error.tls and any(mark in error.reason for mark in _NO_TLS):
        return Failed(
            f"{host} does not speak TLS.",
            next_step=f"Check `{setting}`: a server of your own without a certificate is reached by http://.",
        )
    if error.tls:
        return Failed(
            f"{host} could not be trusted: {error.reason}.",
            why="Without a certificate this machine can verify, anybody on the way could read the credentials.",
            next_step=f"Check `{setting}`; for a certificate of your own company, name its bundle in SSL_CERT_FILE.",
        )
    verb = "did not give a whole answer" if error.sent else "cannot be reached"
    return Failed(
        f"{host} {verb}: {error.reason}.",
        next_step=f"Check `{setting}` ({url}), and whether a proxy or a firewall stands between.",
    )


def not_a_catalog(url: str, setting: str, *, page: bool) -> FirnlineError:
    """It answers, and not as an Iceberg REST catalog does."""
    said = "with a web page" if page else "with something that is not what an Iceberg REST catalog answers"
    why = "It may be the login page of a proxy, or the address of the service's console." if page else None
    return BadInput(
        f"{aws.shown_address(url)} answers {said}.", why=why, next_step=f"Check `{setting}` of the catalog."
    )


def no_token(url: str, fault: Fault, secrets: tuple[str, ...]) -> FirnlineError:
    """The credential was not exchanged for a token."""
    if fault.page or fault.status == 404:
        return not_a_catalog(url, "oauth2-server-uri", page=fault.page)
    url = aws.shown_address(url)
    if fault.status in _BUSY or fault.status >= 500:
        return Blocked(f"{url} gives no token now: {scrubbed(str(fault), secrets)}.", next_step="Run it again later.")
    return BadInput(
        f"{url} does not take the catalog's credential: {scrubbed(str(fault), secrets)}.",
        next_step="Check `credential` (ID:SECRET) and `scope` of the catalog.",
    )


def explained(asked: Asked, fault: Fault, secrets: tuple[str, ...]) -> FirnlineError:
    """An error answer, in one sentence and what to do."""
    uri, said = asked.endpoint.uri, scrubbed(str(fault), secrets)
    if fault.moved is not None:
        return BadInput(
            f"{uri} sends its clients to another address: {fault.moved.split('?')[0]}.",
            why="Credentials are not carried from one address to another.",
            next_step="If that is where the catalog is now, write it as `uri`.",
        )
    if fault.page:
        return not_a_catalog(uri, "uri", page=True)
    if fault.status in _TURNED_AWAY:
        return _turned_away(asked, said)
    if fault.status == 403 or of_credentials(fault):
        return _forbidden(asked, fault, said)
    if fault.throttled or fault.status in _BUSY:
        return Blocked(
            f"The REST catalog at {uri} has too much to do: it could not {asked.doing}: {said}.",
            next_step="Run it again in a while; `tries` of the catalog says how often it is asked.",
        )
    if fault.status >= 500:
        return Failed(f"The REST catalog at {uri} failed to {asked.doing}: {said}.",
                      next_step="Its own log says why.")  # fmt: skip
    return Failed(f"The REST catalog at {uri} would not {asked.doing}: {said}.")


def no_warehouse(asked: Asked, fault: Fault, secrets: tuple[str, ...]) -> FirnlineError:
    """The first question, /v1/config, was answered with 400 or 404."""
    endpoint = asked.endpoint
    named = fault.type or fault.message
    if endpoint.warehouse is None or (fault.status == 404 and not named):
        return BadInput(
            f"There is no Iceberg REST catalog at {endpoint.uri}: /v1/config is answered with "
            f"{scrubbed(str(fault), secrets)}.",
            next_step="Check `uri` of the catalog: it is what comes before /v1; some servers want `warehouse` too.",
        )
    return BadInput(
        f"The REST catalog at {endpoint.uri} knows no warehouse {endpoint.warehouse!r}: "
        f"{scrubbed(str(fault), secrets)}.",
        next_step="Check `warehouse` of the catalog.",
    )


def another_host(endpoint: RestEndpoint, uri: str) -> FirnlineError:
    """The configuration the server gives names another server."""
    return BadInput(
        f"{endpoint.uri} sends its clients to {aws.shown_address(uri)}.",
        why="Credentials are not carried from one server to another.",
        next_step="If that is where the catalog is, write it as `uri`.",
    )


def scrubbed(text: str, secrets: tuple[str, ...]) -> str:
    """The text without any of these, nor the beginning of one. A server may repeat what it was sent, and the text may
    have been cut in the middle of it.
    """
    for secret in sorted((each for each in secrets if len(each) > 3), key=len, reverse=True):
        begins = secret[:_TELLING]
        kept, *rest = text.split(begins)
        text = kept + "".join(f"…{after[_shared(after, secret[_TELLING:]) :]}" for after in rest)
    return text


def of_credentials(fault: Fault) -> bool:
    """Whether it is about who asks, or this machine's clock: it would be the same whatever is asked for."""
    return fault.type in (*_CLOCK, *_ENDED)


def _shared(text: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, other, strict=False)))


def _turned_away(asked: Asked, said: str) -> FirnlineError:
    uri = asked.endpoint.uri
    match asked.endpoint.auth:
        case None:
            return BadInput(
                f"The REST catalog at {uri} asks who you are, and no credentials are set: {said}.",
                next_step="Set `token`, `credential` or `rest.sigv4-enabled` of the catalog.",
            )
        case Bearer():
            return BadInput(
                f"The REST catalog at {uri} does not take the token: it has ended, or is for something else: {said}.",
                next_step="Put a fresh one where `token` of the catalog takes it from.",
            )
        case OAuth2():
            return BadInput(
                f"The REST catalog at {uri} does not take the token it was just given: {said}.",
                next_step="Check `scope` and `oauth2-server-uri` of the catalog.",
            )
        case SigV4(service, region):
            return BadInput(
                f"The REST catalog at {uri} does not take a signature for {service}"
                f" in {region or 'the default region'}: {said}.",
                next_step="Check `rest.signing-name` and `rest.signing-region`, and that the credentials live.",
            )


def _forbidden(asked: Asked, fault: Fault, said: str) -> FirnlineError:
    uri = asked.endpoint.uri
    if fault.type in _ENDED:
        return BadInput(f"The credentials for {uri} have ended: {said}.", next_step="Sign in again.")
    if fault.type in _CLOCK:
        return BadInput(
            f"The REST catalog at {uri} does not take the signature: {said}.",
            next_step="Check this machine's clock, `rest.signing-name` and `rest.signing-region`.",
        )
    return Failed(
        f"You may not {asked.doing} in the REST catalog at {uri}: {said}.",
        next_step="Ask whoever runs the catalog for the right to, or use other credentials.",
    )

"""Every error of AWS, or of a server that speaks like it, as one sentence that says what to do.

For looking and for single files: whether a commit can have happened is another question, answered next to the commit.
What the server said is quoted in one line, without control characters; what we sent is never quoted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from botocore import exceptions as raised
from botocore.parsers import ResponseParserError

from firnline.config.aws import AwsSettings
from firnline.core.errors import BadInput, Blocked, Failed, FirnlineError, Missing

SAID_MAX = 400  # characters of what a server says; the longest of IAM's sentences have about 350

THROTTLED = frozenset(
    {
        "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled", "RequestThrottledException",
        "TooManyRequestsException", "RequestLimitExceeded", "ProvisionedThroughputExceededException", "SlowDown",
        "BandwidthLimitExceeded", "LimitExceededException", "PriorRequestNotComplete", "TransactionInProgressException",
        "EC2ThrottledException", "429", "503", "ServiceUnavailable",
    }
)  # fmt: skip
_ABSENT = frozenset(
    {
        "NoSuchKey", "NoSuchVersion", "404", "NotFound", "EntityNotFoundException", "ResourceNotFoundException",
        "NotFoundException", "MethodNotAllowed",
    }
)  # fmt: skip
DENIED = frozenset(
    {"AccessDenied", "AccessDeniedException", "AllAccessDisabled", "Forbidden", "UnauthorizedOperation", "403"}
)
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"})
_UNKNOWN_KEY = frozenset(
    {
        "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidSignatureException", "UnrecognizedClientException",
        "InvalidClientTokenId", "InvalidToken", "AuthFailure", "IncompleteSignature", "MissingAuthenticationToken",
        "InvalidSecurity", "NotSignedUp",
    }
)  # fmt: skip
_ELSEWHERE = frozenset(
    {"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "301", "Redirect"}
)
_KEY_TROUBLES = ("KMS.", "KMSInvalid", "KMSNotFound", "KMSDisabled", "KMSAccess")
_SKEWED = ("RequestTimeTooSkewed", "RequestInTheFuture")
_NO_CREDENTIALS = (
    raised.NoCredentialsError, raised.NoAuthTokenError, raised.PartialCredentialsError, raised.ProfileNotFound,
    raised.SSOError, raised.TokenRetrievalError, raised.LoginError, raised.CredentialRetrievalError,
    raised.MetadataRetrievalError,
)  # fmt: skip
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")  # how OpenSSL says it, by version
_OUT_OF_TIME = ("signature expired", "signature not yet current")  # how services other than S3 say it


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for: the action as IAM names it, and what it was to be done to, as people name it."""

    action: str
    resource: str
    settings: AwsSettings
    region: str | None  # requests were signed for; None: it did not come to that
    endpoints: Mapping[str, str | None]  # in effect, by service, of those that are known by now

    @property
    def service(self) -> str:
        """As it is called in `s3.endpoint`."""
        return self.action.partition(":")[0] or "sts"

    @property
    def endpoint(self) -> str | None:
        """The server that was asked, when it is not the one AWS has for this."""
        return self.endpoints.get(self.service)

    @property
    def named_by(self) -> str:
        """The setting that says which server is asked."""
        return f"{self.service}.endpoint" if self.service in self.settings.endpoints else "AWS_ENDPOINT_URL"


@contextmanager
def explained(asked: Callable[[], Asked]) -> Iterator[None]:
    """Errors of botocore inside are raised as ours."""
    try:
        yield
    except (raised.BotoCoreError, raised.ClientError, ResponseParserError) as error:
        raise trouble(error, asked()) from error


def code(error: BaseException) -> str:
    """What the server calls this error; of an answer without a body its status. Empty when no server answered."""
    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, raised.ClientError) else ""


def status(error: BaseException) -> int:
    """The HTTP status of the answer; 0 when there was none."""
    if not isinstance(error, raised.ClientError):
        return 0
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def is_absent(error: BaseException) -> bool:
    """Whether a server of AWS's kind says that what was asked for is not there. NoSuchBucket is another matter."""
    return code(error) in _ABSENT and not _is_page(error)


def rejects_credentials(error: BaseException | None) -> bool:
    """Whether what is wrong are the credentials, so that every other request would fail in the same way: there are
    none, they have ended, or nobody takes them.
    """
    if not isinstance(error, raised.ClientError):
        return isinstance(error, _NO_CREDENTIALS)
    return error.operation_name == "AssumeRole" or code(error) in {*_EXPIRED, *_UNKNOWN_KEY, *_SKEWED}


def _is_page(error: BaseException) -> bool:
    """Whether this is a page for people, as a server of another kind sends: it says nothing about files. An answer to
    HEAD has no body, and what it says of its kind means nothing.
    """
    if not isinstance(error, raised.ClientError) or error.operation_name.startswith("Head"):
        return False
    kind = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("content-type", "")
    # botocore makes a 500 of an answer it cannot read. The others come from balancers in front of the right server.
    return "html" in kind and code(error).isdigit() and code(error) not in {"429", "502", "503", "504"}


def said(text: object) -> str:
    """A text from outside, fit to be shown: one line, printable, bounded."""
    line = " ".join(str(text).split())
    line = "".join(character if character.isprintable() else "\ufffd" for character in line)
    return line if len(line) <= SAID_MAX else line[: SAID_MAX - 1] + "…"


def trouble(error: Exception, asked: Asked) -> FirnlineError:
    """The same error as a person wants to read it."""
    if isinstance(error, raised.ClientError):
        return _answered(error, asked)
    for kinds, explain in _KINDS:
        if isinstance(error, kinds):
            return explain(error, asked)
    return Failed(f"{_subject(asked)} could not be asked for: {said(error)}.")


def _subject(asked: Asked) -> str:
    return said(asked.resource) if asked.resource else "AWS"


# ------------------------------------------------------------------------------------------- what a server answered


def _answered(error: Any, asked: Asked) -> FirnlineError:
    answer, found = error.response, code(error)
    message = said(answer.get("Error", {}).get("Message", "")).rstrip(".")
    headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    region = answer.get("Error", {}).get("Region") or headers.get("x-amz-bucket-region")
    if _is_page(error):
        return _nonsense(error, asked)
    if error.operation_name == "AssumeRole" and asked.settings.role:
        return _role(asked, found, message)
    if found in _SKEWED or any(mark in message.casefold() for mark in _OUT_OF_TIME):
        return _skewed(answer, headers, asked)
    if found in _ELSEWHERE or (found == "400" and region not in {None, asked.region}):
        return _elsewhere(asked, region, message)
    if found == "400" and error.operation_name.startswith("Head"):
        return _unsaid(asked)
    if found in _EXPIRED:
        return Failed(
            "The AWS credentials have ended.",
            why=f"The server said: {message}.",
            next_step=_renew(asked.settings),
        )
    if found in _UNKNOWN_KEY:
        return Failed(
            f"The AWS credentials were not accepted by {_server(asked)} ({found}).",
            why=f"The server said: {message}.",
            next_step="Check which credentials these are, and that they belong to this server: aws sts "
            "get-caller-identity",
        )
    if found.startswith(_KEY_TROUBLES) or (found in DENIED and "kms:" in message.casefold()):
        return _encrypted(asked, found, message)
    if found in DENIED:
        return _denied(asked, message)
    if found == "NoSuchBucket":
        return Missing(
            f"There is no bucket {_bucket(asked.resource)}.",
            next_step="Check the location, and the account and the server these credentials belong to.",
        )
    if found in _ABSENT:
        return Missing(f"There is no {_thing(asked)}.", why=None if found == "404" else f"The server said: {message}.")
    return _other(asked, found, message, status(error))


def _other(asked: Asked, found: str, message: str, number: int) -> FirnlineError:
    if found in THROTTLED or number in {429, 503}:
        return Blocked(
            f"{_server(asked)} asks for fewer requests ({found or number}).",
            why=f"It was asked {asked.settings.tries} times for {_subject(asked)}.",
            next_step="Run the same command again in a minute.",
        )
    if found == "InvalidObjectState":
        return Blocked(
            f"{_subject(asked)} is archived and cannot be read as it is.",
            why=f"The server said: {message}.",
            next_step="Restore it (aws s3api restore-object), and take the table's files out of the lifecycle rule.",
        )
    if found in {"InvalidBucketName", "InvalidURI", "KeyTooLongError", "InvalidArgument", "ValidationException"}:
        return BadInput(f"{_server(asked)} does not take {_subject(asked)!r}: {message}.")
    if found in {"NotImplemented", "501"}:
        return Failed(f"{_server(asked)} does not know how to do this: {asked.action} of {_subject(asked)}.")
    if number >= 500:
        return Failed(
            f"{_server(asked)} failed with {number} ({found}): {message}.",
            next_step="Run the same command again.",
        )
    return Failed(f"{_server(asked)} refused {asked.action} of {_subject(asked)} ({found}): {message}.")


def _role(asked: Asked, found: str, message: str) -> FirnlineError:
    return Failed(
        f"The role {asked.settings.role} could not be assumed ({found}).",
        why=f"The server said: {message}.",
        next_step="The role's trust policy must name who assumes it (and the external id, if it asks for one), and "
        "they need sts:AssumeRole.",
    )


def _skewed(answer: Any, headers: Any, asked: Asked) -> FirnlineError:
    here = datetime.now(UTC)
    there = _when(answer.get("Error", {}).get("ServerTime") or headers.get("date"))
    clocks = f"here it is {here:%Y-%m-%d %H:%M:%S} UTC"
    if there is not None:
        clocks += f", there {there:%Y-%m-%d %H:%M:%S} UTC"
    return Blocked(
        f"The clock of this machine and that of {_server(asked)} are too far apart: {clocks}.",
        why="A signature is valid for some minutes only.",
        next_step="Set the clock of this machine (a time service does), then run the same command again.",
    )


def _when(text: Any) -> datetime | None:
    if not isinstance(text, str):
        return None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(text)
        except ValueError:
            continue
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def _elsewhere(asked: Asked, region: Any, message: str) -> FirnlineError:
    ours = asked.region or "another one"
    if not region:
        return BadInput(
            f"{_subject(asked)} does not belong to the region {ours}.",
            why=f"The server said: {message}." if message else None,
            next_step="Set `region:` of the catalog to the region of the bucket.",
        )
    return BadInput(
        f"{_subject(asked)} is in the region {said(region)}, and {ours} was asked.",
        next_step=f"Set `region: {said(region)}` of the catalog.",
    )


def _unsaid(asked: Asked) -> FirnlineError:
    return Failed(
        f"{_server(asked)} refused {asked.action} of {_subject(asked)} without saying why (400).",
        why="Its answer to such a request has no room for a reason. Most often the credentials have ended.",
        next_step=_renew(asked.settings),
    )


def _renew(settings: AwsSettings) -> str:
    if settings.keys is not None:
        return "Put fresh ones into the variables that `s3.access-key-id` and its neighbours name."
    if settings.profile is not None:
        return f"Sign in again, such as: aws sso login --profile {said(settings.profile)}"
    return "Sign in again (aws sso login), or put fresh ones into AWS_ACCESS_KEY_ID and its neighbours."


def _denied(asked: Asked, message: str) -> FirnlineError:
    if "lake formation" in message.casefold():
        return Failed(
            f"Lake Formation does not allow {asked.action} on {_subject(asked)}.",
            why=f"The server said: {message}.",
            next_step="Ask its administrator for a grant on this database and its tables.",
        )
    return Failed(
        f"These credentials may not do {asked.action} on {_subject(asked)}.",
        why=f"The server said: {message}." if message not in {"", "Forbidden", "Access Denied"} else None,
        next_step="`firnline iam-policy --for look` writes the rights that looking needs.",
    )


def _encrypted(asked: Asked, found: str, message: str) -> FirnlineError:
    right = "kms:GenerateDataKey" if asked.action.startswith("s3:Put") else "kms:Decrypt"
    return Failed(
        f"{_subject(asked)} is encrypted with a KMS key that cannot be used ({found}).",
        why=f"The server said: {message}.",
        next_step=f"Give these credentials {right} on the key, in IAM and in the policy of the key.",
    )


# ----------------------------------------------------------------------------------------------- what came before it


def _unreachable(error: Any, asked: Asked) -> FirnlineError:
    endpoint = asked.endpoint
    address = endpoint or _host(error.kwargs.get("endpoint_url")) or f"the {asked.service} of AWS"
    if isinstance(error, raised.ConnectTimeoutError | raised.ReadTimeoutError):
        millis = asked.settings.connect_millis
        if isinstance(error, raised.ReadTimeoutError):
            millis = asked.settings.read_millis
        what = f"{address} did not answer within {millis / 1000:g} s."
    elif isinstance(error, raised.ConnectionClosedError | raised.ResponseStreamingError):
        what = f"{address} closed the connection in the middle of an answer."
    elif isinstance(error, raised.SSLError) and any(mark in str(error) for mark in _NO_TLS):
        return Failed(
            f"{address} does not speak TLS.",
            next_step=f"Check `{asked.named_by}`: a server of your own without a certificate is reached by http://.",
        )
    elif isinstance(error, raised.SSLError):
        what = f"{address} could not be reached over TLS: {said(error.kwargs.get('error', ''))}."
    else:
        what = f"{address} cannot be reached."
    if endpoint is not None:
        return Failed(what, next_step=f"Check `{asked.named_by}`, and that the server is running.")
    return Failed(what, next_step="Check the network, a proxy (HTTPS_PROXY), and that `region:` of the catalog exists.")


def _proxy(_: Any, __: Asked) -> FirnlineError:
    return Failed("The proxy of this machine cannot be reached.", next_step="Check HTTPS_PROXY, HTTP_PROXY, NO_PROXY.")


def _nonsense(_: Any, asked: Asked) -> FirnlineError:
    return Failed(
        f"{_server(asked)} answers, but not as {asked.service} does.",
        next_step=f"Check `{asked.named_by}`: it must be the address of the service itself.",
    )


def _no_credentials(_: Any, asked: Asked) -> FirnlineError:
    return Missing(
        "There are no AWS credentials.",
        why=f"{_server(asked)} wants every request signed.",
        next_step="Set AWS_PROFILE or `profile:` of the catalog, or run where there is a role. Keys never stand in a "
        "file of Firnline.",
    )


def _partial(error: Any, _: Asked) -> FirnlineError:
    return BadInput(
        f"The AWS credentials are not complete: {said(error)}.",
        next_step="Set what is missing, or take the other half away: credentials are then looked for elsewhere.",
    )


def _profile(error: Any, asked: Asked) -> FirnlineError:
    name = said(error.kwargs.get("profile", asked.settings.profile))
    return BadInput(
        f"There is no AWS profile {name!r}.",
        next_step="`aws configure list-profiles` shows those there are. It is named by `profile:` of the catalog or "
        "AWS_PROFILE.",
    )


def _sso(_: Any, asked: Asked) -> FirnlineError:
    profile = f" --profile {said(asked.settings.profile)}" if asked.settings.profile else ""
    return Failed("The sign-in of AWS has ended.", next_step=f"Sign in again: aws sso login{profile}")


def _retrieval(error: Any, _: Asked) -> FirnlineError:
    return Failed(
        f"AWS credentials could not be fetched: {said(error.kwargs.get('error_msg', error))}.",
        next_step="aws sts get-caller-identity, with the same profile, fails for the same reason.",
    )


def _unwritable(error: Any, asked: Asked) -> FirnlineError:
    return BadInput(
        f"{_subject(asked)!r} cannot be asked for: {said(error).removeprefix('Parameter validation failed: ')}"
    )


def _no_region(_: Any, __: Asked) -> FirnlineError:
    return BadInput("No AWS region is set.", next_step="Set `region:` of the catalog, or AWS_REGION.")


_Explain = Callable[[Any, Asked], FirnlineError]
_KINDS: tuple[tuple[tuple[type[Exception], ...], _Explain], ...] = (
    ((ResponseParserError,), _nonsense),
    ((raised.ProxyConnectionError,), _proxy),
    ((raised.ConnectionError, raised.HTTPClientError, raised.ReadTimeoutError), _unreachable),
    ((raised.NoCredentialsError, raised.NoAuthTokenError), _no_credentials),
    ((raised.PartialCredentialsError,), _partial),
    ((raised.ProfileNotFound,), _profile),
    ((raised.SSOError, raised.TokenRetrievalError, raised.LoginError), _sso),
    ((raised.CredentialRetrievalError, raised.MetadataRetrievalError), _retrieval),
    ((raised.NoRegionError, raised.InvalidRegionError), _no_region),
    ((raised.ParamValidationError, raised.ValidationError, raised.EndpointProviderError), _unwritable),
)


def _server(asked: Asked) -> str:
    return asked.endpoint or f"The {asked.service} of AWS"


def _host(url: Any) -> str | None:
    parts = urlsplit(url) if isinstance(url, str) else None
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts is not None and parts.netloc else None


def _bucket(resource: str) -> str:
    return said(resource.partition("://")[2].partition("/")[0] or resource)


def _thing(asked: Asked) -> str:
    return f"file {_subject(asked)}" if asked.service == "s3" else _subject(asked)

"""What an answer of Glue, or none, proves about a commit that was sent once.

Only a call that is never sent again by itself can be judged so: after a try whose answer was lost, the second one of a
commit that is in is told of a concurrent modification, which is its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from botocore import exceptions as raised

from firnline.adapters import outcomes
from firnline.adapters.aws import troubles
from firnline.loop.values import Outcome

# Refused by the service before it did anything, each by what its documentation says. A name that is not here proves
# nothing; OperationTimeoutException, which comes with status 400, is left out on purpose.
_REFUSED = frozenset(
    {
        "AccessDenied", "AccessDeniedException", "DisabledException", "ExpiredToken", "ExpiredTokenException",
        "FederatedResourceAlreadyExistsException", "GlueEncryptionException", "IllegalStateException",
        "IncompleteSignature", "IncompleteSignatureException", "InvalidAction", "InvalidClientTokenId",
        "InvalidInputException", "InvalidSignatureException", "MissingAuthenticationToken",
        "MissingAuthenticationTokenException", "NotAuthorized", "OperationNotSupportedException", "OptInRequired",
        "PermissionTypeMismatchException", "RequestExpired", "ResourceNumberLimitExceededException",
        "SerializationException", "SignatureDoesNotMatch", "UnknownOperationException", "UnrecognizedClientException",
        "ValidationError", "ValidationException",
    }
)  # fmt: skip
# Not carried out, and the same request can be sent again.
_LATER = troubles.THROTTLED | {"ResourceNotReadyException"}
# Raised while connecting, or before: no byte of the request left this machine.
_NOT_SENT = (
    raised.EndpointConnectionError, raised.ConnectTimeoutError, raised.ProxyConnectionError, raised.NoRegionError,
    raised.NoCredentialsError, raised.PartialCredentialsError, raised.CredentialRetrievalError, raised.SSOError,
    raised.TokenRetrievalError, raised.ParamValidationError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sent:
    """A commit call: Glue's name of it, what it was about, and what it means when that is not there."""

    operation: str
    subject: str
    absent: str


def outcome(error: BaseException, sent: Sent) -> Outcome:
    """The outcome of a call that failed with this error."""
    if isinstance(error, raised.ClientError):
        text = troubles.said(error.response.get("Error", {}).get("Message", ""))
        if error.operation_name != sent.operation:  # credentials are renewed inside a call, before it is sent
            return outcomes.refused(f"{error.operation_name} failed, so nothing was sent: {text}")
        return answered(troubles.code(error), troubles.status(error), text, sent)
    text = f"{type(error).__name__}: {troubles.said(error)}"
    if isinstance(error, _NOT_SENT):
        return outcomes.refused(f"Glue was not reached, so nothing was sent: {text}")
    return outcomes.unknown(f"the answer to {sent.operation} of {sent.subject} was lost: {text}")


def answered(code: str, status: int, text: str, sent: Sent) -> Outcome:
    """The outcome behind this code and HTTP status. Glue says most of what it has to say, throttling too, by 400."""
    said = f"{text} ({code})" if text else code
    if status >= 500:
        return outcomes.unknown(f"Glue failed on {sent.operation} of {sent.subject} with {status}: {said}")
    if code == "ConcurrentModificationException":
        return outcomes.lost(f"{sent.subject} was changed by another writer")
    if code in _LATER or status == 429:
        return outcomes.lost(f"Glue asks to come back later: {said}")
    if code == "EntityNotFoundException":
        return outcomes.refused(sent.absent)
    if code == "AlreadyExistsException":
        return outcomes.refused(f"{sent.subject} exists already")
    if code in _REFUSED:
        return outcomes.refused(f"Glue refused {sent.operation} of {sent.subject}: {said}")
    return outcomes.unknown(
        f"Glue answered {sent.operation} of {sent.subject} with {status}, which proves nothing: {said}"
    )

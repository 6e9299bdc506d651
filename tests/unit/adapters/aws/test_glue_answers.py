"""Which of the three outcomes an answer of Glue means, or none: the whole table."""

from __future__ import annotations

import pytest
from botocore import exceptions as raised
from botocore.parsers import ResponseParserError
from hypothesis import given
from hypothesis import strategies as st

from firnline.adapters.aws.glue_answers import Sent, answered, outcome
from firnline.loop.values import Outcome, OutcomeKind

NEVER, AGAIN, UNKNOWN = "never", "again", "unknown"
UPDATE = Sent("UpdateTable", "shop.orders", "there is no table shop.orders")
LOST = UPDATE.subject + " was changed by another writer"
URL = {"endpoint_url": "https://glue"}


def said(found: Outcome) -> str:
    if found.kind is OutcomeKind.NOT_DONE:
        return AGAIN if found.retryable else NEVER
    assert (found.kind, found.retryable) == (OutcomeKind.UNKNOWN, False)
    return UNKNOWN


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("ConcurrentModificationException", 400, AGAIN),
        ("ThrottlingException", 400, AGAIN),
        ("Throttling", 400, AGAIN),
        ("TooManyRequestsException", 429, AGAIN),
        ("RequestLimitExceeded", 400, AGAIN),
        ("SlowDown", 429, AGAIN),
        ("429", 429, AGAIN),
        ("ResourceNotReadyException", 400, AGAIN),
        ("EntityNotFoundException", 400, NEVER),
        ("AlreadyExistsException", 400, NEVER),
        ("AccessDeniedException", 400, NEVER),
        ("AccessDeniedException", 403, NEVER),
        ("InvalidInputException", 400, NEVER),
        ("ValidationException", 400, NEVER),
        ("ResourceNumberLimitExceededException", 400, NEVER),
        ("GlueEncryptionException", 400, NEVER),
        ("ExpiredTokenException", 400, NEVER),
        ("InvalidSignatureException", 400, NEVER),
        ("UnrecognizedClientException", 400, NEVER),
        ("SerializationException", 400, NEVER),
        ("OperationTimeoutException", 400, UNKNOWN),
        ("FederationSourceException", 400, UNKNOWN),
        ("InternalServiceException", 500, UNKNOWN),
        ("InternalServerException", 500, UNKNOWN),
        ("ServiceUnavailable", 503, UNKNOWN),
        ("ThrottlingException", 503, UNKNOWN),
        ("ConcurrentModificationException", 500, UNKNOWN),
        ("AccessDeniedException", 502, UNKNOWN),
        ("504", 504, UNKNOWN),
        ("403", 403, UNKNOWN),
        ("407", 407, UNKNOWN),
        ("408", 408, UNKNOWN),
        ("SomethingNewException", 400, UNKNOWN),
        ("", 200, UNKNOWN),
    ],
)
def test_what_was_answered(code: str, status: int, expected: str) -> None:
    """A code and a status prove that nothing was done, or they prove nothing."""
    assert said(answered(code, status, "a text", UPDATE)) == expected


@given(st.text(max_size=30), st.integers(500, 599))
def test_five_hundreds_prove_nothing(code: str, status: int) -> None:
    """Whatever the code: a server that failed may have failed after it did the work."""
    assert said(answered(code, status, "", UPDATE)) == UNKNOWN


@given(st.text(max_size=30), st.integers(100, 599))
def test_never_done(code: str, status: int) -> None:
    """No error is read as a commit that is in."""
    assert answered(code, status, "", UPDATE).kind is not OutcomeKind.DONE


def client_error(code: str, status: int, operation: str, message: str = "a text") -> raised.ClientError:
    answer = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return raised.ClientError(answer, operation)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (raised.EndpointConnectionError(**URL), NEVER),
        (raised.ConnectTimeoutError(**URL), NEVER),
        (raised.ProxyConnectionError(proxy_url="http://proxy", error="refused"), NEVER),
        (raised.NoCredentialsError(), NEVER),
        (raised.PartialCredentialsError(provider="env", cred_var="secret"), NEVER),
        (raised.CredentialRetrievalError(provider="process", error_msg="exit 1"), NEVER),
        (raised.TokenRetrievalError(provider="sso", error_msg="ended"), NEVER),
        (raised.UnauthorizedSSOTokenError(), NEVER),
        (raised.NoRegionError(), NEVER),
        (raised.ParamValidationError(report="Name"), NEVER),
        (client_error("ThrottlingException", 400, "AssumeRole"), NEVER),
        (client_error("InternalFailure", 500, "AssumeRole"), NEVER),
        (client_error("ThrottlingException", 400, "UpdateTable"), AGAIN),
        (raised.ReadTimeoutError(**URL), UNKNOWN),
        (raised.ConnectionClosedError(**URL), UNKNOWN),
        (raised.SSLError(error="EOF", **URL), UNKNOWN),
        (raised.HTTPClientError(error="anything"), UNKNOWN),
        (raised.ResponseStreamingError(error="cut"), UNKNOWN),
        (raised.IncompleteReadError(actual_bytes=1, expected_bytes=2), UNKNOWN),
        (ResponseParserError("no JSON"), UNKNOWN),
        (OSError("anything"), UNKNOWN),
        (ValueError("anything"), UNKNOWN),
    ],
    ids=lambda value: getattr(value, "operation_name", type(value).__name__) if isinstance(value, Exception) else value,
)
def test_what_was_raised(error: Exception, expected: str) -> None:
    """What failed before a byte was sent is not done; what failed after it proves nothing."""
    assert said(outcome(error, UPDATE)) == expected


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("ConcurrentModificationException", LOST),
        ("EntityNotFoundException", UPDATE.absent),
        ("AlreadyExistsException", "shop.orders exists already"),
        ("AccessDeniedException", "Glue refused UpdateTable of shop.orders: not you (AccessDeniedException)"),
        ("ThrottlingException", "Glue asks to come back later: not you (ThrottlingException)"),
        ("OperationTimeoutException", "Glue answered UpdateTable of shop.orders with 400, which proves nothing"),
    ],
)
def test_says_why(code: str, words: str) -> None:
    """The outcome says what happened in our words, with what the server said where that adds something."""
    assert words in outcome(client_error(code, 400, "UpdateTable", "not\n you"), UPDATE).detail

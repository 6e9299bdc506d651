"""Asks AWS one thing at a time and takes every answer: there, not there, not allowed, went wrong. Never raises.

Beside the answers it keeps which rights were missing, and the time each server says it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from firnline.adapters.aws import troubles
from firnline.adapters.aws.looks import Denial, Said
from firnline.adapters.aws.sessions import Sessions
from firnline.config import rights
from firnline.core.errors import FirnlineError

Answer = TypeVar("Answer")

# What IAM and KMS say: "… is not authorized to perform: s3:GetObject on resource: …".
_NAMED = re.compile(r"not authorized to perform: ([a-z0-9-]+:[A-Za-z0-9]+)")
_NOTHING = frozenset(
    {
        "NoSuchPublicAccessBlockConfiguration", "ServerSideEncryptionConfigurationNotFoundError",
        "NoSuchLifecycleConfiguration", "NoSuchBucketPolicy", "NoSuchUpload", "EntityNotFoundException",
        "ResourceNotFoundException", "ConditionalCheckFailedException", "NoSuchKey", "InvalidRange",
        "NotFoundException",
    }
)  # fmt: skip


class Inquiries:
    """The questions of one examination. Not for several threads."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions
        self.denials: list[Denial] = []
        self.rejected = False  # the credentials were, or there are none
        self._skews: list[tuple[float, float]] = []  # (how long the answer took, how far we are ahead), in seconds

    @property
    def skew_seconds(self) -> float | None:
        """How far our clock is ahead, by the quickest answer that told the time; good to a second or so."""
        return min(self._skews)[1] if self._skews else None

    def client(self, service: str) -> Any:
        """A client of these sessions; raises ours when there can be none."""
        with self.sessions.asking(f"{service}:*", service):
            return self.sessions.client(service)

    def ask(
        self, call: Callable[..., Any], resource: str, read: Callable[[Mapping[str, Any]], Answer | None], **given: Any
    ) -> Said[Answer]:
        """One call of a client's method, and what is to be taken out of its answer."""
        client = call.__self__  # type: ignore[attr-defined]  # a bound method: whose it is says which service is asked
        service = client.meta.service_model.service_name
        action = rights.actions_of(service, client.meta.method_to_api_mapping[call.__name__])[0]
        began = datetime.now(UTC)
        try:
            with self.sessions.asking(action, resource):
                try:
                    answer = call(**given)
                except ClientError as error:
                    self._time(error.response, began)
                    if troubles.code(error) in _NOTHING:
                        return Said()
                    if troubles.code(error) in troubles.DENIED:
                        return Said(denied=self._denied(action, resource, error))
                    raise
            self._time(answer, began)
            return Said(read(answer))
        except FirnlineError as error:
            self.rejected |= troubles.rejects_credentials(error.__cause__)
            return Said(failed=" ".join(part for part in (error.what, error.why) if part), fix=error.next_step)

    def _denied(self, action: str, resource: str, error: ClientError) -> str:
        message = troubles.said(error.response.get("Error", {}).get("Message", ""))
        named = _NAMED.search(message)
        denial = Denial(named[1] if named else action, resource, message)
        self.denials.append(denial)
        return denial.action

    def _time(self, answer: Mapping[str, Any], began: datetime) -> None:
        ended = datetime.now(UTC)
        text = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
        try:
            there = parsedate_to_datetime(text) if text else None
        except ValueError:
            there = None
        if there is not None and there.tzinfo is not None:
            took = ended - began
            self._skews.append((took.total_seconds(), (began + took / 2 - there).total_seconds()))

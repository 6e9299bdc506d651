"""What a look at AWS found, as frozen values. Judging them is for the doctor; asking for them for the files beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Said(Generic[Answer]):
    """One answer, or why there is none: a right that is missing, or anything else that went wrong."""

    value: Answer | None = None  # None in an answer: there is nothing of the kind
    denied: str | None = None  # the action that is missing, as IAM names it
    failed: str | None = None  # what went wrong, for people
    fix: str | None = None

    @property
    def known(self) -> bool:
        """Whether there is an answer."""
        return self.denied is None and self.failed is None


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose credentials these are."""

    account: str
    arn: str


@dataclass(frozen=True, slots=True)
class Denial:
    """A call that was refused for want of a right."""

    action: str
    resource: str
    message: str  # what AWS said, in one line

    @property
    def by_lake_formation(self) -> bool:
        """Whether no policy of IAM would help."""
        return "lake formation" in self.message.casefold()


@dataclass(frozen=True, slots=True)
class LifecycleRule:
    """A lifecycle rule of a bucket. An object must fit every filter there is; none at all means all of the bucket."""

    id: str
    enabled: bool
    prefix: str = ""
    tags: Mapping[str, str] | None = None
    larger: int | None = None  # only objects of more bytes than this
    smaller: int | None = None
    expires: str | None = None  # `after 30 days`, `on 2027-01-01`: of current objects
    moves: tuple[tuple[str, str], ...] = ()  # (storage class, when): of current objects
    noncurrent_expires: str | None = None
    aborts_days: int | None = None  # uploads that were never completed


@dataclass(frozen=True, slots=True)
class Encryption:
    """How a bucket encrypts what is put without saying how. `key` is None for a key of AWS's own."""

    algorithm: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Events:
    """Who is told of new files. `existing` is the configuration as JSON, as a put would have to repeat it."""

    event_bridge: bool
    others: int
    existing: str


@dataclass(frozen=True, slots=True)
class PolicyStatement:
    """One statement of a bucket policy, its lists made lists. `condition` is operator → key → values."""

    name: str  # its Sid, or which one it is
    effect: str
    principals: tuple[str, ...]
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    condition: Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class BucketLook:
    """A bucket and the folder in it that holds tables."""

    bucket: str
    prefix: str
    region: Said[str]  # None in an answer: the server does not tell
    block: Said[tuple[str, ...]] = Said()  # which of the four switches are on
    versioning: Said[str] = Said()  # Enabled or Suspended; None: never switched on
    encryption: Said[Encryption] = Said()
    keys: Mapping[str, Said[str]] | None = None  # the state of each KMS key in use
    events: Said[Events] = Said()
    lifecycle: Said[tuple[LifecycleRule, ...]] = Said()
    policy: Said[tuple[PolicyStatement, ...]] = Said()
    listed: Said[bool] = Said()  # whether there is a file at all
    read: Said[bool] | None = None  # of the first file; None: there was none to try
    written: Said[bool] | None = None  # None: not tried


@dataclass(frozen=True, slots=True)
class Versions:
    """How many versions Glue keeps of a table: at least `least`, of `made` ever made at most."""

    table: str
    made: int
    kept: Said[int]
    more: bool = False  # there are more than were counted


@dataclass(frozen=True, slots=True)
class LakeFormation:
    """What decides over new tables: IAM alone, or grants. `admins` can give them."""

    iam_alone: bool
    admins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GlueLook:
    """A Glue catalog, as far as a bounded number of pages shows it."""

    tables: Said[int]
    whole: bool = True  # every table was seen
    made: int = 0  # versions ever made of those tables, together
    most: tuple[Versions, ...] = ()
    registered: tuple[str, ...] = ()  # tables whose files Lake Formation hands out
    lake_formation: Said[LakeFormation] = Said()
    refused: tuple[str, ...] = ()  # databases whose tables may not be listed


@dataclass(frozen=True, slots=True)
class Look:
    """Everything seen of one catalog's surroundings on AWS."""

    region: str
    caller: Said[Caller]
    of_aws: bool = True  # False: a server that only speaks like it
    skew_seconds: float | None = None  # how far our clock is ahead of theirs; None: no answer told the time
    buckets: tuple[BucketLook, ...] = ()
    glue: GlueLook | None = None
    table_bucket: Said[str] | None = None
    state: Said[str] | None = None  # the status of the table of leases and ledger; None in an answer: not there yet
    denials: tuple[Denial, ...] = ()

"""The error tree. Branches say what the caller can do about it; exit codes follow the branch.

    FirnlineError
    ├── BadInput      2  the user can fix what they wrote
    ├── Refused       3  we could, and will not, without an explicit override
    ├── Blocked       3  somebody or something else must move first: wait and try again
    ├── Failed        1  we tried and it did not work
    ├── Missing       1  a part is not installed or not there: install it
    ├── Unsettled     1  a commit's outcome is unknown and was left alone
    └── Partial       4  some of it was done

Every message says what (with values), why it matters, and the next step to type.
"""

from __future__ import annotations

from dataclasses import dataclass

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_REFUSED = 3
EXIT_PARTIAL = 4
EXIT_INTERRUPTED = 130


class FirnlineError(Exception):
    """Anything Firnline expects to go wrong. `what` is one sentence; `why` and `next_step` are optional."""

    exit_code = EXIT_FAILED

    def __init__(self, what: str, *, why: str | None = None, next_step: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.next_step = next_step

    def __str__(self) -> str:
        return "\n".join(part for part in (self.what, self.why, self.next_step) if part)


class BadInput(FirnlineError):
    """The user can fix what they wrote."""

    exit_code = EXIT_BAD_INPUT


class Refused(FirnlineError):
    """Possible, and not done without an explicit, recorded override."""

    exit_code = EXIT_REFUSED


class Blocked(FirnlineError):
    """Somebody else must move first; the same command can succeed later."""

    exit_code = EXIT_REFUSED


class Failed(FirnlineError):
    """Tried, and it did not work."""


class Missing(FirnlineError):
    """A part of Firnline, or a thing it stands on, is not there."""


class Unsettled(FirnlineError):
    """The outcome of a commit is unknown; nothing was cleaned up."""


class Partial(FirnlineError):
    """Some of it was done."""

    exit_code = EXIT_PARTIAL


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing wrong in a file the user wrote, at a place they can jump to."""

    file: str
    line: int | None
    key: str | None
    problem: str
    hint: str | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line is not None else self.file
        subject = f" {self.key}:" if self.key else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{place}:{subject} {self.problem}{hint}"


class BadFiles(BadInput):
    """Every complaint about the user's files at once, so they are fixed in one go."""

    def __init__(self, complaints: tuple[Complaint, ...]) -> None:
        self.complaints = complaints
        super().__init__("\n".join(str(complaint) for complaint in complaints))

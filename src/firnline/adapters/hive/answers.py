"""What an error of the metastore proves about the one call of a commit that was sent, once.

An answer proves next to nothing by itself, whatever it says. The metastore tells its listeners after its own
transaction is through, and what goes wrong there comes back as what goes wrong before. It also repeats a change whose
transaction went through with an error, and the second attempt then complains of what the first one did: that the table
has been modified, that the name is taken, that there is no such table. So only what the server never carried out is
proof; after anything else the entry is looked at, and the answer says no more than why it is as it was.
"""

from __future__ import annotations

import re

from firnline.adapters import outcomes
from firnline.adapters.hive.troubles import message
from firnline.adapters.hive.wire import UNKNOWN_METHOD, Broken, Fault, Unreachable
from firnline.core.errors import Blocked, FirnlineError
from firnline.loop.values import Outcome

MODIFIED = "The table has been modified"  # the parameter is not what the condition of the request says
_ABSENT = frozenset({"NoSuchObjectException", "UnknownDBException"})
_TYPES = re.compile(r"types incompatible with the existing columns|Error: type expected|IllegalArgumentException")
_NO_FILESYSTEM = re.compile(r"No FileSystem for scheme|UnsupportedFileSystem|ClassNotFoundException.*FileSystem")
_NO_FOLDER = re.compile(r"unable to create|not a directory|could not create|mkdir", re.IGNORECASE)


def not_sent(error: Unreachable | Broken | Fault | FirnlineError) -> Outcome:
    """Failed before the call that changes something: not done. Worth another try when only the line broke."""
    if isinstance(error, FirnlineError):
        text = " ".join(str(error).split("\n"))
        return outcomes.lost(text) if isinstance(error, Blocked) else outcomes.refused(text)
    if isinstance(error, Unreachable):
        return outcomes.refused(f"the metastore cannot be reached: {message(error)}")
    if isinstance(error, Broken):
        return outcomes.lost(f"the connection to the metastore broke before anything was changed: {message(error)}")
    return outcomes.refused(f"the metastore refused to say what is there: {message(error)}")


def never_begun(error: Broken | Fault) -> Outcome | None:
    """The outcome of a call that the server cannot have begun, by the error alone; None when it may have."""
    if isinstance(error, Broken):
        return None if error.sent else not_sent(error)
    return outcomes.refused(explanation(error)) if error.name == UNKNOWN_METHOD else None


def not_made(error: Fault, subject: str, absent: str) -> Outcome:
    """The outcome once it is known that the change was not made. `absent` is what it means that something is not
    there.
    """
    text = message(error)
    if MODIFIED in text:
        return outcomes.lost(f"{subject} was changed by another writer")
    if error.name == "AlreadyExistsException":
        return outcomes.refused(f"{subject} exists already")
    if missing(error) or _names_database(error, text):
        return outcomes.refused(absent)
    return outcomes.refused(explanation(error))


def missing(error: Broken | Fault) -> bool:
    """Whether the metastore says that what was to be changed is not there."""
    return isinstance(error, Fault) and error.name in _ABSENT


def _names_database(error: Fault, text: str) -> bool:
    """Of a database that is not there HMS 2.3 says the name, and nothing else."""
    return error.name == "InvalidObjectException" and " " not in text


def explanation(error: Unreachable | Broken | Fault) -> str:
    """What the metastore said, with what to do about it where that is known."""
    text = message(error)
    if not isinstance(error, Fault):
        return f"the connection to the metastore broke: {text}"
    if error.name == UNKNOWN_METHOD:
        return f"the metastore does not know the call, so nothing was done: {text}"
    if _TYPES.search(text):
        return (
            f"the metastore does not let columns change so: {text}. It compares columns by position, which Iceberg "
            "does not: set hive.metastore.disallow.incompatible.col.type.changes=false in the metastore"
        )
    if _NO_FILESYSTEM.search(text):
        return (
            f"the metastore makes folders itself and cannot reach this storage: {text}. Give it a FileSystem for the "
            "scheme (hadoop-aws and fs.s3.impl for s3:), or a location it can reach"
        )
    if _NO_FOLDER.search(text):
        return f"the metastore makes the folder itself and could not: {text}"
    return f"the metastore said: {text}"

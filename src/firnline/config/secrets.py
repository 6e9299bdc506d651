"""What is secret, and how it is shown. A secret comes in through the environment and goes out masked."""

from __future__ import annotations

import re

MASK = "***"
_SECRET = re.compile(r"secret|passw(?:or)?d|passphrase|token|credential|(?:access|private|api|session|account)-key")
# Words that only look secret: `s3.access-key-id` names a key, `client.credentials-provider` a class.
_ABOUT = re.compile(r"-(?:id|provider|enabled|ms|seconds|ur[il]|path|file|type|class|impl|name)$")
_PLAIN = re.compile(r"true|false|[0-9]*", re.IGNORECASE)
_USER = re.compile(r"(?<=://)([^/?#@\s]*):([^/?#\s]+)@")
_QUERY = re.compile(r"([?&;])([^=&;?\s]+)=([^&;\s]+)")


def is_secret(key: str) -> bool:
    """Whether the value of a key of this name is not for showing."""
    folded = re.sub(r"[._\s]", "-", key.casefold())
    return _SECRET.search(folded) is not None and _ABOUT.search(folded) is None


def holds_secret(key: str, value: str) -> bool:
    """Whether the value is a secret, or has one inside: by its key, or as the user part or a parameter of a URL."""
    return (is_secret(key) and _PLAIN.fullmatch(value) is None) or mask_url(value) != value


def mask(key: str, value: str) -> str:
    """The value as it may be shown."""
    return MASK if is_secret(key) and _PLAIN.fullmatch(value) is None else mask_url(value)


def mask_url(text: str) -> str:
    """The text with the passwords of the URLs in it masked."""
    masked = _USER.sub(rf"\1:{MASK}@", text)
    return _QUERY.sub(lambda found: f"{found[1]}{found[2]}={MASK}" if is_secret(found[2]) else found[0], masked)

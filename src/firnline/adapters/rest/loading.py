"""One table as its catalog gives it: where its metadata is, the metadata itself, and what comes with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firnline.adapters.rest import paths
from firnline.adapters.rest.client import TABLE_BYTES_MAX, RestClient, texts
from firnline.adapters.rest.faults import Fault
from firnline.core.ids import Identifier
from firnline.core.types import Json

_DELEGATED = {"X-Iceberg-Access-Delegation": "vended-credentials"}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The answer to loadTable."""

    location: str | None  # of the metadata file
    metadata: Json
    config: Mapping[str, str]
    credentials: tuple[Json, ...]  # as the specification writes them


def load(client: RestClient, identifier: Identifier, *, whole: bool = False, delegated: bool = False) -> Loaded | Fault:
    """The table, or what the catalog answered instead. Unless `whole`, of the snapshots only those that refs name:
    the answer is smaller by far. `delegated` asks for credentials to its files.
    """
    answer = client.ask(
        paths.table(identifier, client.config.separator),
        [] if whole else [("snapshots", "refs")],
        bytes_max=TABLE_BYTES_MAX,
        headers=_DELEGATED if delegated else None,
    )
    if isinstance(answer, Fault):
        return answer
    return of_answer(answer)


def of_answer(answer: Json) -> Loaded:
    """The parts of an answer that holds a table."""
    metadata, credentials = answer.get("metadata"), answer.get("storage-credentials")
    return Loaded(
        answer.get("metadata-location") or None,
        metadata if isinstance(metadata, dict) else {},
        texts(answer.get("config")),
        tuple(each for each in credentials if isinstance(each, dict)) if isinstance(credentials, list) else (),
    )

"""What a lifecycle rule of a bucket does to tables under a folder of it: a decision table. Pure.

S3 knows nothing of snapshots: a rule by age deletes data files that are still read. Only what takes current objects
does harm; old versions, and uploads nobody completed, are nothing a table refers to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from firnline.adapters.aws.looks import LifecycleRule

HARM, DOUBT = "harm", "doubt"
ARCHIVES = ("GLACIER", "DEEP_ARCHIVE")  # an object there has to be restored before it can be read
DEAR_TO_READ = ("STANDARD_IA", "ONEZONE_IA", "GLACIER_IR")  # read at once, for a fee, and paid for 30 or 90 days
_OF_ICEBERG = frozenset({"iceberg.table", "iceberg.namespace"})  # what S3FileIO puts on everything when told to
_WRITTEN, _DELETED = "s3.write.tags.", "s3.delete.tags."


@dataclass(frozen=True, slots=True)
class Effect:
    """What one rule does. `weight` is harm (tables break) or doubt (it depends, or only costs)."""

    rule: str
    weight: str
    text: str


def effects(rule: LifecycleRule, prefix: str, properties: Mapping[str, str]) -> Iterator[Effect]:
    """Every effect on current files under the folder `prefix`. `properties` are the catalog's: they say how Iceberg's
    S3FileIO marks what it writes and what it would delete.
    """
    if not (rule.enabled and reaches(rule, prefix) and _holds_any_size(rule)):
        return
    weight = _weight(rule, properties)
    if weight is None:
        return
    where = _where(rule)
    if rule.expires is not None:
        yield Effect(rule.id, weight, f"deletes {where} {rule.expires}")
    for storage, when in rule.moves:
        if storage in ARCHIVES:
            yield Effect(rule.id, weight, f"archives {where} {when} ({storage}), where they cannot be read")
        elif storage in DEAR_TO_READ:
            yield Effect(rule.id, DOUBT, f"moves {where} {when} to {storage}, where every read has a fee")


def reaches(rule: LifecycleRule, prefix: str) -> bool:
    """Whether its prefix fits anything under the folder. It is a prefix of keys, not a folder: `ware` fits too."""
    folder = f"{prefix}/" if prefix else ""
    return folder.startswith(rule.prefix) or rule.prefix.startswith(folder)


def keeps_no_old_versions(rules: tuple[LifecycleRule, ...], prefix: str) -> bool:
    """Whether some rule deletes old versions of everything under the folder."""
    folder = f"{prefix}/" if prefix else ""
    return any(
        rule.enabled and rule.noncurrent_expires and not _narrowed(rule) and folder.startswith(rule.prefix)
        for rule in rules
    )


def _narrowed(rule: LifecycleRule) -> bool:
    return bool(rule.tags) or rule.larger is not None or rule.smaller is not None


def _holds_any_size(rule: LifecycleRule) -> bool:
    return rule.smaller is None or (rule.larger or 0) + 1 < rule.smaller


def _weight(rule: LifecycleRule, properties: Mapping[str, str]) -> str | None:
    """A rule by tags takes what bears all of them. What S3FileIO marks instead of deleting is meant to go."""
    if not rule.tags:
        return HARM
    wanted = set(rule.tags.items())
    if wanted <= _tags(properties, _DELETED):
        return None
    return HARM if wanted <= _tags(properties, _WRITTEN) or set(rule.tags) <= _OF_ICEBERG else DOUBT


def _tags(properties: Mapping[str, str], start: str) -> set[tuple[str, str]]:
    return {(key.removeprefix(start), value) for key, value in properties.items() if key.startswith(start)}


def _where(rule: LifecycleRule) -> str:
    parts = [f"files under {rule.prefix}" if rule.prefix else "files of the whole bucket"]
    if rule.tags:
        parts.append("tagged " + ", ".join(f"{key}={value}" for key, value in sorted(rule.tags.items())))
    if rule.larger is not None:
        parts.append(f"of more than {rule.larger:,} bytes")
    if rule.smaller is not None:
        parts.append(f"of less than {rule.smaller:,} bytes")
    return " ".join(parts)

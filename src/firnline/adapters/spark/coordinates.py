"""The jars we run on, pinned by sha256. Data, as of 2026-11-18: change the date with the pins.

All are shaded or have no dependencies, so they are fetched without their dependencies.
"""

from __future__ import annotations

from dataclasses import dataclass

from firnline.config.values import Environment
from firnline.core import suggest
from firnline.core.errors import BadInput

AS_OF = "2026-11-18"


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One artifact, and the hash without which it is not loaded."""

    group: str
    name: str
    version: str
    sha256: str
    bytes: int

    @property
    def file_name(self) -> str:
        """The name it has in the cache, and must have in a folder of the user's."""
        return f"{self.name}-{self.version}.jar"

    def __str__(self) -> str:
        return f"{self.group}:{self.name}:{self.version}"


def _runtime(version: str, sha256: str, size: int) -> Coordinate:
    return Coordinate("org.apache.iceberg", "iceberg-spark-runtime-4.1_2.13", version, sha256, size)


# By release, the default first. 1.11.0 is what EMR 8.1 and Glue 6 bring: the cloud lane is tested on it.
ICEBERG = {
    "1.12.0": _runtime("1.12.0", "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82", 48_309_426),
    "1.11.0": _runtime("1.11.0", "d6ea6c5d099288daeb7d5a92061bd3d7d8f296492632b42378e5f2f0e3066242", 47_959_591),
}
SQLITE = Coordinate(
    "org.xerial",
    "sqlite-jdbc",
    "3.50.3.0",
    "a3f53a2aa15ae9425a9e793bbe9c8e5288febeb4b65ef5c1a4e80d4c2045cf08",
    14_346_720,
)


def needed(environment: Environment) -> tuple[Coordinate, ...]:
    """The jars a session of this environment loads; a driver only when a catalog asks for it."""
    release = environment.jars.iceberg or next(iter(ICEBERG))
    if release not in ICEBERG:
        raise BadInput(
            f"jars.iceberg: {release!r} is not a release we have a pinned hash for.",
            next_step=suggest.did_you_mean(release, ICEBERG),
        )
    embedded = any(catalog.type == "sqlite" for catalog in environment.catalogs.values())
    return (ICEBERG[release], SQLITE) if embedded else (ICEBERG[release],)

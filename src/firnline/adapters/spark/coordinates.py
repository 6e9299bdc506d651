"""The jars we run on, pinned by sha256. Data, as of 2026-11-18: change the date with the pins.

All are shaded or have no dependencies, so they are fetched without their dependencies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from firnline.adapters.spark.catalogs import names_on_s3
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


def _bundle(version: str, sha256: str, size: int) -> Coordinate:
    return Coordinate("org.apache.iceberg", "iceberg-aws-bundle", version, sha256, size)


# What reads S3 and speaks to Glue, by the same releases: fetched only where a catalog needs it.
AWS = {
    "1.12.0": _bundle("1.12.0", "dd7e49ffa4ac9b215bed846581991259e3aec9bb2fa08d6cec029c46cd66d957", 69_034_612),
    "1.11.0": _bundle("1.11.0", "38f01da7e96850cdd05e6616d758b77b43314b712a8808e3f9a824d56976162f", 63_613_165),
}
SQLITE = Coordinate(
    "org.xerial",
    "sqlite-jdbc",
    "3.50.3.0",
    "a3f53a2aa15ae9425a9e793bbe9c8e5288febeb4b65ef5c1a4e80d4c2045cf08",
    14_346_720,
)


def needed(environment: Environment, locations: Iterable[str] = ()) -> tuple[Coordinate, ...]:
    """The jars a session of this environment loads; the AWS bundle and the driver only when a catalog asks for them.
    `locations` are those of declared namespaces, which may lie in S3 when nothing else does.
    """
    release = environment.jars.iceberg or next(iter(ICEBERG))
    if release not in ICEBERG:
        raise BadInput(
            f"jars.iceberg: {release!r} is not a release we have a pinned hash for.",
            next_step=suggest.did_you_mean(release, ICEBERG),
        )
    embedded = any(catalog.type == "sqlite" for catalog in environment.catalogs.values())
    cloud = bool(names_on_s3(environment, locations))
    return (ICEBERG[release], *((AWS[release],) if cloud else ()), *((SQLITE,) if embedded else ()))

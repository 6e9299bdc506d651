"""The settings of an environment as each place that runs Spark wants them: pure, from what a session here is given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from firnline.adapters.spark.catalogs import CATALOG, JAVA_OPTIONS
from firnline.adapters.spark.settings import LOCAL

# Where EMR Serverless has its Iceberg, as its guide says; its Spark does not load it by itself.
EMR_ICEBERG = "/usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar"
# Under a job's role nobody needs keys or profiles of ours, and they would be shown in the job's settings.
_CREDENTIALS = (".s3.access-key-id", ".s3.secret-access-key", ".s3.session-token", ".rest.access-key-id",
                ".rest.secret-access-key", ".rest.session-token")  # fmt: skip
_OF_PROFILE = re.compile(r"\s*-Daws\.profile=\S+")


class Target(StrEnum):
    """Where Spark is to run."""

    LOCAL = "local"
    SPARK_SUBMIT = "spark-submit"
    EMR_SERVERLESS = "emr-serverless"
    GLUE = "glue"


def deployed(target: Target, conf: Mapping[str, str], coordinates: Iterable[object]) -> dict[str, str]:
    """What the target's Spark is to be started with. `conf` has no jars of ours yet; EMR and Glue bring their own."""
    if target is Target.LOCAL:
        return dict(conf)
    kept = {key: value for key, value in conf.items() if key != "spark.master" and LOCAL.get(key) != value}
    theirs = [name for name in kept.pop("spark.jars.packages", "").split(",") if name]
    match target:
        case Target.SPARK_SUBMIT:
            return kept | {"spark.jars.packages": ",".join((*map(str, coordinates), *theirs))}
        case Target.EMR_SERVERLESS:
            jars = [name for name in kept.pop("spark.jars", "").split(",") if name]
            return _under_a_role(kept) | {"spark.jars": ",".join((EMR_ICEBERG, *jars))}
        case Target.GLUE:
            return _under_a_role(kept)


def dropped(target: Target, conf: Mapping[str, str]) -> tuple[str, ...]:
    """Credentials that were left out, by key."""
    roles = target in {Target.EMR_SERVERLESS, Target.GLUE}
    return tuple(key for key, value in conf.items() if roles and _is_ours(key, value))


def _under_a_role(conf: Mapping[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in conf.items() if not _is_ours(key, value)}
    options = _OF_PROFILE.sub("", conf.get(JAVA_OPTIONS, "")).strip()
    return kept | ({JAVA_OPTIONS: options} if options else {})


def _is_ours(key: str, value: str) -> bool:
    return (key.startswith(CATALOG) and key.endswith(_CREDENTIALS)) or (
        key == JAVA_OPTIONS and _OF_PROFILE.search(value) is not None
    )

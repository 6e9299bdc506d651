"""As whom Spark comes to AWS: as Firnline itself does, and as nobody else in the same process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]
REGION = {"region": "eu-west-1"}
MINE, YOURS = {**REGION, "profile": "mine"}, {**REGION, "profile": "yours"}
KEYS = {**REGION, "s3.access-key-id": "STATIC", "s3.secret-access-key": "hunter2"}
OTHER_KEYS = {**KEYS, "s3.secret-access-key": "hunter3"}
# The login of somebody who works here too: it must be neither taken nor mixed in.
LOGIN = {"AWS_ACCESS_KEY_ID": "LOGIN", "AWS_SECRET_ACCESS_KEY": "hunter1", "AWS_SESSION_TOKEN": "of-another"}
CREDENTIALS = """
[mine]
aws_access_key_id = MINE
aws_secret_access_key = hunter4
"""
PROGRAM = """
import json, sys
from contextlib import nullcontext
from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.spark import session as sessions
from firnline.config import aws
from firnline.config.values import CatalogSettings, Environment, LakehouseSettings
from firnline.core.errors import Refused
from firnline.lakehouse.spark import Spark

def isolated(kind, properties):
    environment = Environment("e", {"lake": CatalogSettings("lake", kind, properties)})
    return Spark(LakehouseSettings("shop", sys.argv[1], environment, ("e",)), lambda _: nullcontext()).isolated()

def answer(kind, properties):
    try:
        isolated(kind, properties)
    except Refused as refused:
        return refused.what
    return "taken"

first, others = json.loads(sys.argv[2])
chain = isolated("glue", first)._jvm.software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider
found, ours = chain.create().resolveCredentials(), Sessions(aws.settings(first, "lake")).access()
print(json.dumps({
    "java": [found.accessKeyId(), found.getClass().getSimpleName()],
    "python": [ours.access, "AwsSessionCredentials" if ours.token else "AwsBasicCredentials"],
    "answers": [answer(*each) for each in others],
}))
sessions.stop()
"""
CREDENTIALS_DIFFER = "The running Spark session was started with other settings: AWS credentials."
BOTH_DIFFER = CREDENTIALS_DIFFER.replace(".", ", spark.driver.extraJavaOptions.")
Other = tuple[str, Mapping[str, str], str]
CASES: list[tuple[Mapping[str, str], str, list[Other]]] = [
    (
        MINE,
        "MINE",
        [
            ("glue", MINE, "taken"),
            ("glue", REGION, CREDENTIALS_DIFFER),
            ("glue", YOURS, BOTH_DIFFER),
            ("glue", KEYS, CREDENTIALS_DIFFER),
            ("sqlite", {}, "taken"),
            ("hive", {"uri": "meta", "warehouse": "s3://b/w", **KEYS}, "taken"),
        ],
    ),
    (
        KEYS,
        "STATIC",
        [
            ("glue", KEYS, "taken"),
            ("glue", REGION, CREDENTIALS_DIFFER),
            ("glue", OTHER_KEYS, CREDENTIALS_DIFFER),
            ("glue", MINE, BOTH_DIFFER),
            ("sqlite", {"warehouse": "s3://b/w"}, CREDENTIALS_DIFFER),
        ],
    ),
]


@pytest.mark.parametrize(("first", "access", "others"), CASES, ids=["profile", "keys"])
def test_one_process_is_one_identity(
    first: Mapping[str, str], access: str, others: list[Other], tmp_path: Path
) -> None:
    """Java's AWS chain finds whom Firnline's own clients find, whatever login is around. The session is there for every
    environment of the same identity, or of none, and refused to any other; no key is shown.
    """
    (tmp_path / "credentials").write_text(CREDENTIALS)
    files = {"AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"), "AWS_CONFIG_FILE": str(tmp_path / "none")}
    asked = json.dumps([first, [(kind, properties) for kind, properties, _ in others]])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), asked],
        env={**os.environ, **LOGIN, **files}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["java"] == found["python"] == [access, "AwsBasicCredentials"]
    assert found["answers"] == [answer for _, _, answer in others]
    assert "hunter" not in done.stdout + done.stderr

"""Real servers for tests, started on first use in a test process and stopped at its end.

They are the product's own services (`firnline local`), in a temporary folder. A watchdog stops them even when the test
process is killed: it waits on a pipe that closes when that process ends, however it ends.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from firnline.adapters.services import addresses, asking, processes, stack
from firnline.adapters.services.values import BUCKET, REGION, Home, Running
from firnline.config.aws import Keys
from tests.sparklake import silent

KEYS = Keys("test", "test")  # what the servers of `aws` and `stock_aws` take: anything
_WATCHDOG = """
import os, shutil, signal, sys
from pathlib import Path
from firnline.adapters.services import processes
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.stdin.read()
folder = Path(sys.argv[1])
for file in sorted(folder.rglob("pid"), reverse=True):
    found = processes.found(file)
    if found is not None:
        processes.stop(found)
shutil.rmtree(folder, ignore_errors=True)
"""


@dataclass(frozen=True, slots=True)
class Aws:
    """Glue, S3, DynamoDB, STS and IAM in one process and in memory. Any keys do."""

    endpoint: str
    region: str = REGION
    keys: Keys = KEYS


@dataclass(frozen=True, slots=True)
class S3:
    """SeaweedFS with one bucket: take a prefix of your own in it, or another `bucket`."""

    endpoint: str
    access: str
    secret: str
    region: str = REGION
    name: str = BUCKET

    @property
    def properties(self) -> dict[str, str]:
        """As a catalog's properties have it."""
        return dict(_running("s3").properties)


@dataclass(frozen=True, slots=True)
class Metastore:
    """A Hive Metastore. Its tables lie on this S3."""

    uri: str
    s3: S3


@dataclass(frozen=True, slots=True)
class Rest:
    """An Iceberg REST catalog behind a token. Its tables lie on this S3."""

    uri: str
    token: str
    s3: S3


@cache
def aws() -> Aws:
    """Strict: a stale VersionId is refused, lists have pages, one write at a time."""
    return _aws("strict")


@cache
def stock_aws() -> Aws:
    """moto as it is: it acknowledges concurrent Glue commits and loses them."""
    return _aws("stock", "--stock")


@cache
def s3() -> S3:
    """The S3 server; the bucket `lake` is there."""
    found = _running("s3").properties
    return S3(found["s3.endpoint"], found["s3.access-key-id"], found["s3.secret-access-key"])


@cache
def bucket(name: str) -> str:
    """One more bucket on it; its name."""
    server = s3()
    port, keys = int(server.endpoint.rsplit(":", 1)[1]), Keys(server.access, server.secret)
    assert asking.status(port, "PUT", f"/{name}", asking.signed(port, "PUT", f"/{name}", keys, "s3")) in {200, 409}
    return name


@cache
def metastore() -> Metastore:
    """The Hive Metastore inside pyspark."""
    return Metastore(_running("hive").endpoint, s3())


@cache
def rest() -> Rest:
    """Iceberg's reference REST catalog."""
    found = _running("rest")
    return Rest(found.endpoint, found.properties["token"], s3())


@cache
def home() -> Home:
    """Where the servers of this test process live."""
    folder = Path(tempfile.mkdtemp(prefix="firnline-servers-"))
    watchdog = subprocess.Popen(
        [sys.executable, "-c", _WATCHDOG, str(folder)], stdin=subprocess.PIPE, start_new_session=True
    )
    atexit.register(_end, folder, watchdog, os.getpid())
    return Home(folder, dict(os.environ), silent)


def _end(folder: Path, watchdog: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() != owner:  # a forked child of the test process
        return
    assert watchdog.stdin is not None
    watchdog.stdin.close()
    watchdog.wait()
    shutil.rmtree(folder, ignore_errors=True)


@cache
def _running(name: str) -> Running:
    (found,) = (each for each in stack.up(home(), [name]) if each.service.name == name)
    assert found.running is not None
    return found.running


def _aws(name: str, *options: str) -> Aws:
    folder = home().root / name
    folder.mkdir()
    port = addresses.ports(folder / "ports.json", ("main",))["main"]
    command = [sys.executable, "-m", "firnline.adapters.services.aws_server", "--port", str(port), *options]
    process = processes.start(command, folder=folder, log=folder / "log", pid_file=folder / "pid", env=os.environ)
    headers = asking.signed(port, "POST", "/", KEYS, "glue", target="AWSGlue.GetDatabases", body=b"{}")
    while asking.status(port, "POST", "/", headers, b"{}") != 200:
        assert not processes.is_gone(process), (folder / "log").read_text()
        time.sleep(0.05)
    return Aws(f"http://{addresses.HOST}:{port}")

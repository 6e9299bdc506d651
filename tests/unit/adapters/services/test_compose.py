"""The docker-compose file of the stack. Docker is not at hand: the file is parsed, and what it carries is run."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from botocore.exceptions import ClientError

from firnline.adapters.services import addresses, compose, processes


def parsed(*, cluster: bool) -> Mapping[str, Any]:
    """The file as compose reads it."""
    found = yaml.safe_load(compose.text(cluster=cluster))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("cluster", [False, True])
def test_every_port_is_on_loopback(cluster: bool) -> None:
    """Nothing is published on another interface."""
    ports = [port for service in parsed(cluster=cluster)["services"].values() for port in service.get("ports", ())]
    assert ports
    assert all(re.fullmatch(r"127\.0\.0\.1:\$\{FIRNLINE_\w+:-\d+\}:\d+", port) for port in ports)


@pytest.mark.parametrize("cluster", [False, True])
def test_every_image_is_pinned(cluster: bool) -> None:
    """Every image has a tag, and none is `latest`."""
    images = [service["image"] for service in parsed(cluster=cluster)["services"].values()]
    assert all(re.fullmatch(r"[\w./-]+:[\w.-]*\d[\w.-]*", image) for image in images), images


def test_no_credential_stands_inside() -> None:
    """Keys come from the environment, and without them compose stops."""
    s3 = parsed(cluster=True)["services"]["s3"]["environment"]
    assert s3["AWS_ACCESS_KEY_ID"] == "${FIRNLINE_ACCESS_KEY:?set it in .env}"
    assert s3["AWS_SECRET_ACCESS_KEY"] == "${FIRNLINE_SECRET_KEY:?set it in .env}"


def test_what_is_named_is_there() -> None:
    """Every service a service waits for, every config and every volume it mounts is in the file."""
    found = parsed(cluster=True)
    for service in found["services"].values():
        assert set(service.get("depends_on", ())) <= set(found["services"])
        assert {config["source"] for config in service.get("configs", ())} <= set(found["configs"])
        assert {volume.split(":")[0] for volume in service.get("volumes", ())} <= set(found["volumes"])


def test_the_cluster_has_a_master_and_two_workers() -> None:
    """Without --cluster there is no Spark; with it, one master and two workers that know it."""
    assert not any("spark" in name for name in parsed(cluster=False)["services"])
    services = parsed(cluster=True)["services"]
    workers = [service for name, service in services.items() if name.startswith("spark-worker")]
    assert [worker["command"].split()[-1] for worker in workers] == ["spark://spark-master:7077"] * 2


def test_its_glue_is_strict(tmp_path: Path) -> None:
    """The command and the module the file carries make a server that refuses a stale VersionId."""
    found = parsed(cluster=False)
    source = found["configs"]["strict-glue"]["content"].replace("$$", "$")
    (tmp_path / "strict_glue.py").write_text(source)
    port = addresses.ports(tmp_path / "ports.json", ("main",))["main"]
    program, option, text = found["services"]["aws"]["entrypoint"]
    assert program == "python"
    text = text.replace("0.0.0.0", addresses.HOST).replace("5000", str(port))  # noqa: S104
    process = processes.start(
        [sys.executable, option, text],
        folder=tmp_path,
        log=tmp_path / "log",
        pid_file=tmp_path / "pid",
        env={**os.environ, **found["services"]["aws"]["environment"], "PYTHONPATH": str(tmp_path)},
    )
    try:
        while addresses.is_free(port):
            assert not processes.is_gone(process), (tmp_path / "log").read_text()
            time.sleep(0.05)
        keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
        glue = boto3.client("glue", endpoint_url=f"http://{addresses.HOST}:{port}", region_name="us-east-1", **keys)
        glue.create_database(DatabaseInput={"Name": "d"})
        glue.create_table(DatabaseName="d", TableInput={"Name": "t"})
        with pytest.raises(ClientError, match="ConcurrentModificationException"):
            glue.update_table(DatabaseName="d", TableInput={"Name": "t"}, VersionId="7")
    finally:
        processes.stop(process)

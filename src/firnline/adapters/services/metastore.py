"""Hive: the metastore 2.3.10 that pyspark brings along, on a Derby database in the service's folder.

It listens on loopback only and asks for no credentials, as a metastore without Kerberos does. It writes no file of any
table: for each database and table on S3 it makes an empty folder on this disk (java/LoopbackMetastore.java).
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import closing
from xml.sax.saxutils import escape

from firnline.adapters.local import machine
from firnline.adapters.services import jvm
from firnline.adapters.services.addresses import HOST
from firnline.adapters.services.values import WAREHOUSE, Launch, Seat, Service

_OPENED = ("lang", "lang.invoke", "lang.reflect", "io", "net", "nio", "util", "util.concurrent")
_LOG4J = b"""rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %p %c{1}: %m%n
"""
# A call of get_all_databases in thrift's binary protocol, and how a reply to it begins: enough to see that it works,
# without the thrift library.
_METHOD = b"get_all_databases"
_CALL = b"\x80\x01\x00\x01" + len(_METHOD).to_bytes(4, "big") + _METHOD + b"\x00\x00\x00\x01" + b"\x00"
_REPLY = b"\x80\x01\x00\x02"
_REPLY_BYTES_MAX = 1 << 16  # all of it: a connection closed with half a reply unread is an error in the server's log
_SECONDS_MAX = 5.0


def _launch(seat: Seat) -> Launch:
    conf = seat.folder / "conf"
    machine.write_once(conf / "hive-site.xml", _site(seat).encode())
    log4j = machine.write_once(conf / "log4j2.properties", _LOG4J)
    options = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in _OPENED]
    options += [f"-Dderby.stream.error.file={seat.folder / 'derby.log'}", f"-Dlog4j2.configurationFile={log4j}"]
    class_path = [str(conf), str(jvm.pyspark_jars() / "*")]
    return jvm.launch(seat.home, "LoopbackMetastore", class_path, [str(seat.ports["main"])], options)


def _site(seat: Seat) -> str:
    settings = {
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={seat.data / 'derby'};create=true",
        "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
        "datanucleus.schema.autoCreateAll": "true",
        "datanucleus.connectionPoolingType": "hikaricp",
        "datanucleus.connectionPool.maxPoolSize": "50",  # a dozen that want locks wait for each other with ten
        # Columns of an Iceberg table are renamed, moved and dropped as people like: its files know them by id.
        "hive.metastore.disallow.incompatible.col.type.changes": "false",
        "hive.metastore.schema.verification": "false",
        "hive.async.log.enabled": "false",
        "hive.metastore.warehouse.dir": WAREHOUSE,
        "fs.s3.impl": "LoopbackMetastore$Shadow",
        "fs.s3a.impl": "LoopbackMetastore$Shadow",
        "firnline.shadow": str(seat.data / "shadow"),
    }
    lines = (
        f"<property><name>{name}</name><value>{escape(value)}</value></property>" for name, value in settings.items()
    )
    return "<configuration>\n" + "\n".join(lines) + "\n</configuration>\n"


def _answers(seat: Seat) -> bool:
    try:
        with closing(socket.create_connection((HOST, seat.ports["main"]), timeout=_SECONDS_MAX)) as connection:
            connection.sendall(_CALL)
            return connection.recv(_REPLY_BYTES_MAX).startswith(_REPLY)
    except OSError:
        return False


def _stands_for(seat: Seat) -> tuple[str, Mapping[str, str]]:
    uri = f"thrift://{HOST}:{seat.ports['main']}"
    return uri, {"uri": uri}


LIMITS = (
    "It asks nobody who they are, as a metastore without Kerberos does.",
    "It makes no folders on S3: for each database and table an empty one lies under data/shadow.",
)
SERVICE = Service(
    "hive", "Hive Metastore 2.3.10 (from pyspark, on Derby)", _launch, _answers, _stands_for, LIMITS, needs=("s3",)
)

"""Reads one table with PySail and prints the hash of its rows. The request comes on standard input.

PySail is a server written in Rust that speaks Spark Connect. It takes a table's folder and reads the newest metadata it
finds there, without any catalog: one more reader that shares no code with the others.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from firnline.core.types import struct_from_json, to_json
from firnline.facts.meta import TableMeta


def asked(meta: TableMeta) -> dict[str, Any]:
    """What PySail is to read: the folder, and the columns by name and id."""
    return {"folder": meta.table_location, "schema": to_json(meta.schema.struct)}


def main() -> None:
    """Read, hash, print."""
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    from firnline.adapters.parquet import rowhash
    from firnline.proof.values import ReadRequest

    request = json.load(sys.stdin)
    struct = struct_from_json(request["schema"])
    server = SparkConnectServer()
    server.start(background=True)
    _, port = server.listening_address
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    table = spark.read.format("iceberg").load(request["folder"]).select(*(field.name for field in struct.fields))
    ids = frozenset(field.id for field in struct.fields if field.id is not None)
    seen = rowhash.tally(table.toArrow().to_batches(), ReadRequest("", None, struct, struct, ids))
    print(f"{seen.rows} rows, {seen.whole}")
    spark.stop()  # first: without its server the session would try to say goodbye for ten minutes
    server.stop()


if __name__ == "__main__":
    main()

"""The stack as a docker-compose file, for who runs containers anyway: the same servers, on loopback only.

Images are named by tag. The file holds no credential: they come from an `.env` beside it.
"""

from __future__ import annotations

from pathlib import Path

from firnline.adapters.services.values import BUCKET, REGION, WAREHOUSE

_STRICT_GLUE = Path(__file__).with_name("strict_glue.py")  # read, not imported: moto need not be installed for this
_HEAD = """\
# The local stack of Firnline as containers, on loopback only. Put credentials of your own into .env beside this file:
#   FIRNLINE_ACCESS_KEY=firnline
#   FIRNLINE_SECRET_KEY=<`openssl rand -hex 20`>
# Then: docker compose up --wait
# The REST catalog and the metastore ask nobody who they are. Glue and DynamoDB live in memory, and end with theirs.
name: firnline

x-keys: &keys
  AWS_ACCESS_KEY_ID: ${FIRNLINE_ACCESS_KEY:?set it in .env}
  AWS_SECRET_ACCESS_KEY: ${FIRNLINE_SECRET_KEY:?set it in .env}
  AWS_REGION: {region}

services:
  s3:
    image: chrislusf/seaweedfs:4.48
    # The keys above become the administrator's: with them set, nobody gets in without a signature.
    command: >-
      mini -dir=/data -ip=s3 -ip.bind=0.0.0.0 -master.telemetry=false -webdav=false -admin.ui=false -bucket={bucket}
    environment:
      <<: *keys
      GOMEMLIMIT: 256MiB
    ports: ["127.0.0.1:${FIRNLINE_S3_PORT:-8333}:8333"]
    volumes: ["s3:/data"]
    healthcheck: &health
      test: ["CMD-SHELL", "nc -z 127.0.0.1 8333"]
      interval: 2s
      timeout: 5s
      retries: 60

  hive:
    image: apache/hive:3.1.3
    user: "0" # the volume is root's
    environment:
      SERVICE_NAME: metastore
      IS_RESUME: ${FIRNLINE_HIVE_RESUME:-false} # true from the second start on: the image makes its schema at each
    ports: ["127.0.0.1:${FIRNLINE_HIVE_PORT:-9083}:9083"]
    configs:
      - source: hive-site
        target: /opt/hive/conf/hive-site.xml
    volumes: ["hive:/data"]

  rest:
    image: apache/iceberg-rest-fixture:1.10.1
    user: "0" # the volume is root's
    depends_on:
      s3: {condition: service_healthy}
    environment:
      <<: *keys
      CATALOG_URI: jdbc:sqlite:/data/catalog.db
      CATALOG_WAREHOUSE: {warehouse}
      CATALOG_IO__IMPL: org.apache.iceberg.aws.s3.S3FileIO
      CATALOG_S3_ENDPOINT: http://s3:8333
      CATALOG_S3_PATH__STYLE__ACCESS: "true"
    ports: ["127.0.0.1:${FIRNLINE_REST_PORT:-8181}:8181"]
    volumes: ["rest:/data"]

  aws:
    # Glue and DynamoDB. Glue is made strict: without it, concurrent commits overwrite each other in silence.
    image: motoserver/moto:5.2.5
    environment:
      PYTHONPATH: /firnline
    entrypoint:
      - python
      - -c
      - import strict_glue, moto.server; strict_glue.make_strict(); moto.server.main(["-H", "0.0.0.0", "-p", "5000"])
    ports: ["127.0.0.1:${FIRNLINE_AWS_PORT:-5000}:5000"]
    configs:
      - source: strict-glue
        target: /firnline/strict_glue.py
"""
_CLUSTER = """\

  # A small Spark cluster. Its Python must be of the same minor version as the one that starts the session.
  spark-master:
    image: apache/spark:4.1.4-scala2.13-java17-python3-ubuntu
    command: >-
      /opt/spark/bin/spark-class org.apache.spark.deploy.master.Master
      --host spark-master --port 7077 --webui-port 8080
    environment: &spark
      <<: *keys
    ports:
      - "127.0.0.1:${FIRNLINE_SPARK_PORT:-7077}:7077"
      - "127.0.0.1:${FIRNLINE_SPARK_UI_PORT:-8080}:8080"
    healthcheck:
      <<: *health
      test: ["CMD-SHELL", "bash -c '</dev/tcp/127.0.0.1/8080'"]

  spark-worker-1: &worker
    image: apache/spark:4.1.4-scala2.13-java17-python3-ubuntu
    command: >-
      /opt/spark/bin/spark-class org.apache.spark.deploy.worker.Worker
      --cores 1 --memory 1g spark://spark-master:7077
    environment: *spark
    depends_on:
      spark-master: {condition: service_healthy}

  spark-worker-2:
    <<: *worker
"""
_TAIL = """\

configs:
  hive-site:
    content: |
      <configuration>
        <property>
          <name>javax.jdo.option.ConnectionURL</name>
          <value>jdbc:derby:;databaseName=/data/derby;create=true</value>
        </property>
        <property>
          <name>javax.jdo.option.ConnectionDriverName</name>
          <value>org.apache.derby.jdbc.EmbeddedDriver</value>
        </property>
        <property><name>hive.metastore.warehouse.dir</name><value>{warehouse}</value></property>
        <!-- The metastore makes a folder for each database and table: on its own disk, the bucket is the writer's. -->
        <property>
          <name>fs.s3.impl</name>
          <value>org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme</value>
        </property>
        <property><name>fs.viewfs.mounttable.{bucket}.linkFallback</name><value>file:///data/shadow</value></property>
      </configuration>
  strict-glue:
    content: |
{strict}
volumes:
  s3: {}
  hive: {}
  rest: {}
"""


def text(*, cluster: bool) -> str:
    """The file; with `cluster`, a Spark master and two workers besides."""
    # Compose replaces $NAME in contents, too; $$ is a dollar.
    source = _STRICT_GLUE.read_text(encoding="utf-8").replace("$", "$$")
    strict = "".join(f"      {line}".rstrip() + "\n" for line in source.splitlines())
    whole = _HEAD + (_CLUSTER if cluster else "") + _TAIL
    words = {"bucket": BUCKET, "region": REGION, "warehouse": WAREHOUSE, "strict": strict}
    for name, value in words.items():
        whole = whole.replace("{" + name + "}", value)
    return whole

"""The keys of lakehouse.yaml, with what each means. The file is read by it and editors' schemas are made of it."""

from __future__ import annotations

from firnline.config.policies import POLICY
from firnline.config.shapes import Key, Named, Number, Record, Text, Written

FILE = "lakehouse.yaml"
VERSION = 1
# Iceberg's own catalogs and ours. All are read and kept; which of them are wired is for the composition root to say.
CATALOG_TYPES = ("sqlite", "glue", "s3tables", "rest", "hive", "jdbc", "nessie", "hadoop", "dynamodb", "bigquery")
STATE_TYPES = ("sqlite", "dynamodb")
PROPERTY = Written()
SERVICES = Key(Text("local", ("local",)), "local: the servers that `firnline local up` starts stand for it.")
REGION = Key(PROPERTY, "The AWS region; that of the environment or profile unless said.")
PROFILE = Key(PROPERTY, "The AWS profile.")
ROLE = Key(PROPERTY, "The ARN of a role to assume.")

CATALOG = Record(
    "catalog",
    {
        "type": Key(Text("a catalog type", CATALOG_TYPES), "Which catalog it is.", required=True),
        "uri": Key(PROPERTY, "Where it is; of a sqlite catalog its file, `.lake/catalog.db` unless said."),
        "warehouse": Key(PROPERTY, "Where tables go that do not say; of a sqlite catalog `warehouse` unless said."),
        "region": REGION,
        "profile": PROFILE,
        "role": ROLE,
        "services": SERVICES,
    },
    others=PROPERTY,
)
STATE = Record(
    "state",
    {
        "type": Key(Text("a kind of state", STATE_TYPES), "Where leases and the ledger are kept; sqlite unless said."),
        "path": Key(PROPERTY, "The file of a sqlite state, `.lake/state.db` unless said."),
        "table": Key(PROPERTY, "The table of a dynamodb state, `firnline` unless said."),
        "region": REGION,
        "profile": PROFILE,
        "role": ROLE,
        "services": SERVICES,
    },
    others=PROPERTY,
)
ENGINE = Record(
    "engine",
    {
        "type": Key(Text("an engine", ("spark",)), "What runs the heavy work."),
        "master": Key(PROPERTY, "Spark's master; local[2] unless said."),
        "conf": Key(Named(PROPERTY, "SETTING"), "Spark settings of your own, on top of ours."),
    },
)
JARS = Record(
    "jars",
    {
        "folder": Key(PROPERTY, "A folder that has the jars: nothing is fetched then."),
        "ivy_settings": Key(PROPERTY, "An Ivy settings file that names your mirror."),
        "iceberg": Key(PROPERTY, "The Iceberg release, of those we pin; the newest unless said."),
    },
)
ENVIRONMENT = Record(
    "environment",
    {
        "access": Key(
            Text("write or read", ("write", "read")), "read: nothing is written, not even state. write unless said."
        ),
        "catalogs": Key(
            Named(CATALOG, "CATALOG", length_min=1),
            "The catalogs by name, the same names in every environment; commands work on the first.",
            required=True,
        ),
        "state": Key(STATE, "Where leases and the ledger are kept."),
        "engine": Key(ENGINE, "What runs the heavy work."),
        "jars": Key(JARS, "Where Spark's jars come from."),
    },
)
NAMESPACE = Record(
    "namespace",
    {
        "location": Key(PROPERTY, "Where its new tables go, when not under the warehouse.", nullable=True),
        "owner": Key(Text(), "Who answers for it.", nullable=True),
        "properties": Key(Named(PROPERTY, "PROPERTY"), "The namespace's properties in the catalog."),
        "policy": Key(POLICY, "Upkeep policy of its tables."),
    },
)
LAKEHOUSE = Record(
    "lakehouse",
    {
        "version": Key(Number(1), f"The version of this file's grammar: {VERSION}.", required=True),
        "name": Key(Text("a name", length_min=1), "What the lakehouse is called.", required=True),
        "default": Key(Text("an environment"), "The environment when neither --env nor FIRNLINE_ENV says."),
        "environments": Key(Named(ENVIRONMENT, "ENVIRONMENT", length_min=1), "Where it runs.", required=True),
        "namespaces": Key(Named(NAMESPACE, "NAMESPACE"), "Namespaces with properties and locations of their own."),
        "policy": Key(POLICY, "Upkeep policy of every table."),
    },
)

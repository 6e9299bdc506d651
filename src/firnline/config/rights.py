"""Every right an environment on AWS needs, as data: which call needs which IAM action, on what, and why.

`firnline iam-policy` writes a policy from this table and `firnline doctor` names what is missing from it. A test holds
it against the calls the adapters make, both ways: no call without its right, no right without its call.

Calls are named as botocore names them. The operations of an Iceberg REST catalog are named as its specification does,
under `glue-rest` and `s3tables-rest`; what they need is what AWS's tables of IAM actions say. `spark` are calls that
only Spark's own clients make.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LOOK, EXAMINE, OPERATE = "look", "examine", "operate"

# What a right is about. Each becomes one statement of a policy, with the ARNs and conditions that fit.
BUCKET = "bucket"
LISTING = "listing"  # of the bucket, below the warehouse only
FILES = "files"
CATALOG = "catalog"  # Glue's: catalog, databases and tables together, as every call of Glue is checked against all
STATE = "state"
KEY = "key"  # through S3 only
KEY_ITSELF = "key itself"
TABLE_BUCKET = "table bucket"
ITS_TABLES = "its tables"
ACCOUNT = "account"  # actions that know no resource
VENDED = "vended"  # the same, where the catalog hands out credentials to files

GLUE_REST, S3TABLES_REST, SPARK = "glue-rest", "s3tables-rest", "spark"


@dataclass(frozen=True, slots=True)
class Right:
    """One action that one call needs. `purpose` is look, examine (what doctor alone asks) or operate."""

    service: str
    operation: str
    action: str
    on: str
    purpose: str
    why: str


def _s3() -> Iterable[Right]:
    yield Right("s3", "ListObjectsV2", "s3:ListBucket", LISTING, LOOK, "which files there are")
    yield Right("s3", "GetObject", "s3:GetObject", FILES, LOOK, "metadata, manifests, data")
    yield Right("s3", "GetObject", "kms:Decrypt", KEY, LOOK, "files that are encrypted with a key of yours")
    yield Right("s3", "HeadObject", "s3:GetObject", FILES, LOOK, "whether a file is there, and its size")
    yield Right("s3", "ListObjectVersions", "s3:ListBucketVersions", LISTING, LOOK, "what could be brought back")
    yield Right("s3", "GetObjectTagging", "s3:GetObjectTagging", FILES, LOOK, "how a file is marked")
    yield Right("s3", "GetBucketLocation", "s3:GetBucketLocation", BUCKET, EXAMINE, "the region of the bucket")
    yield Right("s3", "GetPublicAccessBlock", "s3:GetBucketPublicAccessBlock", BUCKET, EXAMINE, "who could be let in")
    yield Right("s3", "GetBucketPolicy", "s3:GetBucketPolicy", BUCKET, EXAMINE, "whom the bucket refuses or lets in")
    yield Right(
        "s3", "GetBucketVersioning", "s3:GetBucketVersioning", BUCKET, EXAMINE, "whether deleting can be undone"
    )
    yield Right("s3", "GetBucketEncryption", "s3:GetEncryptionConfiguration", BUCKET, EXAMINE, "which key is used")
    yield Right(
        "s3", "GetBucketNotificationConfiguration", "s3:GetBucketNotification", BUCKET, EXAMINE, "who is told of files"
    )
    yield Right(
        "s3", "GetBucketLifecycleConfiguration", "s3:GetLifecycleConfiguration", BUCKET, EXAMINE,
        "whether S3 deletes or archives files of tables",
    )  # fmt: skip
    yield Right("s3", "PutObject", "s3:PutObject", FILES, OPERATE, "new files")
    yield Right("s3", "PutObject", "kms:GenerateDataKey", KEY, OPERATE, "files encrypted with a key of yours")
    yield Right("s3", "UploadPart", "s3:PutObject", FILES, OPERATE, "doctor: a part for an upload that is not there")
    yield Right("s3", "DeleteObjects", "s3:DeleteObject", FILES, OPERATE, "files no snapshot needs")
    yield Right("s3", "DeleteObject", "s3:DeleteObject", FILES, OPERATE, "files no snapshot needs")
    yield Right("s3", "DeleteObject", "s3:DeleteObjectVersion", FILES, OPERATE, "a deletion that is taken back")
    yield Right("s3", "PutObjectTagging", "s3:PutObjectTagging", FILES, OPERATE, "marks on files")
    yield Right(SPARK, "AbortMultipartUpload", "s3:AbortMultipartUpload", FILES, OPERATE, "a write that failed halfway")


def _glue() -> Iterable[Right]:
    yield Right("glue", "GetDatabases", "glue:GetDatabases", CATALOG, LOOK, "which databases there are")
    yield Right("glue", "GetDatabase", "glue:GetDatabase", CATALOG, LOOK, "one database")
    yield Right("glue", "GetTables", "glue:GetTables", CATALOG, LOOK, "which tables there are")
    yield Right("glue", "GetTable", "glue:GetTable", CATALOG, LOOK, "where a table's metadata is")
    yield Right("glue", "GetTableVersions", "glue:GetTableVersions", CATALOG, EXAMINE, "how near the limits are")
    yield Right("glue", "CreateDatabase", "glue:CreateDatabase", CATALOG, OPERATE, "namespaces")
    yield Right("glue", "UpdateDatabase", "glue:UpdateDatabase", CATALOG, OPERATE, "properties of namespaces")
    yield Right("glue", "CreateTable", "glue:CreateTable", CATALOG, OPERATE, "new tables")
    yield Right("glue", "UpdateTable", "glue:UpdateTable", CATALOG, OPERATE, "every commit")
    yield Right("glue", "DeleteTable", "glue:DeleteTable", CATALOG, OPERATE, "tables that are dropped")
    yield Right(
        "lakeformation", "GetDataLakeSettings", "lakeformation:GetDataLakeSettings", ACCOUNT, EXAMINE,
        "whether IAM alone decides",
    )  # fmt: skip


def _state() -> Iterable[Right]:
    yield Right("dynamodb", "DescribeTable", "dynamodb:DescribeTable", STATE, EXAMINE, "whether the state is there")
    yield Right("dynamodb", "GetItem", "dynamodb:GetItem", STATE, LOOK, "leases")
    yield Right("dynamodb", "BatchGetItem", "dynamodb:BatchGetItem", STATE, LOOK, "the ledger")
    yield Right("dynamodb", "Query", "dynamodb:Query", STATE, LOOK, "the ledger")
    yield Right("dynamodb", "UpdateItem", "dynamodb:UpdateItem", STATE, OPERATE, "leases")
    yield Right("dynamodb", "PutItem", "dynamodb:PutItem", STATE, OPERATE, "the ledger")
    yield Right("dynamodb", "TransactWriteItems", "dynamodb:PutItem", STATE, OPERATE, "the ledger")
    yield Right("dynamodb", "TransactWriteItems", "dynamodb:DeleteItem", STATE, OPERATE, "intents that are settled")
    yield Right("dynamodb", "CreateTable", "dynamodb:CreateTable", STATE, OPERATE, "the state, at the first run")
    yield Right(
        "dynamodb", "DescribeContinuousBackups", "dynamodb:DescribeContinuousBackups", STATE, OPERATE,
        "the state, at the first run",
    )  # fmt: skip
    yield Right(
        "dynamodb", "UpdateContinuousBackups", "dynamodb:UpdateContinuousBackups", STATE, OPERATE,
        "the state, at the first run",
    )  # fmt: skip


def _others() -> Iterable[Right]:
    yield Right("sts", "GetCallerIdentity", "sts:GetCallerIdentity", ACCOUNT, EXAMINE, "whose credentials these are")
    yield Right("kms", "DescribeKey", "kms:DescribeKey", KEY_ITSELF, EXAMINE, "whether the key can be used")
    yield Right("s3tables", "GetTableBucket", "s3tables:GetTableBucket", TABLE_BUCKET, EXAMINE, "whether it is there")


def _glue_rest() -> Iterable[Right]:
    """Glue translates every operation of its Iceberg endpoint into one of its own and checks that one."""
    for operation, action, purpose, why in (
        ("getConfig", "glue:GetCatalog", LOOK, "which catalog it is"),
        ("listNamespaces", "glue:GetDatabases", LOOK, "which namespaces there are"),
        ("listNamespaces", "glue:GetDatabase", LOOK, "which namespaces there are"),
        ("loadNamespaceMetadata", "glue:GetDatabase", LOOK, "properties of a namespace"),
        ("listTables", "glue:GetTables", LOOK, "which tables there are"),
        ("loadTable", "glue:GetTable", LOOK, "a table's metadata"),
        ("createNamespace", "glue:CreateDatabase", OPERATE, "namespaces"),
        ("updateProperties", "glue:UpdateDatabase", OPERATE, "properties of namespaces"),
        ("createTable", "glue:CreateTable", OPERATE, "new tables"),
        ("updateTable", "glue:UpdateTable", OPERATE, "every commit"),
        ("dropTable", "glue:DeleteTable", OPERATE, "tables that are dropped"),
    ):
        yield Right(GLUE_REST, operation, action, CATALOG, purpose, why)
    yield Right(GLUE_REST, "loadTable", "lakeformation:GetDataAccess", VENDED, LOOK, "credentials that are handed out")


def _s3tables_rest() -> Iterable[Right]:
    for operation, action, on, purpose, why in (
        ("getConfig", "s3tables:GetTableBucket", TABLE_BUCKET, LOOK, "which table bucket it is"),
        ("listNamespaces", "s3tables:ListNamespaces", TABLE_BUCKET, LOOK, "which namespaces there are"),
        ("loadNamespaceMetadata", "s3tables:GetNamespace", TABLE_BUCKET, LOOK, "properties of a namespace"),
        ("listTables", "s3tables:ListTables", TABLE_BUCKET, LOOK, "which tables there are"),
        ("loadTable", "s3tables:GetTableMetadataLocation", ITS_TABLES, LOOK, "where a table's metadata is"),
        ("loadTable", "s3tables:GetTableData", ITS_TABLES, LOOK, "metadata, manifests, data"),
        ("createNamespace", "s3tables:CreateNamespace", TABLE_BUCKET, OPERATE, "namespaces"),
        ("createTable", "s3tables:CreateTable", TABLE_BUCKET, OPERATE, "new tables"),
        ("createTable", "s3tables:CreateTable", ITS_TABLES, OPERATE, "new tables"),
        ("createTable", "s3tables:PutTableData", ITS_TABLES, OPERATE, "new files"),
        ("updateTable", "s3tables:UpdateTableMetadataLocation", ITS_TABLES, OPERATE, "every commit"),
        ("updateTable", "s3tables:PutTableData", ITS_TABLES, OPERATE, "new files"),
        ("dropTable", "s3tables:DeleteTable", ITS_TABLES, OPERATE, "tables that are dropped"),
        ("renameTable", "s3tables:RenameTable", ITS_TABLES, OPERATE, "tables that are renamed"),
    ):
        yield Right(S3TABLES_REST, operation, action, on, purpose, why)
    yield Right(
        S3TABLES_REST, "loadTable", "lakeformation:GetDataAccess", VENDED, LOOK, "credentials that are handed out"
    )


RIGHTS: tuple[Right, ...] = (*_s3(), *_glue(), *_state(), *_others(), *_glue_rest(), *_s3tables_rest())


def actions_of(service: str, operation: str) -> tuple[str, ...]:
    """The actions a call needs, the main one first."""
    return tuple(right.action for right in RIGHTS if (right.service, right.operation) == (service, operation))


def purpose_of(action: str) -> str:
    """What an action is first needed for; looking comes before examining, and that before operating."""
    purposes = {right.purpose for right in RIGHTS if right.action == action}
    return next((each for each in (LOOK, EXAMINE) if each in purposes), OPERATE)

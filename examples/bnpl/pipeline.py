"""Bronze → silver → gold with PySpark: plain functions from DataFrames to DataFrames, and one writer per layer."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - the name every PySpark reader expects

RAW = "bronze.bnpl_transactions_raw"
CLEAN = "silver.bnpl_transactions_clean"
SUMMARY = "gold.bnpl_daily_summary"
PROFILES = "gold.customer_profiles"


def land(session: SparkSession, delivered: DataFrame) -> None:
    """Append a delivery to bronze, exactly as it came."""
    delivered.createOrReplaceTempView("delivered")
    session.sql(f"INSERT INTO {RAW} SELECT * FROM delivered")


def clean(delivered: DataFrame, columns: list[str]) -> DataFrame:
    """One row per transaction: what lacks an id, a customer or a time is left in bronze; the last delivery wins."""
    newest = Window.partitionBy("transaction_id").orderBy(F.desc("ingested_at"))
    whole = delivered.where("transaction_id IS NOT NULL AND customer_id IS NOT NULL AND occurred_at IS NOT NULL")
    return (
        whole.withColumn("nth", F.row_number().over(newest))
        .where("nth = 1")
        .withColumn("amount", F.expr("try_cast(replace(amt, ',', '') AS decimal(12,2))"))
        .withColumn("email", F.col("customer.email"))
        .withColumn("risk_band", F.col("customer.risk_band"))
        .withColumn("merchant_name", F.col("merchant"))
        .select(*columns)
    )


def merge_silver(session: SparkSession, delivered: DataFrame) -> None:
    """Fold a delivery into silver: known transactions are updated when the delivery is newer, others are added."""
    columns = session.table(CLEAN).columns
    clean(delivered, columns).createOrReplaceTempView("fresh")
    session.sql(
        f"MERGE INTO {CLEAN} AS old USING fresh AS new ON old.transaction_id = new.transaction_id "
        "WHEN MATCHED AND new.ingested_at > old.ingested_at THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *"
    )


def build_gold(session: SparkSession) -> None:
    """Rewrite the days and the profiles from silver."""
    silver = session.table(CLEAN)
    merchant = "merchant_name" if "merchant_name" in silver.columns else "merchant"
    summary(silver).writeTo(SUMMARY).overwritePartitions()
    profiles(silver, merchant).writeTo(PROFILES).overwritePartitions()


def summary(silver: DataFrame) -> DataFrame:
    """What was lent per day and currency."""
    approved = F.col("status") == "approved"
    return silver.groupBy(F.to_date("occurred_at").alias("day"), "currency").agg(
        F.count("*").alias("transactions"),
        F.countDistinct("customer_id").alias("customers"),
        F.sum(F.when(approved, F.col("amount"))).cast("decimal(28,2)").alias("lent"),
        F.count(F.when(F.col("status") == "refused", 1)).alias("refused"),
    )


def profiles(silver: DataFrame, merchant: str) -> DataFrame:
    """Each customer at a glance."""
    return silver.groupBy("customer_id").agg(
        F.count("*").alias("transactions"),
        F.sum("amount").cast("decimal(28,2)").alias("lent"),
        F.max("amount").cast("decimal(18,2)").alias("largest"),
        F.max("occurred_at").alias("last_seen"),
        F.slice(F.sort_array(F.collect_set(merchant)), 1, 3).alias("favourite_merchants"),
    )

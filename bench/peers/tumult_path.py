"""Tumult Analytics on Spark, local with all cores: a session over the file, the same cells, a count at epsilon 1."""

import os
import sys
import tempfile

from clock import told
from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

os.environ["PYSPARK_PYTHON"] = sys.executable
SPARK = (
    SparkSession.builder.master("local[*]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "4")
    .config("spark.driver.memory", "4g")
    .config("spark.sql.warehouse.dir", tempfile.mkdtemp())
    .getOrCreate()
)


def job(data: str, keys: str, out: str) -> None:
    people = SPARK.read.parquet(data)
    session = Session.from_dataframe(PureDPBudget(1), "people", people, protected_change=AddOneRow())
    query = QueryBuilder("people").groupby(KeySet.from_dataframe(SPARK.read.parquet(keys))).count(name="value")
    session.evaluate(query, PureDPBudget(1)).write.parquet(out)


told(job, ("tmlt.analytics", "pyspark"))
# The Java machine is waited for, as its time would otherwise be nobody's.
gateway = SPARK.sparkContext._gateway  # noqa: SLF001
SPARK.stop()
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait()

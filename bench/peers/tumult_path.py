"""Tumult Analytics on Spark: a group-by over a public key set, geometric noise at epsilon 1."""

import sys

from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

data, keys, out = sys.argv[1:]
spark = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
session = Session.from_dataframe(PureDPBudget(1), "people", spark.read.parquet(data), protected_change=AddOneRow())
query = QueryBuilder("people").groupby(KeySet.from_dataframe(spark.read.parquet(keys))).count(name="value")
session.evaluate(query, PureDPBudget(1)).write.parquet(out)

"""Tumult Analytics on the Spark that ours is measured on, local with two cores: cells, a count at epsilon 1, files.

`tumult_spark_path.py SIZES DATA OUT …`, three words a job: the public codes of the columns are told as numbers of them.
Each job's CPU seconds are a line of their own.
"""

import json
import os
import sys
import tempfile
from importlib.metadata import version

from clock import cpu
from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

os.environ["PYSPARK_PYTHON"] = sys.executable
SPARK = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "4")
    .config("spark.driver.memory", "3g")
    .config("spark.driver.extraJavaOptions", "-XX:+UseParallelGC")
    .config("spark.sql.warehouse.dir", tempfile.mkdtemp())
    .getOrCreate()
)


def job(sizes: dict[str, int], data: str, out: str) -> None:
    jobs = SPARK.read.parquet(data).select(*sizes)
    session = Session.from_dataframe(PureDPBudget(1), "jobs", jobs, protected_change=AddOneRow())
    keys = KeySet.from_dict({name: [f"{name[0]}{code:03}" for code in range(size)] for name, size in sizes.items()})
    query = QueryBuilder("jobs").groupby(keys).count(name="value")
    session.evaluate(query, PureDPBudget(1)).write.parquet(out)


print(json.dumps({"versions": [version(name) for name in ("tmlt.analytics", "pyspark")]}), flush=True)
for sizes, data, out in zip(*(sys.argv[place::3] for place in (1, 2, 3)), strict=True):
    start = cpu()
    job(json.loads(sizes), data, out)
    print(json.dumps({"cpu": cpu() - start}), flush=True)  # at once, as the next may be ended before it is done
# The Java machine is waited for, as its time would otherwise be nobody's.
gateway = SPARK.sparkContext._gateway  # noqa: SLF001
SPARK.stop()
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait()

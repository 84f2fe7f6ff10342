"""SmartNoise SQL over a pandas frame: one count by the four columns at epsilon 1; it knows no list of cells."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import snsql
from clock import told

BY = ["state", "occupation", "sex", "age"]
COLUMNS = {name: {"type": "string"} for name in BY}
# Rows are the units, small counts are kept, and negative ones stay as they are: the same law as everyone's.
TOLD = {"row_privacy": True, "rows": 1_000_000, "censor_dims": False, "clamp_counts": False}
METADATA = {"": {"people": {"people": TOLD | COLUMNS}}}


def job(data: str, keys: str, out: str) -> None:  # noqa: ARG001 - there is no way to say which cells there are
    people = pd.read_parquet(data, columns=BY)
    reader = snsql.from_df(people, privacy=snsql.Privacy(epsilon=1.0, delta=1e-9), metadata=METADATA)
    named = ", ".join(BY)
    head, *rows = reader.execute(f"SELECT {named}, COUNT(*) AS value FROM people.people GROUP BY {named}")
    columns = dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(columns), out)


told(job, ("smartnoise-sql", "opendp"))

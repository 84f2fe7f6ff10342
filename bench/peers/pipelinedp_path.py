"""PipelineDP on its local backend: the same public partitions, one row a privacy unit, Laplace noise at epsilon 1."""

import pipeline_dp
import pyarrow as pa
import pyarrow.parquet as pq
from clock import told

BY = ["state", "occupation", "sex", "age"]


def job(data: str, keys: str, out: str) -> None:
    rows = list(enumerate(_cells(data)))
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=0)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    asked = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.COUNT],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
    )
    parts = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: 1,  # noqa: ARG005 - a count looks at no value
    )
    found = engine.aggregate(rows, asked, parts, public_partitions=_cells(keys))
    budget.compute_budgets()
    cells, counts = zip(*found, strict=True)
    columns = dict(zip(BY, map(list, zip(*cells, strict=True)), strict=True))
    pq.write_table(pa.table(columns | {"value": [one.count for one in counts]}), out)


def _cells(path: str) -> list[tuple[str, ...]]:
    table = pq.read_table(path, columns=BY)
    return list(zip(*(table[name].to_pylist() for name in BY), strict=True))


told(job, ("pipeline-dp", "python-dp"))

"""OpenDP's Polars path: the same cells from a public list of keys, discrete Laplace noise at epsilon 1."""

import opendp.prelude as dp
import polars as pl
from clock import told

BY = ["state", "occupation", "sex", "age"]
dp.enable_features("contrib")


def job(data: str, keys: str, out: str) -> None:
    context = dp.Context.compositor(
        data=pl.scan_parquet(data),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
    )
    query = context.query().group_by(BY).agg(dp.len(signed=True)).with_keys(pl.scan_parquet(keys))
    query.release().collect().rename({"len": "value"}).write_parquet(out)


told(job, ("opendp", "polars"))

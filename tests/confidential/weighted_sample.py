"""A small weighted sample and how it is asked, shared by the tests of estimates and of refusals."""

from pathlib import Path

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.confidential import Microdata
from sfumato.confidential.estimands import TotalOf
from sfumato.confidential.true_table import TableLayout, true_table
from sfumato.plan import Plan

REST = """
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "1"
[[measure]]
name = "persons"
of = { statistic = "count", weighted = false }
by = ["sex"]
with = { mechanism = "geometric", epsilon = "1" }
"""
SAMPLE = (
    """
name = "sample"
sampling = "a sample"
[data]
unit = "person"
repeated_rows = true
weight = "w"
weight_kind = "base"
replicates = "w{1..4}"
[attributes.sex]
levels = ["f", "m"]
[attributes.region]
levels = [{ code = "N" }, { code = "n1", parent = "N" }, { code = "n2", parent = "N" }, "S"]
[[impossible]]
sex = "m"
region = "S"
"""
    + REST
)


def sample_rows(count: int = 3000, seed: int = 3) -> pa.Table:
    """Weights that are no whole numbers and spread over many orders of magnitude, some replicates negative."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], count)
    weight = rng.lognormal(3, 3, count)
    replicates = {f"w{place}": weight * rng.normal(1, 1, count) for place in range(1, 5)}
    region = np.where(sex == "m", rng.choice(["n1", "n2"], count), rng.choice(["n1", "n2", "S"], count))
    rows = {"sex": sex, "region": region, "w": weight, **replicates, "pay": rng.lognormal(7, 2, count)}
    return pa.table({**rows, "hours": rng.integers(1, 60, count), "turn": rng.permutation(count)})


def asked(plan, data, of=None, rows=(), cols=None, where=None, at=None):
    layout = TableLayout(rows, cols, where or {}, at or {})
    return true_table(plan, Microdata.open(data, plan.schema), layout, of or TotalOf())


def built(count: int | None = None) -> sf.Plan:
    """The sample plan with replicates built from an order of selection."""
    order = 'order = "turn"' + (f"\nreplicates = {count}" if count else "")
    return Plan.parse(SAMPLE.replace('replicates = "w{1..4}"', order), Path("sample.toml"))

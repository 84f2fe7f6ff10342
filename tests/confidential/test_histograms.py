"""Histograms and quantiles as the decision writes them, on every engine that is found, beside numpy.

At an epsilon of 40 a count is off by one in 1e-17 of its draws, and the exponential mechanism takes the nearest value.
"""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.engines.choose import engines

RECORD = Path(__file__).parents[2] / "docs" / "decisions" / "0038-a-histogram-is-a-count-by-bands.md"
BEFORE = """
name = "pay"
[data]
unit = "job"
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "80"
[attributes.place]
levels = ["north", "south"]
"""
ENDS = [0, 10, 20, 30, 50, 80, 200]


@pytest.fixture(scope="module")
def plan():
    (lines,) = re.findall(r"```toml\n(.*?)```", RECORD.read_text(encoding="utf-8"), re.DOTALL)
    return sf.Plan.parse(BEFORE + lines.replace('epsilon = "1"', 'epsilon = "40"'), Path("pay.toml"))


@pytest.mark.parametrize("engine", [name for name, make in engines().items() if not make.afar])
def test_the_lines_of_the_decision_give_numpys_numbers_on_every_engine(plan, engine, tmp_path):
    rng = np.random.default_rng(4)
    pay = {"north": rng.integers(0, 80, 301), "south": np.rint(rng.lognormal(3.4, 0.5, 200)).clip(max=150)}
    places = [place for place, some in pay.items() for _ in some]
    rows = pa.table({"place": places, "pay": np.concatenate(list(pay.values())).astype(np.int64)})
    run(plan, Microdata.open(rows, plan.schema, engine), None, tmp_path / engine, Options(rehearsal=3))
    products = sf.open(tmp_path / engine).release.products
    bands = products["jobs"].domain.attribute("pay").banded
    assert products["jobs"].values[:, bands].tolist() == [np.histogram(some, ENDS)[0].tolist() for some in pay.values()]
    true = np.array([np.quantile(some, 0.5, method="inverted_cdf") for some in pay.values()])
    assert np.abs(products["median"].values - true).max() <= 1, "the nearest of 201 values"
    assert np.abs(products["middle"].values - true).max() <= 4, "within a band of 10, by a smooth density"
    made = sf.open(tmp_path / engine).table("place", of="middle")
    assert all(
        low <= at <= high for (low, high), at in zip((made[one].interval(0.99) for one in pay), true, strict=True)
    )

"""A small plan, its microdata and its release, shared by the tests of every layer."""

import gc
import os
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings

import sfumato as sf
from sfumato.plan import Plan

# What runs remember of their ledgers stays out of the home of whoever runs the tests.
os.environ["SFUMATO_STATE"] = mkdtemp(prefix="sfumato-state-")

# Thousands of tests keep much alive that no collection frees; to look through it as often as Python does takes a tenth
# of the time.
gc.set_threshold(100_000, 50, 50)

# In CI the examples of a property are the same in every run; elsewhere each run looks at new ones.
settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")

collect_ignore_glob = ["*/dropped/*"]
"""Plug-ins that tests drop into the package: they import one another as they will stand there."""

SMALL = """
name = "small"
title = "Jobs by trade and place"
period = "2026-Q1"
[data]
unit = "job"
[attributes.trade]
label = "Trade"
levels = [
  { code = "1", label = "Making" }, { code = "2", label = "Serving" },
  { code = "11", label = "Food", parent = "1" }, { code = "12", label = "Cloth", parent = "1" },
  { code = "21", label = "Shops", parent = "2" }, { code = "22", label = "Care", parent = "2" },
]
[attributes.place]
label = "Place"
levels = ["north", "south", "east"]
[attributes.age]
label = "Age"
bands = [16, 25, 65]
[[impossible]]
trade = ["22"]
age = ["16-24"]
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "2"
[[measure]]
name = "jobs"
of = "count"
by = ["trade", "place", "age"]
with = { mechanism = "geometric", epsilon = "1" }
[[measure]]
name = "pay"
of = { statistic = "total", column = "pay", clip = ["0", "1000"], step = "10", unit = "euros" }
by = ["trade", "place", "age"]
with = { mechanism = "geometric", epsilon = "1" }
"""


def small_rows(count: int = 4000, seed: int = 1) -> pa.Table:
    """Jobs that fit the small plan."""
    rng = np.random.default_rng(seed)
    trade = rng.choice(["11", "12", "21", "22"], count)
    age = np.where(trade == "22", rng.integers(25, 80, count), rng.integers(16, 80, count))
    return pa.table(
        {
            "trade": pa.array(trade.tolist()),
            "place": pa.array(rng.choice(["north", "south", "east"], count).tolist()),
            "age": pa.array(age),
            "pay": pa.array(rng.integers(0, 1200, count)),
        }
    )


@pytest.fixture(scope="session")
def small_plan() -> sf.Plan:
    return Plan.parse(SMALL, Path("small.toml"))


@pytest.fixture
def make_release(small_plan, tmp_path):
    """Make a charged release of the small plan in the test's own folder."""
    from sfumato.confidential import Account, Microdata, Options, run

    def make(name: str = "release", options: Options | None = None, plan: sf.Plan = small_plan) -> Path:
        ledger = tmp_path / "jobs.ledger"
        if not ledger.exists():
            Account.create(ledger, "jobs", plan.hidden, sf.Approximate(20))
        run(plan, Microdata.open(small_rows(), plan.schema), ledger, tmp_path / name, options)
        return tmp_path / name

    return make

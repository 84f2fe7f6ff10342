"""Quarters of a small register of establishments, released as an agency would, for tests of every layer."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.confidential import Microdata, Options, run
from sfumato.plan import Plan

PLAN = """
name = "quarters"
title = "Jobs and wages"
period = "{period}"
[data]
unit = "establishment"
[frame]
file = "frame.parquet"
id = "estab"
[attributes.naics]
label = "Industry"
levels = [
  {{ code = "31", label = "Making" }}, {{ code = "44", label = "Selling" }},
  {{ code = "311", label = "Food", parent = "31" }}, {{ code = "315", label = "Cloth", parent = "31" }},
  {{ code = "445", label = "Grocers", parent = "44" }}, {{ code = "448", label = "Clothes shops", parent = "44" }},
]
[attributes.county]
label = "County"
levels = ["01001", "01003", "01005", "01007"]
[hidden]
neighbours = "square-root-within"
unit = "establishment"
id = "estab"
beta = {{ jobs = "0.5", wages = "50" }}
[limit]
mu = "2"
[[measure]]
name = "rows"
title = "Jobs"
of = {{ statistic = "total", column = "jobs", unit = "jobs" }}
by = ["establishment"]
with = {{ mechanism = "square-root", mu = "0.7" }}
[[measure]]
name = "state"
of = {{ statistic = "total", column = "jobs", unit = "jobs" }}
with = {{ mechanism = "clipped-total", mu = "0.5" }}
given = ["rows"]
[[measure]]
name = "county"
of = {{ statistic = "total", column = "jobs", unit = "jobs" }}
by = ["county"]
with = {{ mechanism = "clipped-total", mu = "0.6" }}
given = ["rows"]
[[then]]
step = "protected-microdata"
name = "jobs"
table = "rows"
to = ["state", "county"]
[[measure]]
name = "wages"
title = "Wages"
of = {{ statistic = "total", column = "wages", unit = "dollars" }}
by = ["establishment"]
with = {{ mechanism = "square-root", mu = "0.5" }}
[[exposure]]
kind = "assumed known"
what = "the frame of establishments"
why = "registers are public"
"""


def written(folder: Path, period: str = "2026-Q1", rows: int = 400, seed: int = 1) -> Path:
    """The plan, the register and the reports of a quarter."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    ids = [f"e{place:04}" for place in range(rows)]
    frame = {
        "estab": ids,
        "naics": rng.choice(["311", "315", "445", "448"], rows, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
        "county": rng.choice(["01001", "01003", "01005", "01007"], rows).tolist(),
    }
    jobs = np.floor(rng.lognormal(2, 1.1, rows)).astype(int)
    pq.write_table(pa.table(frame), folder / "frame.parquet")
    pq.write_table(pa.table({"estab": ids, "jobs": jobs, "wages": jobs * 9000}), folder / "reports.parquet")
    (folder / "plan.toml").write_text(PLAN.format(period=period))
    return folder / "plan.toml"


def released(folder: Path, period: str = "2026-Q1", seed: int = 1) -> Path:
    """A rehearsed release of a quarter."""
    plan = Plan.read(written(folder, period))
    run(plan, Microdata.open(folder / "reports.parquet", plan.schema), None, folder / "out", Options(rehearsal=seed))
    return folder / "out"

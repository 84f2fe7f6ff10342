"""A small plan with a family of tables, its data, and a rehearsal of it: tables of two variables, and one of three."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.confidential import Microdata, Options, run
from sfumato.plan import Plan

PLAN = """
name = "family"
title = "Jobs"
period = "2026"
[data]
unit = "job"
[attributes.place]
label = "Place"
levels = ["n", {code="n1",parent="n"}, {code="n2",parent="n"}, "s", {code="s1",parent="s"}, {code="s2",parent="s"},
  {code="s3",parent="s"}]
[attributes.sex]
label = "Sex"
levels = ["f", "m"]
[attributes.age]
label = "Age"
levels = ["young", "middle", "old"]
[attributes.school]
label = "School"
levels = ["1", "2", "3", "4"]
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
mu = "2"
[[measure]]
name = "jobs"
of = "count"
by = { up_to = 2, of = ["place", "sex", "age", "school"], also = [["place@0", "sex", "age"]] }
with = { mechanism = "even-gaussian", mu = "1" }
[[measure]]
name = "pay"
title = "Pay"
of = { statistic = "total", column = "pay", clip = ["0", "60"], step = "1", unit = "dollars" }
by = { up_to = 2, of = ["place", "sex", "age", "school"] }
with = { mechanism = "even-gaussian", mu = "1" }
"""
CONTROLLED = (
    PLAN.replace('mu = "2"', 'mu = "3"', 1)
    + """
[[measure]]
name = "by_school"
of = "count"
by = ["school", "sex"]
with = { mechanism = "rounded-gaussian", mu = "1" }
[[measure]]
name = "coarse"
of = "count"
by = { up_to = 1, of = ["place", "age"] }
with = { mechanism = "even-gaussian", mu = "1" }
[[control]]
name = "register"
of = "jobs"
by = ["age"]
totals = [{ age = "young", value = 1000 }, { age = "middle", value = 1010 }, { age = "old", value = 990 }]
[[exposure]]
kind = "published"
what = "register"
why = "the register is public"
[[then]]
step = "least-squares"
name = "moved"
table = "jobs"
to = ["by_school", "coarse", "register"]
"""
)
"""The same, with the jobs moved to a noisy table, to another family and to published totals."""
LEAVES = {"place": "n1 n2 s1 s2 s3", "sex": "f m", "age": "young middle old", "school": "1 2 3 4"}


def family_plan(text: str = PLAN) -> Plan:
    return Plan.parse(text, Path("plan.toml"))


def family_rows(rows: int = 3000) -> pa.Table:
    """Some jobs; of the oldest, nobody in n1 has the highest school, so that noise around 0 is seen."""
    rng = np.random.default_rng(5)
    columns = {name: rng.choice(leaves.split(), rows) for name, leaves in LEAVES.items()}
    columns["school"] = np.where(columns["place"] == "n1", "1", columns["school"])
    return pa.table({**{name: list(map(str, one)) for name, one in columns.items()}, "pay": rng.integers(1, 70, rows)})


def family_release(folder: Path, text: str = PLAN, seed: int = 7) -> Path:
    plan = family_plan(text)
    run(plan, Microdata.open(family_rows(), plan.schema), None, folder, Options(rehearsal=seed))
    return folder

"""The linked employer-employee survey runs from a plan file alone: noise infusion, and sizes hidden within alpha."""

from pathlib import Path

import duckdb
import pytest
from tests.commands import command, sfumato

import sfumato as sf

SURVEY = Path(__file__).parents[3] / "shared" / "data" / "survey" / "ses_linked_employer_employee.parquet"
pytestmark = pytest.mark.skipif(not SURVEY.is_file(), reason=f"the linked survey is not at {SURVEY}")
ATTRIBUTES = """
name = "ses"
title = "Structure of earnings"
sampling = "this is about the sample itself"
[data]
unit = "job"
[attributes.location]
levels = ["AT1", "AT2", "AT3"]
of = "establishment"
[attributes.nace]
from = "NACE1"
levels = ["C-Mining", "D-Manufactoring", "E-Electricity", "F-Construction", "G-Trade", "H-Hotels", "I-Transport",
  "J-FinancialIntermediation", "K-RealEstate", "M-Education", "N-Health", "O-Other"]
of = "establishment"
[attributes.sex]
levels = ["female", "male"]
of = "worker"
"""
MEASURES = """
[[measure]]
name = "jobs"
of = "count"
by = ["location", "nace"]
with = {jobs}
[[measure]]
name = "by_sex"
of = "count"
by = ["location", "nace", "sex"]
with = {by_sex}
[publish]
answers = ["by_sex"]
"""
HIDDEN = """
[hidden]
neighbours = "size-within"
unit = "establishment"
id = "IDunit"
alpha = "0.1"
weak = ["sex"]
[limit]
epsilon = "3"
"""
INFUSED = """
[hidden]
neighbours = "add-remove"
unit = "establishment"
id = "IDunit"
at_most = 1000
[limit]
unbounded = "the system in use"
"""


def written(folder, hidden, jobs, by_sex):
    path = folder / "ses.toml"
    path.write_text(ATTRIBUTES + hidden + MEASURES.format(jobs=jobs, by_sex=by_sex), encoding="utf-8")
    return path


def test_sizes_are_hidden_within_alpha_from_a_plan_alone(tmp_path):
    noise = '{{ mechanism = "log-laplace", epsilon = "{}" }}'
    plan = written(tmp_path, HIDDEN, noise.format(1), noise.format(2))
    assert "The data fit the plan" in sfumato("check", plan, "--data", SURVEY)
    sfumato("run", plan, "--data", SURVEY, "--rehearsal", 1, "--out", tmp_path / "r")
    women = sf.open(tmp_path / "r").total({"sex": "female"})
    ((true,),) = duckdb.sql(f"SELECT count(*) FROM '{SURVEY}' WHERE sex = 'female'").fetchall()
    assert abs(women.value - true) < 5 * women.noise_se


def test_noise_infusion_runs_on_it_too_and_is_marked_as_no_guarantee(tmp_path):
    noise = '{ mechanism = "noise-infusion", low = "0.05", high = "0.15" }'
    plan = written(tmp_path, INFUSED, noise, noise)
    done = command("run", plan, "--data", SURVEY, "--rehearsal", 1, "--out", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    infused = sf.open(tmp_path / "r").total({"sex": "female"}).value
    ((true,),) = duckdb.sql(f"SELECT count(*) FROM '{SURVEY}' WHERE sex = 'female'").fetchall()
    # Factors are within 15% of 1, half of them on either side.
    assert 0 < abs(infused / true - 1) < 0.15
    assert "not formally private" in sfumato("table", tmp_path / "r", "--rows", "sex").lower()

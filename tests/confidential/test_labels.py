"""Value labels of Stata and SPSS files stand on the levels that the plan gives no label, and nowhere else."""

from dataclasses import replace

import pandas as pd
import pyreadstat
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.labels import labelled, published
from sfumato.plan import Plan
from sfumato.privacy import Exposure

PLAN = """
name = "jobs"
[data]
unit = "job"
[attributes.sex]
levels = ["1", "2", "9"]
[attributes.trade]
levels = [{ code = "1", label = "Making" }, "2", "3"]
[attributes.shift]
levels = ["day", "night"]
recode = { 1 = "day", 2 = "night" }
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "2"
[[measure]]
name = "jobs"
of = "count"
by = ["sex", "trade", "shift"]
with = { mechanism = "geometric", epsilon = "1" }
"""
SAID = {
    "sex": {1: "male", 2: "female", 8: "refused"},
    "trade": {1: "Manufacturing", 2: "Services"},
    "shift": {1: "by day", 2: "by night"},
}
WRITE = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta}


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return Plan.read(tmp_path / "plan.toml")


def written(path, said=None):
    frame = pd.DataFrame({"sex": [1.0, 2.0, 9.0], "trade": [1.0, 2.0, 3.0], "shift": [1.0, 2.0, 1.0]})
    WRITE[path.suffix](frame, path, variable_value_labels=SAID if said is None else said)
    return path


@pytest.mark.parametrize("suffix", WRITE)
def test_levels_without_a_label_have_that_of_the_file_where_the_plan_lists_it_as_an_exposure(plan, tmp_path, suffix):
    plan, told = replace(plan, exposures=(Exposure("assumed known", "value labels", "the codebook is public"),)), []
    source = Microdata.open(written(tmp_path / f"jobs{suffix}"), plan.schema)
    run(plan, source, None, tmp_path / "release", Options(rehearsal=1, note=told.append))
    attributes = {one.name: one.levels for one in sf.open(tmp_path / "release").release.products["jobs"].attributes}
    assert attributes["sex"].labels == ("male", "female", "9")
    assert attributes["trade"].labels == ("Making", "Services", "3")
    assert attributes["shift"].labels == ("day", "night")
    assert Plan.read(tmp_path / "release" / "plan.toml").schema.attribute("sex").levels.labels[0] == "male"
    assert "Published with the release are the value labels of the data files for sex, trade." in told


def test_labels_that_the_plan_does_not_list_are_not_published_as_they_tell_which_values_occur(plan, tmp_path):
    """Many programs label the values that occur and no others: one record more would be one label more."""
    files, told = [written(tmp_path / "a.dta"), written(tmp_path / "b.dta", SAID | {"sex": {1: "male"}})], []
    for place, file in enumerate(files):
        source = Microdata.open(file, plan.schema)
        run(plan, source, None, tmp_path / f"release{place}", Options(rehearsal=1, note=told.append))
    one, other = ({f.name: f.read_bytes() for f in (tmp_path / f"release{n}" / "levels").iterdir()} for n in (0, 1))
    assert one == other
    assert "not published" in told[0]
    named = [published(plan, Microdata.open(file, plan.schema))[0] for file in files]
    assert named == [plan, plan]
    assert len({labelled(plan, Microdata.open(file, plan.schema)).to_toml() for file in files}) == 2


def test_data_without_labels_leave_the_plan_as_it_is(plan, tmp_path):
    assert labelled(plan, Microdata.open(written(tmp_path / "a.dta", {}), plan.schema)) is plan
    (tmp_path / "a.csv").write_text("sex,trade,shift\n1,1,1\n", encoding="utf-8")
    assert labelled(plan, Microdata.open(tmp_path / "a.csv", plan.schema)) is plan


def test_a_code_that_two_files_call_by_two_names_has_none_of_them(plan, tmp_path):
    other = SAID | {"sex": {1: "men", 2: "female"}}
    files = [written(tmp_path / "a.dta"), written(tmp_path / "b.sav", other)]
    named = labelled(plan, Microdata.open(files, plan.schema))
    assert named.schema.attribute("sex").levels.labels == ("1", "female", "9")


def test_the_true_table_and_the_assessment_have_the_same_labels(plan, tmp_path):
    data = written(tmp_path / "a.sav")
    run(plan, Microdata.open(data, plan.schema), None, tmp_path / "release", Options(rehearsal=1))
    given = [str(tmp_path / "plan.toml"), "--data", str(data)]
    table = CliRunner().invoke(app, ["tabulate", *given, "--rows", "sex"], catch_exceptions=False)
    assert "female" in table.output
    report = ["--release", str(tmp_path / "release"), "--out", str(tmp_path / "a.html"), "--json"]
    assessed = CliRunner().invoke(app, ["assess", *given, *report], catch_exceptions=False)
    assert '"same_plan": true' in assessed.output

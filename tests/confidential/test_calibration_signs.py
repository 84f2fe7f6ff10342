"""What a plan says of its weight, and signs in the data that base weights were calibrated after all."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import command
from tests.confidential.test_assess_release import rehearsed

import sfumato as sf
from sfumato.confidential import Microdata
from sfumato.confidential.calibration_signs import find_calibration
from sfumato.errors import PlanError, PromiseError
from sfumato.plan import Plan

PLAN = """
name = "sample"
sampling = "none is stated"
[data]
unit = "person"
weight = "w"
weight_kind = "base"
weight_clip = ["0", "90"]
replicates = "r{1..60}"
method = { method = "bootstrap", scale = "1/60" }
[attributes.age]
label = "Age"
levels = ["young", "old"]
[attributes.work]
label = "Work"
levels = ["yes", "no", "unknown"]
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "2"
[[measure]]
name = "persons"
of = { statistic = "total", column = "w", clip = ["0", "90"], step = "1", unit = "persons" }
by = ["age", "work"]
with = { mechanism = "geometric", epsilon = "1" }
"""
EXPOSURE = """
[[exposure]]
kind = "assumed known"
what = "the adjusted weights"
why = "the agency publishes the totals that they were calibrated to"
"""
ADJUSTED = PLAN.replace('"base"', '"adjusted"')


def plan_of(text):
    return Plan.parse(text, Path("sample.toml"))


def sample(calibrated, seed=1, count=900):
    """A bootstrap of a random sample; calibrated, weights and each replicate are scaled to public totals by age."""
    rng = np.random.default_rng(seed)
    age, work = rng.choice(["young", "old"], count), rng.choice(["yes", "no", "unknown"], count, p=[0.6, 0.35, 0.05])
    weight = rng.uniform(5, 40, count)
    factors = np.concatenate([np.ones((1, count)), rng.multinomial(count, np.ones(count) / count, 60)])
    weights = factors * weight
    for code, total in {"young": 10_000, "old": 11_000}.items() if calibrated else ():
        inside = age == code
        weights[:, inside] *= total / weights[:, inside].sum(axis=1, keepdims=True)
    columns = {"w" if place == 0 else f"r{place}": own.round(2) for place, own in enumerate(weights)}
    return pa.table({"age": age, "work": work, **columns})


def signs(text, rows):
    plan = plan_of(text)
    return find_calibration(plan, Microdata.open(rows, plan.schema))


@pytest.mark.parametrize("seed", range(8))
def test_calibrated_weights_show_and_base_weights_do_not(seed):
    """Rounding leaves 10^-8 of the variance. A bootstrap of 60 falls below 1% with a chance of 10^-47 (chi-square)."""
    assert signs(PLAN, sample(calibrated=True, seed=seed)).attributes == ("Age",)
    assert signs(PLAN, sample(calibrated=False, seed=seed)).attributes == ()


def test_whole_weights_are_seen_through_their_rounding():
    """Rounding each of 450 weights adds 450 / 12 to a variance of about 450 · 23² · 0.5."""
    rows = sample(calibrated=True)
    whole = {name: np.rint(rows[name].to_numpy()) for name in rows.column_names if name not in {"age", "work"}}
    assert signs(PLAN, pa.table({"age": rows["age"], "work": rows["work"], **whole})).attributes == ("Age",)


def test_a_plan_that_says_so_is_not_told_again_and_without_replicates_nothing_shows():
    rows = sample(calibrated=True)
    assert signs(ADJUSTED + EXPOSURE, rows).words == ""
    method = 'replicates = "r{1..60}"\nmethod = { method = "bootstrap", scale = "1/60" }\n'
    assert signs(PLAN.replace(method, ""), rows).words == ""


def test_data_without_the_replicates_are_checked_all_the_same(tmp_path):
    rows = sample(calibrated=True)
    pq.write_table(rows.select(["age", "work", "w"]), tmp_path / "rows.parquet")
    (tmp_path / "plan.toml").write_text(PLAN)
    done = command("check", tmp_path / "plan.toml", "--data", tmp_path / "rows.parquet")
    assert done.returncode == 0
    assert "The data fit the plan." in done.stdout
    assert re.search(r"Calibration of the weights was not looked for\. .* has no column 'r1'", done.stdout)


@pytest.mark.parametrize("words", [("check",), ("variance",)])
def test_check_and_variance_say_what_was_seen_and_what_to_write(words, tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    for calibrated in (True, False):
        pq.write_table(sample(calibrated=calibrated, count=3_000), tmp_path / "rows.parquet")
        done = command(*words, tmp_path / "plan.toml", "--data", tmp_path / "rows.parquet")
        assert ("Replicate weights hardly move the number of persons by Age" in done.stdout) == calibrated, done
        assert ('weight_kind = "adjusted"' in done.stdout) == calibrated


def test_adjusted_weights_must_be_listed_and_no_weight_goes_without_a_kind():
    with pytest.raises(PromiseError, match=r"adjusted weights.*add an \[\[exposure\]\]"):
        plan_of(ADJUSTED).price()
    assert plan_of(ADJUSTED + EXPOSURE).price()
    with pytest.raises(PlanError, match=r'Write weight_kind = "base".*"adjusted"'):
        plan_of(PLAN.replace('weight_kind = "base"\n', ""))
    with pytest.raises(PlanError, match="weight_kind is 'basic'"):
        plan_of(PLAN.replace('"base"', '"basic"'))


def test_what_adjusted_weights_are_not_promised_is_said_by_price_manifest_and_pages(tmp_path):
    (tmp_path / "plan.toml").write_text(ADJUSTED + EXPOSURE)
    words = "one person may show in the weights of others; that is not hidden"
    assert words in command("price", tmp_path / "plan.toml").stdout
    assert words in json.loads(command("price", tmp_path / "plan.toml", "--json").stdout)["not_promised"]
    folder = rehearsed(plan_of(ADJUSTED + EXPOSURE), sample(calibrated=True), tmp_path / "release")
    promise = sf.open(folder).release.manifest.promise
    assert words in promise.not_hidden
    assert "in den Gewichten anderer" in sf.open(folder, "de").release.manifest.promise.not_hidden
    (tmp_path / "base.toml").write_text(PLAN)
    assert words not in command("price", tmp_path / "base.toml").stdout


def test_a_plan_in_a_release_made_before_opens_without_a_kind(tmp_path):
    old = PLAN.replace('weight_kind = "base"\n', "").replace('weight_clip = ["0", "90"]\n', "")
    (tmp_path / "plan.toml").write_text(old)
    assert Plan.read_released(tmp_path / "plan.toml").schema.weight == "w"

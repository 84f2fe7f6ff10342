"""Weighted totals: each record adds its value times its weight, both within bounds, and no page mixes them."""

import json
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import command
from tests.confidential.test_assess_release import assessed, rehearsed

import sfumato as sf
from sfumato.confidential import Microdata, Tabulation
from sfumato.confidential.estimands import MeasureOf
from sfumato.confidential.pairs import worst_pairs
from sfumato.confidential.true_table import TableLayout, true_table
from sfumato.draws import SystemDraws
from sfumato.errors import PlanError, QueryError
from sfumato.plan import Plan
from sfumato.query.caveats import caveats_of
from sfumato.query.engine import divisors
from sfumato.release import Withheld

PLAN = """
name = "incomes"
sampling = "none is stated"
[data]
unit = "person"
weight = "w"
weight_kind = "base"
weight_clip = ["0", "40"]
weight_step = "0.5"
replicates = "r{1..4}"
[attributes.region]
levels = ["n", "s", "e"]
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "2000"
[[measure]]
name = "persons"
of = { statistic = "count", weighted = true }
by = ["region"]
with = { mechanism = "geometric", epsilon = "50" }
[[measure]]
name = "income"
title = "Income"
of = { statistic = "total", column = "pay", clip = ["0", "900"], step = "10", unit = "dollars", weighted = true }
by = ["region"]
with = { mechanism = "geometric", epsilon = "50" }
[[measure]]
name = "interviews"
title = "Interviews"
of = { statistic = "count", unit = "interviews", weighted = false }
by = ["region"]
with = { mechanism = "geometric", epsilon = "50" }
[[measure]]
name = "answers"
title = "Income"
of = { statistic = "total", column = "pay", clip = ["0", "900"], step = "10", unit = "dollars", weighted = false }
by = ["region"]
with = { mechanism = "geometric", epsilon = "50" }
"""


def plan_of(text=PLAN):
    return Plan.parse(text, Path("incomes.toml"))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    weight, count = rng.uniform(0, 60, 900).round(2), 900
    replicates = {f"r{place}": weight * 2 * rng.integers(0, 2, count) for place in range(1, 5)}
    region = rng.choice(["n", "s", "e"], count)
    return pa.table({"region": region, "w": weight, **replicates, "pay": rng.lognormal(6, 1, count).round(1)})


def steps(value, low, high, step):
    """A number within its bounds, in whole steps, halves up; by decimal text, so that no float is rounded here."""
    return floor(min(max(Fraction(str(value)), low), high) / Fraction(step) + Fraction(1, 2))


def expected(rows, weighted=True):
    """By region the sums of pay and of 1, each times the weight where that is asked, in whole numbers of Python."""
    found = {}
    for row in rows.to_pylist():
        weight = steps(row["w"], 0, 40, "0.5") if weighted else 1
        pay, persons = found.get(row["region"], (0, 0))
        found[row["region"]] = pay + steps(row["pay"], 0, 900, 10) * weight, persons + weight
    return found


@pytest.mark.parametrize("how", ["arrays", "duckdb", "passing", "spilled"])
def test_every_engine_sums_values_times_weights_to_the_integer(rows, tmp_path, how):
    plan = plan_of()
    pq.write_table(rows, tmp_path / "rows.parquet", row_group_size=100)
    if how == "passing":  # of one table no record is held
        plan = replace(plan, measures=plan.measures[1:2])
    spill = tmp_path if how == "spilled" else None
    microdata = Microdata.open(tmp_path / "rows.parquet", plan.schema, "duckdb" if how == "duckdb" else "", spill=spill)
    truth = expected(rows)
    with closing(Tabulation(plan, microdata, SystemDraws())) as records:
        income = records.cells(plan.measure("income")).values
        assert income.tolist() == [truth[code][0] for code in ("n", "s", "e")]
        if how != "passing":
            assert records.cells(plan.measure("persons")).values.tolist() == [
                truth[code][1] for code in ("n", "s", "e")
            ]


def test_the_price_follows_from_both_clips():
    """Noise of the income is that of 40 × 900 in steps of 0.5 × 10; a weighted count moves by 80 steps of one half."""
    plan = plan_of()
    income, persons = (plan.measure(name) for name in ("income", "persons"))
    assert (income.of.step, persons.of.step) == (5, Fraction(1, 2))
    assert plan.move(income).l1 * income.of.step == 40 * 900
    assert plan.move(persons).l1 * persons.of.step == 40
    assert plan_of(plan.to_toml()) == plan


def test_the_worst_pair_of_an_audit_moves_a_weighted_total_as_far_as_its_price_says():
    plan = plan_of()
    apart = {}
    for pair in worst_pairs(plan):
        sides = [Tabulation(plan, side, SystemDraws()) for side in pair]
        for measure in plan.measures:
            moved = abs(int((sides[0].cells(measure).values - sides[1].cells(measure).values).sum()))
            apart[measure.name] = max(apart.get(measure.name, 0), moved)
        for side in sides:
            side.close()
    assert apart == {measure.name: plan.move(measure).l1 for measure in plan.measures}


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    return rehearsed(plan_of(), rows, tmp_path_factory.mktemp("incomes") / "release")


def test_a_mean_of_weighted_totals_is_the_weighted_mean(rows, folder):
    """Noise of a few steps on sums of millions moves it by less than a thousandth."""
    engine, truth = sf.open(folder), expected(rows)
    amount, number = (sum(region[place] for region in truth.values()) for place in (0, 1))
    assert engine.mean("income", per="persons").value == pytest.approx(amount * 5 / (number / 2), rel=1e-3)
    assert engine.mean("income").value == pytest.approx(amount * 5 / (number / 2), rel=1e-3), "per the weighted count"
    records, count = (sum(region[place] for region in expected(rows, weighted=False).values()) for place in (0, 1))
    assert engine.mean("answers", per="interviews").value == pytest.approx(10 * records / count, rel=1e-3)


@pytest.mark.parametrize(("of", "per"), [("income", "interviews"), ("answers", "persons")])
def test_a_weighted_number_over_one_that_is_not_is_refused_in_words(folder, of, per):
    engine = sf.open(folder)
    for asked in (engine.mean, lambda of, per: engine.means(of, "region", per=per)):
        with pytest.raises(QueryError, match=r"is weighted and .* is not.*Divide weighted numbers by weighted ones"):
            asked(of, per=per)
    assert (
        "Divide weighted numbers by weighted ones"
        in command("table", folder, "--of", of, "--per", per, "--rows", "region").stderr
    )


def test_pages_offer_means_over_the_count_that_is_weighted_as_the_total_is(folder):
    engine = sf.open(folder)
    assert [one.name for one in divisors(engine, "income")] == ["persons"]
    assert [one.name for one in divisors(engine, "answers")] == ["interviews"]


def test_means_of_weighted_totals_are_assessed_against_the_weighted_mean_of_all_rows(rows, folder):
    found = assessed(plan_of(), rows, folder).numbers
    assert {one["name"] for one in found["means"]} == {"income / persons", "answers / interviews"}
    (income,) = [one for one in found["products"] if one["name"] == "income"]
    pay, weight = (np.asarray(rows[name]) for name in ("pay", "w"))
    assert income["bounds"]["total"] == pytest.approx((pay * weight).sum(), rel=1e-12)
    clipped = sum(region[0] for region in expected(rows).values()) * 5
    assert income["bounds"]["clipped"] == pytest.approx(1 - clipped / (pay * weight).sum(), rel=1e-9)


def test_a_number_that_is_not_weighted_says_so_wherever_its_title_stands(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    told = {line["name"]: (line["title"], line["weighting"]) for line in manifest["products"]}
    assert told == {
        "persons": ("Number of persons", "weight"),
        "income": ("Income", "weighted"),
        "interviews": ("Interviews, not weighted", "not weighted"),
        "answers": ("Income, not weighted", "not weighted"),
    }
    assert "Interviews, not weighted" in command("table", folder, "--of", "interviews", "--rows", "region").stdout
    german = sf.open(folder, "de")
    assert german.product("interviews").subject.title.endswith(", nicht gewichtet")


def test_a_weighted_total_says_that_large_weights_are_cut_too(folder):
    engine = sf.open(folder)
    caveats = caveats_of(engine.release, engine.product("income")).said()
    assert "values of pay above 900 are cut" in caveats
    assert "values of w above 40 are cut" in caveats
    assert "values of w above 40 are cut" in caveats_of(engine.release, engine.product("persons")).said()
    assert " w " not in caveats_of(engine.release, engine.product("answers")).said()


def test_a_plan_that_does_not_say_whether_a_number_is_weighted_is_refused_with_what_to_write():
    for statistic in ('"count"', '{ statistic = "quantile", column = "pay", at = "0.5", clip = ["0", "900"] }'):
        text = PLAN.replace('{ statistic = "count", unit = "interviews", weighted = false }', statistic)
        with pytest.raises(PlanError, match=r"'interviews' does not say whether it is weighted.*weighted = false"):
            plan_of(text)
    with pytest.raises(PlanError, match=r"weight_clip = "):
        plan_of(PLAN.replace('weight_clip = ["0", "40"]\nweight_step = "0.5"\n', ""))
    with pytest.raises(PlanError, match=r"\[data\] has no weight"):
        plan_of(PLAN[: PLAN.index("[data]")] + '[data]\nunit = "person"\n' + PLAN[PLAN.index("[attributes") :])
    with pytest.raises(PlanError, match="weights counts and totals only"):
        sf.Plan.parse(PLAN.replace('"count", weighted = true', '"quantile", column = "pay", at = "0.5", clip = ["0", "9"], weighted = true'), Path("p"))  # fmt: skip  # noqa: E501
    with pytest.raises(PlanError, match="would weigh it twice"):
        plan_of(PLAN.replace('column = "pay", clip = ["0", "900"], step = "10", unit = "dollars", weighted = true', 'column = "w", clip = ["0", "40"], step = "0.5", weighted = true'))  # fmt: skip  # noqa: E501
    with pytest.raises(PlanError, match="within other bounds or steps than weight_clip"):
        plan_of(PLAN.replace('{ statistic = "count", weighted = true }', '{ statistic = "total", column = "w", clip = ["0", "60"], step = "0.5" }'))  # fmt: skip  # noqa: E501


def test_the_sampling_error_of_a_weighted_total_is_that_of_its_replicates(rows):
    """4/R Σ (estimate_r − estimate)² of the values within their clip, in floats of numpy."""
    plan = plan_of()
    layout = TableLayout(["region"], None, {}, {})
    table = true_table(plan, Microdata.open(rows, plan.schema), layout, MeasureOf(plan.measure("income")))
    estimates = dict(table.items())
    held = np.clip(np.asarray(rows["pay"]), 0, 900)
    for place, code in enumerate(("n", "s", "e")):
        inside = np.asarray(rows["region"].to_pylist()) == code
        full, *others = ((np.asarray(rows[name]) * held)[inside].sum() for name in ("w", "r1", "r2", "r3", "r4"))
        assert estimates[place,].sampling_variance == pytest.approx(sum((one - full) ** 2 for one in others))
    of_records = true_table(plan, Microdata.open(rows, plan.schema), layout, MeasureOf(plan.measure("answers")))
    assert isinstance(dict(of_records.items())[0,].sampling_variance, Withheld)


def test_releases_made_before_open_and_do_not_divide_totals_that_may_be_mixed(folder, tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    for path in folder.rglob("*"):
        (old / path.relative_to(folder)).parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            (old / path.relative_to(folder)).write_bytes(path.read_bytes())
    manifest = json.loads((old / "manifest.json").read_text())
    for line in manifest["products"]:
        line.pop("weighting")
        line["value_bounds"].pop("weight", None) if "value_bounds" in line else None
    written = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    (old / "manifest.json").write_text(written)
    engine = sf.open(old)
    assert engine.mean("answers", per="interviews").value > 0
    with pytest.raises(QueryError, match="before releases said which numbers are weighted"):
        engine.mean("income", per="answers")


STRATA = """
[[then]]
step = "weigh"
name = "population"
table = "strata"
by = "region"
weights = { n = "2", s = "3", e = "4" }
[[then]]
step = "percentile"
name = "median"
table = "strata"
of = "age"
at = "0.5"
up_to = "90"
within = "smooth"
title = "Median age"
[[measure]]
name = "strata"
of = { statistic = "count", unit = "interviews", WEIGHTED }
by = ["region", "age"]
with = { mechanism = "geometric", epsilon = "50" }
"""
AGED = PLAN.replace("[hidden]", '[attributes.age]\nbands = ["0", "15", "30", "45", "60", "75"]\n[hidden]')


def test_counts_by_stratum_times_public_weights_are_weighted_and_percentiles_of_records_are_not(rows, tmp_path):
    aged = rows.append_column("age", pa.array(np.random.default_rng(1).integers(0, 90, 900)))
    folder = rehearsed(plan_of(AGED + STRATA.replace("WEIGHTED", "weighted = false")), aged, tmp_path / "release")
    told = {name: one.subject for name, one in sf.open(folder).release.products.items()}
    assert (told["population"].title, told["population"].weighting) == ("Weighted number of interviews", "weight")
    assert (told["median"].title, told["median"].weighting) == ("Median age, not weighted", "not weighted")


@pytest.mark.parametrize("step", ["weigh", "percentile"])
def test_a_step_for_records_as_they_are_refuses_a_weighted_measure(step):
    weigh, percentile, measure = (f"[[{part}" for part in STRATA.split("[[")[1:])
    steps = {"weigh": weigh, "percentile": percentile}
    with pytest.raises(PlanError, match=r"takes numbers of records as they are, and 'strata' is weighted"):
        plan_of(AGED + steps[step] + measure.replace("WEIGHTED", "weighted = true"))


def test_check_says_once_how_the_clip_of_the_weight_sits(rows, tmp_path):
    pq.write_table(rows, tmp_path / "rows.parquet")
    (tmp_path / "plan.toml").write_text(PLAN)
    done = command("check", tmp_path / "plan.toml", "--data", tmp_path / "rows.parquet")
    weights = np.asarray(rows["w"])
    assert done.stdout.count("holds w from 0 to 40") == 1
    assert f"In {int((weights >= 40.25).sum())} of 900 rows" in done.stdout, "half a step above the clip or more"
    assert "in weights" in done.stdout
    assert "dollars (not weighted)" in done.stdout

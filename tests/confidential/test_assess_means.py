"""Means in an assessment: what a reader divides, beside the means of the rows themselves."""

from itertools import product

import numpy as np
import pytest
from tests.confidential.test_assess_release import assessed, plan_of, rehearsed
from tests.conftest import SMALL, small_rows

import sfumato as sf
from sfumato.confidential.assessment import Sweep
from sfumato.errors import QueryError

AGES = {"16-24": (16, 25), "25-64": (25, 65), "65+": (65, 999)}


def chosen_rows(rows):
    """Which rows are in each cell of the tables of one attribute, by the names that a reader asks by."""
    age = rows["age"].to_numpy()
    for name, codes in {"trade": ["11", "12", "21", "22"], "place": ["north", "south", "east"]}.items():
        yield from (({name: code}, np.array(rows[name].to_pylist()) == code) for code in codes)
    yield from (({"age": band}, (low <= age) & (age < high)) for band, (low, high) in AGES.items())


@pytest.mark.parametrize("epsilon", ["1", "0.2"])
def test_one_way_means_are_what_a_reader_is_shown_beside_the_means_of_rows(tmp_path, epsilon):
    plan, rows = plan_of(SMALL.replace('epsilon = "1"', f'epsilon = "{epsilon}"')), small_rows()
    engine = sf.open(rehearsed(plan, rows, tmp_path / "release"))
    pay, found = rows["pay"].to_numpy(zero_copy_only=False), []
    for where, inside in chosen_rows(rows):
        told, truth = engine.mean("pay", where, per="jobs"), pay[inside].mean()
        low, high = told.interval(0.90)
        found.append((abs(told.value / truth - 1), low <= truth <= high))
    off, held = np.array(found).T
    (one,) = [one for one in assessed(plan, rows, tmp_path / "release").numbers["means"] if one["dimension"] == 1]
    assert one["name"] == "pay / jobs"
    assert one["differences"]["relative"] == pytest.approx(np.quantile(off, [0.1, 0.5, 0.9]), rel=1e-9)
    assert one["differences"]["within_10"] == pytest.approx(np.mean(off <= 0.1))
    assert one["honesty"]["truth"] == pytest.approx(held.mean())
    assert (one["asked"], one["differences"]["cells"]) == (10, 10)


def test_cells_whose_count_may_be_0_have_no_mean_and_are_counted_as_asked(tmp_path):
    plan, rows = plan_of(SMALL.replace('epsilon = "1"', 'epsilon = "0.02"')), small_rows(count=300)
    folder = rehearsed(plan, rows, tmp_path / "release")
    whole = assessed(plan, rows, folder).numbers["means"][-1]
    engine = sf.open(folder)
    crossed = product(["11", "12", "21", "22"], ["north", "south", "east"], AGES)
    cells = [one for one in crossed if (one[0], one[2]) != ("22", "16-24")]
    shown = sum(has_mean(engine, dict(zip(("trade", "place", "age"), one, strict=True))) for one in cells)
    assert whole["asked"] == len(cells) == 33
    assert 0 < whole["differences"]["cells"] == shown < 33


def has_mean(engine, where):
    try:
        return bool(engine.mean("pay", where, per="jobs"))
    except QueryError:
        return False


def test_a_plan_without_a_total_has_no_means(tmp_path):
    before, _, _ = SMALL.rpartition("[[measure]]")
    plan, rows = plan_of(before), small_rows(count=200)
    told = assessed(plan, rows, rehearsed(plan, rows, tmp_path / "release"))
    assert told.numbers["means"] == []
    assert 'id="means"' not in told.to_html()


def test_a_sweep_says_what_budgets_buy_of_means(tmp_path):
    plan, rows = plan_of(SMALL), small_rows()
    folder = rehearsed(plan, rows, tmp_path / "release")
    sweep = Sweep.read(plan, {"epsilon": ["0.2", "20"]}, draws=3)
    points = assessed(plan, rows, folder, sweep=sweep).numbers["sweep"]["points"]
    bought = [{one["product"]: one["relative"] for one in point["utilities"]} for point in points]
    assert all({*one} == {"jobs", "pay", "pay / jobs"} for one in bought)
    # A hundredth of the noise; the clip, which cuts a sixth of the range, is in both.
    assert bought[0]["pay / jobs"] > bought[1]["pay / jobs"] > 0.01

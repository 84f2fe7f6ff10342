"""Percentiles are assessed against those of the rows themselves, which their intervals are of.

What is true is numpy's inverted distribution function of the rows, and whether an interval holds it is read off the
opened release; both know nothing of the assessment. The draws are a rehearsal, the same every time.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.assessment import Sweep, assess
from sfumato.confidential.assessment.honesty import broken, missed

PLACES, PEOPLE = 150, 300
SMOOTH = 'within = "smooth"'
PLAN = f"""
name = "pay"
sampling = "census"
[data]
unit = "job"
[attributes.place]
levels = {[f"p{place}" for place in range(PLACES)]}
[attributes.pay]
bands = [0, 12000, 18000, 24000, 30000, 37000, 45000, 54000, 65000, 80000, 105000]
missing = "not said"
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "2"
[[measure]]
name = "jobs"
of = "count"
by = ["place", "pay"]
with = {{ mechanism = "geometric", epsilon = "2" }}
[[then]]
step = "percentile"
name = "middle"
table = "jobs"
of = "pay"
at = "0.5"
up_to = "250000"
WITHIN
"""


def people(round_to: int) -> dict[str, list]:
    """Lognormal pay in so many places, all of it in round numbers, and some who say nothing."""
    rng = np.random.default_rng(3)
    place = np.repeat(np.arange(PLACES), PEOPLE)
    pay = np.exp(rng.normal(np.log(38_000), 0.55, len(place)))
    pay = np.maximum(np.rint(pay / round_to) * round_to, 1).astype(int)
    said = rng.random(len(place)) < 0.95
    return {
        "place": [f"p{one}" for one in place],
        "pay": [int(one) if known else None for one, known in zip(pay, said, strict=True)],
    }


def assessed(tmp_path: Path, rows: dict[str, list], within: str = SMOOTH) -> tuple[dict, float, float]:
    """The numbers of the assessment, and apart from it how often 90% intervals hold the median, and its error."""
    plan = sf.Plan.parse(PLAN.replace("WITHIN", within), Path("pay.toml"))
    data = Microdata.open(pa.table(rows), plan.schema)
    run(plan, data, None, tmp_path / "release", Options(rehearsal=3))
    told = sf.open(tmp_path / "release").table("place", of="middle")
    held, off = [], []
    for place in range(PLACES):
        pay = rows["pay"][place * PEOPLE : (place + 1) * PEOPLE]
        true = np.quantile([one for one in pay if one is not None], 0.5, method="inverted_cdf")
        low, high = told[f"p{place}"].interval(0.9)
        held.append(low <= true <= high)
        off.append(abs(told[f"p{place}"].value / true - 1))
    return assess(plan, data, tmp_path / "release").numbers, float(np.mean(held)), float(np.median(off))


def part(numbers: dict) -> dict:
    (found,) = (one for one in numbers["products"] if one["name"] == "middle")
    return found["by_dimension"][0]


@pytest.mark.parametrize(("round_to", "within"), [(1, SMOOTH), (5_000, SMOOTH), (5_000, "")])
def test_what_is_compared_is_the_percentile_of_the_rows(tmp_path, round_to, within):
    """Smooth pay is held at its level; pay in round numbers is not, which is said; ends of bands hold it always.

    Of 150 cells 90% have an error of 2.4 points, so that smooth pay within 80 to 97% is a false alarm once in 10,000.
    """
    numbers, held, off = assessed(tmp_path, people(round_to), within)
    found = part(numbers)
    assert found["honesty"]["truth"] == pytest.approx(held)
    assert found["honesty"]["promised"] == found["honesty"]["truth"]
    assert found["differences"]["relative"][1] == pytest.approx(off, rel=1e-6)
    said = [one for one in broken(numbers) if one.startswith("middle")]
    if not within:
        assert held > 0.97
        assert said == []
    elif round_to == 1:
        assert 0.8 < held < 0.97
        assert said == []
    else:
        assert held < 0.5
        assert said
        assert 'leave out within = "smooth"' in said[0]
    assert not [one for one in missed(numbers) if one.startswith("middle")]


def test_what_bands_alone_would_give_stands_beside_it(tmp_path):
    """Without noise the counts by bands say 40,000 for round pay only roughly: the error of the bands, by itself."""
    numbers, held, _ = assessed(tmp_path, people(5_000))
    honesty = part(numbers)["honesty"]
    assert honesty["held"] > held, "exact counts by bands lie in the intervals more often than the rows' own middle"
    assert 0.005 < honesty["unnoised"] < 0.2
    page = assess_page(numbers)
    assert "off without noise, median" in page


def test_other_budgets_are_rehearsed_where_some_cells_hold_no_number(tmp_path):
    """Of 40 places of 300 and 110 of 12 people: at epsilon 4 percentiles are nearer than at 1/4, in those told."""
    rows = people(1)
    some = [at for at in range(PLACES * PEOPLE) if at < 40 * PEOPLE or at % 25 == 0]
    few = {name: [column[at] for at in some] for name, column in rows.items()}
    plan = sf.Plan.parse(PLAN.replace("WITHIN", ""), Path("pay.toml"))
    data = Microdata.open(pa.table(few), plan.schema)
    run(plan, data, None, tmp_path / "release", Options(rehearsal=3))
    sweep = Sweep.read(plan, {"epsilon": ["0.25", "4"]}, 2)
    worse, better = assess(plan, data, tmp_path / "release", sweep=sweep).numbers["sweep"]["points"]
    found = [next(one for one in each["utilities"] if one["product"] == "middle") for each in (worse, better)]
    assert found[0]["relative"] > found[1]["relative"] > 0


def assess_page(numbers: dict) -> str:
    from sfumato.confidential.assessment.page import page

    return page(numbers)

"""Whether a clip sits well on the data is told inside the agency: what it cuts, and how much too wide it is."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import sfumato

from sfumato.confidential import Microdata
from sfumato.confidential.clips import clip_fits
from sfumato.plan import Plan

PLAN = """
name = "survey"
[data]
unit = "person"
[attributes.region]
levels = ["n", "s"]
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "2"
[[measure]]
name = "people"
of = { statistic = "total", column = "w", clip = ["0", "600"], step = "0.1", unit = "persons"MISSING }
by = ["region"]
with = { mechanism = "geometric", epsilon = "1" }
"""
WEIGHTS = np.array([1.2, 40.8, 3.3, 7.0, 20.0, 0.4])
ROWS = pa.table({"region": ["n", "s"] * 3, "w": WEIGHTS})


def fit(clip: str, engine: str = "", rows: pa.Table = ROWS, where: str = ""):
    missing = "" if clip.startswith('["1') else ', missing = "0"'
    text = PLAN.replace("MISSING", missing).replace('["0", "600"]', clip).replace("by = [", f"{where}by = [")
    plan = Plan.parse(text, Path("survey.toml"))
    (found,) = clip_fits(plan, Microdata.open(rows, plan.schema, engine))
    return found


@pytest.mark.parametrize("engine", ["arrays", "duckdb"])
@pytest.mark.parametrize(
    ("clip", "cut", "ratio", "said"),
    [
        ('["0", "600"]', 0, 600 / 40.8, "noise is 14.7 times as wide as it need be"),
        ('["0", "80"]', 0, 80 / 40.8, ""),
        ('["0", "40.8"]', 0, 1, ""),
        ('["0", "40.7"]', 1, 40.7 / 40.8, "A clip cuts"),
        ('["0", "20"]', 1, 20 / 40.8, "1 of 6 rows"),
        ('["0", "5"]', 3, 5 / 40.8, "3 of 6 rows"),
        ('["1", "20"]', 2, 20 / 40.8, "2 of 6 rows"),
        ('["-600", "50"]', 0, 600 / 40.8, "far above"),
    ],
)
def test_a_clip_is_measured_on_the_data_by_every_engine(engine, clip, cut, ratio, said):
    found = fit(clip, engine)
    assert (found.least, found.largest, found.rows, found.cut) == (pytest.approx(0.4), pytest.approx(40.8), 6, cut)
    assert found.ratio == pytest.approx(ratio)
    assert said in found.words
    assert bool(found.words) == (not found.fits)


def test_only_the_universe_counts_and_missing_values_stand_for_what_they_are_declared():
    found = fit('["0", "50"]', where='where = { region = "n" }\n')
    assert (found.largest, found.rows) == (20.0, 3)
    lacking = pa.table({"region": ["n", "s"], "w": pa.array([None, 5.0])})
    assert fit('["0", "50"]', rows=lacking).least == 0
    assert fit('["0", "50"]', rows=pa.table({"region": ["n"], "w": [0.0]})).words.endswith("gives a value away.")


def test_values_beyond_all_measure_are_seen_as_far_as_is_looked():
    assert fit('["0", "50"]', rows=pa.table({"region": ["n"], "w": [1e30]})).largest == 50_000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clips")
    (folder / "plan.toml").write_text(PLAN.replace("MISSING", ""))
    pq.write_table(ROWS, folder / "rows.parquet")
    return folder


def test_check_and_assess_say_so_and_the_release_does_not(files):
    asked = (files / "plan.toml", "--data", files / "rows.parquet")
    said = sfumato("check", *asked)
    assert "The data fit the plan." in said
    assert "14.7 times as wide" in said
    assert "read off the data gives a value away" in said
    told = json.loads(sfumato("check", *asked, "--json"))["clips"]
    assert [(one["measure"], one["rows_cut"]) for one in told] == [("people", 0)]
    assert told[0]["noise_too_wide_by"] == pytest.approx(600 / 40.8)
    sfumato("run", *asked, "--rehearsal", "3", "--out", files / "release")
    report = files / "report.html"
    assert "14.7 times as wide" in sfumato("assess", *asked, "--release", files / "release", "--out", report)
    assert "14.7 times as wide" in report.read_text()
    for path in (files / "release").rglob("*.json"):
        assert "times as wide" not in path.read_text()
    assert "times as wide" not in sfumato("table", files / "release", "--rows", "region")
    assert "40.8" not in (files / "release" / "manifest.json").read_text()


def test_a_value_beyond_all_that_is_looked_at_is_told_as_a_cap_and_one_within_exactly():
    """Values are looked at up to 1,000 times the bound of 600: 600,000. Digits are all written out."""
    far, near = (pa.table({"region": ["n", "s"], "w": [1.0, value]}) for value in (9e8, 123_456.7))
    capped, exact = fit('["0", "600"]', rows=far), fit('["0", "600"]', rows=near)
    assert "the data go from 1 to 600,000 or farther" in capped.words
    assert capped.to_dict()["or_farther"]
    assert "the data go from 1 to 123,456.7." in exact.words
    assert not exact.to_dict()["or_farther"]


LINE = """
[[measure]]
name = "line"
of = { statistic = "fitted", y = "w", x = "age", at = "0.25", clip = ["0", "50"], clip_x = ["0", "1"], step = "0.1" }
by = ["region"]
with = { mechanism = "theil-sen", epsilon = "1" }
"""


def test_the_bounds_of_lines_are_looked_at_and_what_lies_beyond_counts_as_the_bound():
    rows = pa.table({"region": ["n", "s"] * 3, "w": WEIGHTS, "age": [0.1, 0.2, 0.3, np.inf, 0.5, 0.6]})
    plan = Plan.parse(PLAN.replace("MISSING", "") + LINE, Path("survey.toml"))
    found = {(one.measure, one.column): one for one in clip_fits(plan, Microdata.open(rows, plan.schema))}
    assert found["line", "w"].words == "", "a clip that is wider than the data costs a line nothing"
    assert "In 1 of 6 rows, 0.17 of them, the value counts as the bound." in found["line", "age"].words
    assert "to 1,000 or farther" in found["line", "age"].words


MEAN = """
[[measure]]
name = "rows"
of = "count"
by = ["region"]
with = { mechanism = "geometric", epsilon = "1" }
[[measure]]
name = "pay"
of = { statistic = "mean", column = "w", clip = ["0", "2"] }
by = ["region"]
with = { mechanism = "mose", epsilon = "1" }
given = ["rows"]
[[exposure]]
kind = "published"
what = "chi"
why = "it stands in every error"
"""


def test_the_clip_of_a_mean_is_told_once():
    """A mean is computed of several aggregates of the same clipped values."""
    bounds = re.sub(r"\[limit\]\n.*\n", '[limit]\nunbounded = "chi"\n', PLAN.replace("MISSING", ""))
    plan = Plan.parse(bounds + MEAN, Path("survey.toml"))
    rows = pa.table({"region": ["n", "s"] * 3, "w": WEIGHTS})
    (told,) = (one for one in clip_fits(plan, Microdata.open(rows, plan.schema)) if one.measure == "pay")
    assert "A clip cuts" in told.words


@pytest.mark.parametrize("engine", ["arrays", "duckdb"])
def test_an_outlier_below_does_not_hide_a_clip_that_is_far_too_wide_above(engine):
    """One value of -80,000 is cut; all others are 1,000 or less, which a bound of 80,000 is 80 times as wide as."""
    rows = pa.table({"region": ["n"] * 11, "w": [-80_000.0, *[100.0 * number for number in range(1, 11)]]})
    told = fit('["0", "80000"]', engine, rows)
    assert (told.cut, told.ratio) == (1, 80)
    assert "A clip cuts" in told.words
    assert "noise is 80 times as wide as it need be" in told.words


@pytest.mark.parametrize("engine", ["arrays", "duckdb"])
def test_the_money_that_a_clip_takes_is_told(engine):
    """Of 72.7 the 20.8 of one row beyond 20; the other rows stay as they are."""
    told = fit('["0", "20"]', engine)
    assert told.money == (72.7, pytest.approx(51.9))
    assert "it takes 20.8 of 72.7 persons, 0.29 of it" in told.words

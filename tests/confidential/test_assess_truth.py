"""Assessments compare with what the release is of, say what margins are held against, and grade as the release does."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import sfumato

import sfumato as sf
from sfumato.confidential import Microdata
from sfumato.confidential.clips import clip_fits
from sfumato.plan import Plan

SURVEY = """
name = "survey"
SAMPLING
[data]
unit = "person"
repeated_rows = true
weight = "w"
weight_kind = "base"
replicates = "r{1..3}"
method = "jk1"
[attributes.region]
levels = ["n", "s"]
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "30"
[[measure]]
name = "people"
of = { statistic = "total", column = "w", clip = ["0", "40"], step = "1", unit = "persons" }
by = ["region"]
with = { mechanism = "geometric", epsilon = "10" }
[[measure]]
name = "squares"
of = { statistic = "total", column = "w", power = 2, clip_value = ["0", "40"], step = "1", unit = "squares" }
by = ["region"]
with = { mechanism = "geometric", epsilon = "10" }
"""
UNSTATED = SURVEY.replace("SAMPLING", 'sampling = "no variance function yet"')
PUBLIC = SURVEY.replace("SAMPLING", "") + '[[sampling]]\nof = "people"\na = "0"\nb = "BBB"\nsource = "last year"\n'
WEIGHTS = np.random.default_rng(4).integers(5, 35, 600)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    group = np.arange(len(WEIGHTS)) % 3
    replicates = {f"r{one + 1}": np.where(group == one, 0, WEIGHTS * 1.5) for one in range(3)}
    region = np.where(np.arange(len(WEIGHTS)) % 4 == 0, "n", "s")
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(pa.table({"region": region, "w": WEIGHTS, **replicates}), path)
    return path


def assessed(folder: Path, text: str, data: Path, *more: str) -> str:
    plan, release = folder / "plan.toml", folder / "release"
    plan.write_text(text)
    sfumato("run", plan, "--data", data, "--rehearsal", "3", "--out", release)
    return sfumato("assess", plan, "--data", data, "--release", release, "--out", folder / "report.html", *more)


def told(folder: Path, text: str, data: Path) -> dict:
    return {one["name"]: one for one in json.loads(assessed(folder, text, data, "--json"))["products"]}


def test_a_total_of_squares_is_compared_with_the_sum_of_squares(tmp_path, rows):
    """Σw² of 600 weights of about 20 is 20 times Σw, which the release was compared with."""
    squares = told(tmp_path, UNSTATED, rows)["squares"]
    assert squares["bounds"]["total"] == float((WEIGHTS.astype(float) ** 2).sum())
    assert squares["by_dimension"][0]["differences"]["relative"][1] < 0.01
    assert squares["no_sampling_error"], "replicate weights are of Σw, and say nothing of Σw²"


def test_grades_are_those_of_the_release(tmp_path, rows):
    """A b of 4000 makes the CV of a region of 3,000 persons more than 1; noise alone is under 1%."""
    for name, text in {
        "unstated": UNSTATED,
        "A": PUBLIC.replace("BBB", "2"),
        "C": PUBLIC.replace("BBB", "4000"),
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        found = told(folder, text, rows)["people"]["by_dimension"][0]["grade_a"]
        table = sf.open(folder / "release").table("region", of="people")
        grades = [one.grade for _, one in table.items()]
        assert found == (None if set(grades) == {"-"} else np.mean([grade == "A" for grade in grades]))
        assert grades == {"unstated": ["-", "-"], "A": ["A", "A"], "C": ["C", "C"]}[name]


def test_margins_that_miss_the_data_as_a_clip_cuts_are_said_loudly(tmp_path, rows):
    cut = UNSTATED.replace('clip = ["0", "40"]', 'clip = ["0", "10"]')
    (tmp_path / "cut").mkdir()
    (tmp_path / "whole").mkdir()
    said, report = assessed(tmp_path / "cut", cut, rows), (tmp_path / "cut" / "report.html").read_text()
    lost = 1 - np.minimum(WEIGHTS, 10).sum() / WEIGHTS.sum()
    assert "THE STATED MARGINS DO NOT HOLD THE DATA AS THEY ARE. people, one-way: 0 of 2" in said
    assert f"took {lost:.1%} of the total" in said
    assert "do not hold the data as they are" in report
    held = assessed(tmp_path / "whole", UNSTATED, rows)
    assert "DO NOT HOLD" not in held
    assert "are held against two numbers" in held, "what margins are held against is said in either case"


def test_few_cells_are_counted_and_no_share_is_made_of_them(tmp_path, rows):
    line = next(one for one in assessed(tmp_path, UNSTATED, rows).splitlines() if one.startswith("people, one-way"))
    assert " of 2  " in line
    assert "100%" not in line
    assert "50.0%" not in line


OVER = """[[measure]]
name = "over"
of = { statistic = "excess", column = "w", clip = ["0", "HIGH"], up_to = "UP_TO", step = "1" }
by = []
with = { mechanism = "geometric", epsilon = "1" }
"""


@pytest.mark.parametrize(
    ("high", "up_to", "said", "not_said"),
    [
        ("10", "50", "The plan buys the excess as 'over', up to 50 in each record.", "Widen it"),
        ("10", "20", "up to 20 in each record, and what lies above that is in no number", "Widen it"),
        ("9", "50", "Widen it, or buy the excess.", "The plan buys"),
    ],
)
def test_a_clip_whose_excess_is_bought_is_not_told_to_buy_it(rows, high, up_to, said, not_said):
    over = OVER.replace("HIGH", high).replace("UP_TO", up_to)
    plan = Plan.parse(UNSTATED.replace('clip = ["0", "40"]', 'clip = ["0", "10"]') + over, Path("p.toml"))
    words = next(
        one.words for one in clip_fits(plan, Microdata.open([str(rows)], plan.schema)) if one.measure == "people"
    )
    assert said in words
    assert not_said not in words

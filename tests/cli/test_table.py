"""Tables in the terminal: what explains the numbers stands with them, in any order and with any error asked for."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import sfumato
from tests.families import family_release
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app

PLAN = """
name = "pay"
period = "2026"
SAMPLING
[data]
unit = "job"
repeated_rows = true
[attributes.region]
levels = ["n", "s", "w"]
[attributes.sex]
levels = ["f", "m"]
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "4"
[[measure]]
name = "jobs"
of = "count"
by = ["region", "sex"]
with = { mechanism = "geometric", epsilon = "1" }
[[measure]]
name = "wages"
of = { statistic = "total", column = "wage", clip = ["0", "1000"], step = "1", unit = "dollars" }
by = ["region"]
with = { mechanism = "geometric", epsilon = "1" }
[[measure]]
name = "over"
of = { statistic = "excess", column = "wage", clip = ["0", "1000"], up_to = "1001", step = "1", unit = "dollars" }
by = []
with = { mechanism = "geometric", epsilon = "1" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tables")
    region = ["n"] * 100 + ["s"] * 900 + ["w"] * 300
    sex = (["f"] * 90 + ["m"] * 10) + (["f"] * 300 + ["m"] * 600) + (["f"] * 150 + ["m"] * 150)
    wage = np.random.default_rng(1).integers(100, 1400, len(region))
    pq.write_table(pa.table({"region": region, "sex": sex, "wage": wage}), made / "rows.parquet")
    for name, sampling, seed in (("one", "", 1), ("two", "", 2), ("survey", 'sampling = "a sample of jobs"', 1)):
        (made / f"{name}.toml").write_text(PLAN.replace("SAMPLING", sampling))
        data = ("--data", made / "rows.parquet", "--rehearsal", seed)
        sfumato("run", made / f"{name}.toml", *data, "--out", made / name)
    return made


def apart(*words: object) -> tuple[str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def refused(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code != 0
    return str(done.exception or done.output)


def test_what_explains_the_numbers_is_printed_with_them(folder):
    """It went to stderr, and was lost in every file; it never said that margins count noise alone."""
    said, _ = apart("table", folder / "one", "--rows", "region", "--of", "jobs")
    assert "± is the 90% margin of error, by privacy noise alone, as everybody was counted." in said
    assert "A: CV under 15% and 90% margin under 24.7% of the number, B: under 30% and 49.4%, C: more" in said
    survey, _ = apart("table", folder / "survey", "--rows", "region", "--of", "jobs")
    assert "by privacy noise alone, as no sampling error is stated" in survey
    assert "-: not graded" in survey
    for form in ("csv", "json"):
        machine, _ = apart("table", folder / "one", "--rows", "region", "--of", "jobs", "--format", form)
        assert "90% margin" not in machine


def test_a_statistic_that_nobody_named_is_named(folder):
    said, _ = apart("table", folder / "one", "--rows", "region")
    assert "This is 'jobs', as --of names no statistic; others are wages, over." in said
    assert "This is" not in apart("table", folder / "one", "--rows", "region", "--of", "jobs")[0]
    plain, told = apart("table", folder / "one", "--rows", "region", "--format", "csv")
    assert "others are wages, over" in told
    assert "others are" not in plain


def test_means_are_one_published_number_over_another(folder):
    def told(*asked):
        rows = csv.DictReader(io.StringIO(apart("table", folder / "one", *asked, "--format", "csv")[0]))
        return {row["region"]: float(row["estimate"]) for row in rows}

    wages, jobs = told("--rows", "region", "--of", "wages"), told("--rows", "region", "--of", "jobs")
    means = told("--rows", "region", "--of", "wages", "--per", "jobs", "--sort", "total", "--order", "rising")
    assert means == pytest.approx({code: wages[code] / jobs[code] for code in wages})
    assert list(means) == sorted(means, key=means.__getitem__)
    asked = ("table", folder / "one", "--rows", "region", "--per")
    assert "per itself is 1" in refused(*asked, "jobs")
    assert "'jobs'" in refused(*asked, "job", "--of", "wages")
    assert "not parts of a whole" in refused(*asked, "jobs", "--of", "wages", "--share", "whole")


def test_a_statistic_without_variables_is_printed(folder):
    said, _ = apart("table", folder / "one", "--of", "over")
    assert str(sf.open(folder / "one").total(of="over")) in said
    lines = list(csv.DictReader(io.StringIO(sfumato("table", folder / "one", "--of", "over", "--format", "csv"))))
    assert [float(line["estimate"]) for line in lines] == [sf.open(folder / "one").total(of="over").value]


def test_what_a_clip_took_has_the_margin_of_its_own_table(folder):
    """Of geometric noise at epsilon 1, on amounts of one step, 2 steps hold 90%: 1 − 2a³/(1 + a) = 0.927."""
    whole = sf.open(folder / "one").total(of="over")
    assert whole.moe() == 2
    assert f"comes to {whole.value} in all ± 2 (90%, by noise)" in sfumato("table", folder / "one", "--of", "wages")


def order(said: str) -> list[str]:
    return [one["region"] for one in json.loads(said)["cells"]]


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        (("--rows", "region"), "nsw"),
        (("--rows", "region", "--sort", "total"), "swn"),
        (("--rows", "region", "--sort", "total", "--order", "rising"), "nws"),
        (("--rows", "region", "--cols", "sex", "--sort", "f"), "swn"),
        (("--rows", "region", "--cols", "sex", "--share", "row", "--sort", "f"), "nws"),  # 90%, 50%, 33%
        (("--rows", "region", "--cols", "sex", "--share", "row", "--sort", "total"), "swn"),
    ],
)
def test_rows_are_sorted_by_what_is_shown(folder, asked, rows):
    said = sfumato("table", folder / "one", "--of", "jobs", *asked, "--format", "json")
    assert list(dict.fromkeys(order(said))) == list(rows)


def test_what_cannot_be_sorted_or_shown_is_refused_in_words(folder):
    asked = ("table", folder / "one", "--rows", "region", "--of", "jobs")
    assert "sort by total" in refused(*asked, "--sort", "f")
    assert "known: falling, rising" in refused(*asked, "--sort", "total", "--order", "up")
    assert "one variable stands in the rows" in refused(*asked[:2], "--rows", "region,sex", "--sort", "total")
    assert "known: moe90, se, cv, interval95" in refused(*asked, "--error", "variance")


def test_the_error_is_of_the_kind_that_is_asked_for(folder):
    """Two cells of geometric noise at epsilon 1: the variance is 2 · 2a/(1 − a)², a = exp(−1)."""
    se = (4 * np.exp(-1) / (1 - np.exp(-1)) ** 2) ** 0.5
    asked = ("table", folder / "one", "--rows", "region", "--of", "jobs", "--error")
    south = sf.open(folder / "one").table("region", of="jobs")["s"]
    assert f"{south.value} SE {se:.1f} A" in sfumato(*asked, "se")
    assert f"{south.value} CV {100 * se / south.value:.1f}% A" in sfumato(*asked, "cv")
    low, high = south.interval(0.95)
    assert f"{south.value} [{low:.0f}, {high:.0f}] A" in sfumato(*asked, "interval95")
    assert "In brackets the 95% interval" in sfumato(*asked, "interval95")
    cells = json.loads(sfumato(*asked, "interval95", "--format", "json"))["cells"]
    assert [(one["low95"], one["high95"]) for one in cells if one["region"] == "s"] == [(low, high)]
    assert "SE withheld" in sfumato("table", folder / "survey", *asked[2:], "se")


def test_a_change_between_releases_has_the_margin_of_the_law(folder):
    """The difference of two geometric draws at epsilon 1 stays within 3 steps in 90 of 100; 1.645 errors are 3.15."""
    a = np.exp(-1)
    law = (1 - a) / (1 + a) * a ** np.abs(np.arange(-200, 201))
    both = np.convolve(law, law)
    held = [both[400 - k : 401 + k].sum() for k in range(10)]
    least = next(k for k, chance in enumerate(held) if chance >= 0.90)
    said = sfumato("diff", folder / "one", folder / "two")
    (line,) = [one for one in said.splitlines() if one.startswith("over: the whole changed")]
    assert line.endswith(f"noise alone gives ± {least} (90%)")


def test_negative_numbers_are_shown_as_0_to_the_eye_alone(tmp_path):
    """Nobody in n1 has school 2, 3 or 4, and the noise of this seed leaves two of these numbers below 0."""
    folder = family_release(tmp_path / "release")
    asked = ("table", folder, "--rows", "place", "--cols", "school", "--at", "place=leaves", "--of", "jobs")
    plain, _ = apart(*asked)
    zeroed, _ = apart(*asked, "--zero")
    lines = [next(line.split() for line in said.splitlines() if line.startswith("n1")) for said in (plain, zeroed)]
    assert any(word.startswith("−") for word in lines[0])
    assert not any(word.startswith("−") for word in lines[1])
    assert [one for one in zip(*lines, strict=True) if one[0] != one[1]] == [
        (word, "0") for word in lines[0] if word.startswith("−")
    ]
    assert "by about 0.4 standard errors of its noise" in zeroed
    assert "standard errors of its noise" not in plain
    assert "for the eye alone" in refused(*asked, "--zero", "--format", "csv")


def test_a_level_is_found_by_words_with_the_number_of_its_table(folder):
    said, _ = apart("find", "sex f", folder / "one", "--json", "--most", "1")
    (found,) = json.loads(said)
    truth = sf.open(folder / "one").total({"sex": "f"}, of="jobs")
    assert (found["where"], found["estimate"], found["moe90"]) == ({"sex": "f"}, truth.value, truth.moe(0.90))
    said, warned = apart("find", "jobs f", folder / "one")
    assert f"{truth!r} jobs" in said
    assert "NOT FOR PUBLICATION" in warned.upper()
    assert "is called 'xylophone'" in refused("find", "xylophone", folder / "one")


def test_a_find_tells_other_tables_means_and_percents_as_the_page_does(make_release):
    folder = make_release()
    jobs, pay = (sf.open(folder).total({"place": "north"}, of=name) for name in ("jobs", "pay"))
    said, _ = apart("find", "north", folder)
    first, other = said.splitlines()
    assert first.startswith("north (place=north). Number of jobs")
    assert first.endswith(f": {jobs!r} jobs")
    assert other.strip() == f"Total pay in euros: {pay!r} euros"
    (found,) = json.loads(apart("find", "north", folder, "--json")[0])
    assert [(one["statistic"], one["estimate"]) for one in found["others"]] == [("pay", pay.value)]
    mean, *_ = apart("find", "mean pay by place", folder)[0].splitlines()
    assert mean.startswith("Place (place). Total pay in euros per job, ")
    percents = [one for one in apart("find", "cloth by place", folder)[0].splitlines() if "percent of each row" in one]
    assert len(percents) == 2

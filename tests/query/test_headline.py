"""A headline is a claim: the row it calls the largest is the largest in at least 90 of 100 releases, or it says so."""

import re
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom
from tests.query.worlds import engine_of, manifest_of

from sfumato.query import Estimate, Group
from sfumato.query.cell_look import smear_of
from sfumato.query.headline import Headline, Leader, foremost
from sfumato.query.ranks import rank_intervals, standings
from sfumato.query.wording import words
from sfumato.release import Cube, Independent, Subject, Withheld
from sfumato.schema import Attribute, Levels, Table

RELEASES, CHANCE = 2_000, 1e-9
PLACES = ("north", "south", "east", "west", "middle")
TABLE = Table(
    (
        Attribute("place", Levels.of(list(PLACES)), label="Place"),
        Attribute("sex", Levels.of(["f", "m"]), label="Sex"),
    )
)
SUBJECT = Subject("jobs", "count", "Number of jobs", "jobs", Fraction(1))


def table_of(rows, variance=100.0, by=("place", "sex"), subject=SUBJECT):
    """A table of known numbers, the two of each row alike, each with this noise variance."""
    cube = Cube(subject, TABLE, np.repeat(np.array(rows)[:, None], 2, axis=1), Independent(variance))
    return engine_of(cube).table(*by)


def foremost_codes(values, variance, level=0.90):
    ranks = rank_intervals(values, variance, level)
    codes = [str(place) for place in range(len(values))]
    return [one.code for one in foremost(standings(codes, values, dict(zip(codes, ranks, strict=True)), rising=False))]


def false_headlines(truth, level=0.90, seed=7):
    """How many of the releases call a row the largest that is not alone the largest, or leave the largest out."""
    rng, top = np.random.default_rng(seed), max(truth)
    first = [str(place) for place, one in enumerate(truth) if one == top]
    told = left_out = 0
    for _ in range(RELEASES):
        ahead = foremost_codes(np.array(truth) + rng.normal(0, 1, len(truth)), 2.0, level)
        told += len(ahead) == 1 and ahead != first
        left_out += not set(first) & set(ahead)
    return told, left_out


ALMOST = [1e-9] + [0.0] * 11
"""One row is the largest by nothing that a release could show."""


@pytest.mark.parametrize("truth", [[0.0] * 2, [0.0] * 5, ALMOST, [1.0, 0.9, 0.0, 0.0]])
def test_no_more_than_one_headline_in_ten_is_false(truth):
    """Fails by chance once in 1e9: the bound is the 1 - 1e-9 quantile of a binomial law at 10%."""
    most = binom.isf(CHANCE, RELEASES, 0.10)
    told, left_out = false_headlines(truth)
    assert told <= most
    assert left_out <= most


def test_a_test_that_is_too_easy_would_be_found():
    """At 50% two equal rows are told apart half the time; at 90% a pair, some row is put above the largest."""
    most = binom.isf(CHANCE, RELEASES, 0.10)
    assert false_headlines([0.0] * 2, level=0.50)[0] > most
    assert false_headlines(ALMOST, level=1 - 0.10 * 11)[1] > most


def test_a_row_that_is_far_ahead_is_called_the_largest():
    """Ten errors of a difference ahead of eleven others; less than once in 1e9 by chance is it not told."""
    rng = np.random.default_rng(3)
    truth = np.array([10 * sqrt(2)] + [0.0] * 11)
    assert all(foremost_codes(truth + rng.normal(0, 1, 12), 2.0) == ["0"] for _ in range(200))


def up(margin):
    """A margin to two digits, upwards."""
    return format(Context(prec=2, rounding=ROUND_CEILING).create_decimal(f"{margin:.9g}"), "f")


def test_the_largest_is_named_with_its_margin_and_its_share():
    """2 x 1000 of 2 x 1600 are 62.5%."""
    table = table_of([1_000, 300, 150, 100, 50], by=("place",))
    margin, share = up(table["north"].moe()), up(100 * table.shares()["north"].moe())
    expected = f"The largest of 5 is north: 2,000 ± {margin} jobs, 62.50% ± {share} of all."
    for one in (table, table_of([1_000, 300, 150, 100, 50])):
        assert one.headline().said(words("en")).replace("\u00a0", " ") == expected
    german = f"Am größten von 5 ist north: 2.000 ± {margin} jobs, 62,50 % ± {share.replace('.', ',')} von allen."
    assert table.headline().said(words("de")).replace("\u00a0", " ") == german


def test_rows_that_cannot_be_told_apart_are_named_and_many_are_counted():
    two = table_of([1_000, 995, 150, 100, 50]).headline()
    assert [one.label for one in two.leaders] == ["north", "south"]
    assert two.said(words("en")).startswith("Which of 5 is the largest cannot be told: it may be north (2,000")
    assert " or south (1,990" in two.said(words("en"))
    all_alike = table_of([100, 101, 99, 100, 102]).headline()
    said = all_alike.said(words("en"))
    assert said.startswith("Which of 5 is the largest cannot be told: any of them may be, among them middle (204")
    four = table_of([100, 101, 99, 10, 102]).headline()
    assert "told: 4 of them may be, among them middle (204" in four.said(words("en"))


def test_a_headline_of_a_column_and_of_percentages_names_it():
    table = table_of([1_000, 300, 150, 100, 50])
    assert table.headline("m").said(words("en")).startswith("“m”: the largest of 5 is north: 1,000\u00a0±")
    shares = table.shares("row").headline("f")
    assert shares.said(words("en")).startswith("“f”: which of 5 is the largest cannot be told: any of them may be")
    assert shares.said(words("en")).endswith(f", in percent of all with the same “{table.axes[0].attribute.label}”.")
    assert shares.said(words("de")).endswith(
        f", in Prozent aller mit gleichem Wert von „{table.axes[0].attribute.label}“."
    )
    whole = table.margin([table.axes[0].attribute.name]).shares().headline()
    assert whole.said(words("en")).endswith(", in percent of all.")


def test_rows_with_long_names_are_counted_where_to_name_them_takes_more_than_a_line():
    short, long = ["Sales", "Farms", "Shops"], [f"Occupations of {one} and of whoever else is near" for one in "abc"]
    for labels, named in ((short, 3), (long, 1)):
        said = Headline(tuple(Leader(label, Estimate(100, 400.0)) for label in labels), 22).numbers(words("en"))
        assert sum(label in said for label in labels) == named
    assert said.startswith("3 of them may be, among them")
    assert len(said) < 130


@pytest.mark.parametrize("counts", [[1_000, 300, 150, 100, 50], [1_000, 995, 150, 100, 50], [100, 101, 99, 100, 102]])
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_headline_is_its_claim_and_the_numbers_that_it_rests_on(counts, language):
    found, said = table_of(counts).headline(), words(language)
    assert found.said(said) == f"{found.claim(said)}: {found.numbers(said)}"
    assert "±" not in found.claim(said)
    assert "±" in found.numbers(said)


def test_nothing_is_said_where_no_row_can_be_called_the_largest():
    cube = Cube(SUBJECT, TABLE, np.full((5, 2), 100), Independent(100.0))
    both = engine_of(cube).table("place", at={"place": ["north", "east", Group("ends", ("north", "south"))]})
    assert both.headline() is None, "a group and its parts overlap"
    assert engine_of(cube).table("place", at={"place": ["north"]}).headline() is None, "one row is no contest"
    assert table_of([7, 7, 5, 4, 3], variance=0.0).headline() is None, "true numbers that are equal"
    true = table_of([9, 7, 5, 4, 3], variance=0.0).headline().said(words("en"))
    assert true.startswith("The largest of 5 is north: 18 jobs")
    unsaid = Cube(SUBJECT, TABLE, np.full((5, 2), 100), Withheld("it follows the cells"))
    assert engine_of(unsaid).table("place").headline() is None
    sampled = manifest_of(cube, sampling={"kind": "withheld", "reason": "the design is not public"})
    assert engine_of(cube, manifest=sampled).table("place").headline() is None


def test_notebook_and_pictures_say_it_first():
    table = table_of([1_000, 300, 150, 100, 50], by=("place",))
    said = table.headline().said(words("en"))
    html = table._repr_html_()
    assert f"<caption><strong>{said}</strong><br>Number of jobs by place</caption>" in html
    # The cell of the page: under each number its smear, as wide as there; unit and error are said below.
    widths = [smear_of(one) for _, one in table.items()]
    assert re.findall(r'<span class="smear w(\d+)">', html) == [str(width) for width in widths if width]
    assert "± is the 90% margin of error." in html
    assert html.startswith('<div class="sfumato"><style>')
    picture = table.plot()
    assert f'aria-label="{said} Number of jobs by place"' in picture.to_svg()
    assert "The largest of 5 is north" in picture.to_svg().split("<desc>")[1]
    assert picture.to_vega().count(said.replace("\u00a0", "\\u00a0")) or said in picture.to_vega()

"""Two percentages are compared as percentages, with what their parts and wholes have in common."""

import numpy as np
import pytest
from tests.query.test_ratio_law import geometric, law_of
from worlds import engine_of, manifest_of, subject_of

from sfumato.query import QueryEngine
from sfumato.query.estimate import Estimate
from sfumato.query.ratio import ratio_of
from sfumato.query.share_comparison import ShareComparison
from sfumato.query.wording import words
from sfumato.release import Calibrated, Control, Cube, Independent, Withheld
from sfumato.schema import Attribute, Level, Levels, Table

TRADES = Attribute("trade", Levels.of(["t0", "t1", "t2"]), label="Trade")
STRENGTH = Attribute("strength", Levels.of(["light", "medium", "heavy"]), label="Strength")
TABLE = Table((TRADES, STRENGTH))
VALUES = np.array([[770, 150, 80], [183, 12, 5], [40, 30, 20]])
VARIANCE = 36.0
SAMPLED = {"kind": "variance-function", "functions": {"jobs": {"a": -0.001, "b": 4.0}}}


def engine(values=VALUES, error=None, sampling=None) -> QueryEngine:
    cube = Cube(subject_of("jobs"), TABLE, np.asarray(values), error or Independent(VARIANCE))
    return engine_of(cube, manifest=manifest_of(cube, sampling=sampling))


def moved(values, of, one, other):
    """The derivative of the difference of two shares by every cell, by hand."""
    found, sign = np.zeros(values.shape), 1.0
    for row, column in (one, other):
        inside = np.zeros(values.shape, dtype=bool)
        inside[{"row": (row, slice(None)), "column": (slice(None), column), "whole": (slice(None),) * 2}[of]] = True
        whole = values[inside].sum()
        found -= sign * values[row, column] / whole**2 * inside
        found[row, column] += sign / whole
        sign = -1.0
    return found


def test_the_larger_percentage_is_the_larger_even_where_its_count_is_the_smaller():
    table = engine().table("trade", "strength")
    assert table.compare(("t0", "light"), ("t1", "light")).value == 770 - 183
    shares = table.shares("row").compare(("t0", "light"), ("t1", "light"))
    assert shares.value == pytest.approx(0.77 - 183 / 200)
    assert (shares.differs(), shares.value < 0) == (True, True)
    low, high = (shares.sentence().values[end] for end in ("low", "high"))
    assert low < -14.5 < high < 0
    assert "percentage points" in shares.words()
    assert "Prozentpunkte" in shares.sentence().said(words("de"))


@pytest.mark.parametrize("of", ["row", "column", "whole"])
@pytest.mark.parametrize("pair", [((0, 0), (1, 0)), ((0, 0), (0, 1)), ((0, 1), (2, 2))], ids=str)
def test_the_error_of_a_difference_is_that_of_its_first_derivatives(of, pair):
    """Shares of one row share a whole, of one column cells of it: both are counted, not the two errors alone."""
    table = engine().table("trade", "strength").shares(of)
    one, other = (tuple(axis.codes[at] for axis, at in zip(table.axes, place, strict=True)) for place in pair)
    expected = VARIANCE * (moved(VALUES, of, *pair) ** 2).sum()
    found = table.compare(one, other)
    assert found.noise_variance == pytest.approx(expected)
    alone = table[one].noise_variance + table[other].noise_variance
    if of == "whole" or pair[0][of == "column"] == pair[1][of == "column"]:
        assert found.noise_variance != pytest.approx(alone, rel=1e-3)


def test_noise_that_calibration_made_common_counts_as_well():
    controls = (Control((Level("trade"),), 1.0),)
    fitted = engine(error=Calibrated(Independent(VARIANCE), controls))
    table = fitted.table("trade", "strength").shares("row")
    joint = np.array([[fitted.source("jobs").covariance(a, b) for b in cells(fitted)] for a in cells(fitted)])
    by = moved(VALUES, "row", (0, 0), (0, 1)).ravel()
    assert table.compare(("t0", "light"), ("t0", "medium")).noise_variance == pytest.approx(by @ joint @ by)


def cells(made):
    table = made.table("trade", "strength")
    return [table.box(place) for place in np.ndindex(table.shape)]


def test_shares_of_one_sampled_whole_have_the_covariance_of_a_multinomial():
    """By hand: (b / y)(p1 (1 - p1) + p2 (1 - p2) + 2 p1 p2); of two wholes that share nobody the plain sum."""
    table = engine(sampling=SAMPLED).table("trade", "strength").shares("row")
    p1, p2 = 0.77, 0.15
    same = table.compare(("t0", "light"), ("t0", "medium"))
    assert same.sampling_variance == pytest.approx(4.0 / 1000 * (p1 * (1 - p1) + p2 * (1 - p2) + 2 * p1 * p2))
    apart = table.compare(("t0", "light"), ("t1", "light"))
    p3 = 183 / 200
    assert apart.sampling_variance == pytest.approx(4.0 / 1000 * p1 * (1 - p1) + 4.0 / 200 * p3 * (1 - p3))


@pytest.mark.parametrize("of", ["row", "column"])
def test_intervals_of_differences_hold_the_true_difference(of):
    """250 draws: a coverage of exactly 90% falls below 80% with a chance of 1e-6; 4,000 draws gave 88 to 94%.

    Negative arm: the interval of the difference of the two counts, over the first whole, holds it far less often.
    """
    chosen, draws = np.random.default_rng(7), 250
    truth = np.array([[77, 15, 8], [55, 4, 2], [300, 30, 20]])
    wholes = truth.sum(axis=1 if of == "row" else 0)
    exact = truth[0, 0] / wholes[0] - truth[1, 0] / wholes[1 if of == "row" else 0]
    held = counted = 0
    for _ in range(draws):
        noisy = truth + np.rint(chosen.normal(0, VARIANCE**0.5, truth.shape)).astype(int)
        table = engine(noisy).table("trade", "strength")
        low, high = table.shares(of).compare(("t0", "light"), ("t1", "light")).interval(0.90)
        held += low <= exact <= high
        low, high = (end / noisy[0].sum() for end in table.compare(("t0", "light"), ("t1", "light")).interval(0.90))
        counted += low <= exact <= high
    assert 0.80 < held / draws < 0.98
    assert counted / draws < 0.5


def test_what_cannot_be_said_of_two_percentages_is_said_in_words():
    hidden = engine(error=Withheld("it would leak")).table("trade", "strength").shares("row")
    assert hidden.compare(("t0", "light"), ("t1", "light")).sentence().key == "differ_unsaid"
    silent = engine(sampling={"kind": "withheld", "reason": "the design is secret"}).table("trade", "strength")
    assert silent.shares("row").compare(("t0", "light"), ("t1", "light")).sentence().key == "differ_unsaid"


def test_the_detail_of_a_percentage_has_its_own_errors_and_names_the_numbers_behind_it():
    shares = engine(sampling=SAMPLED).table("trade", "strength").shares("row")
    told = shares.detail(("t0", "light"))
    assert told.estimate == shares["t0", "light"]
    keys = [one.key for one in told.sentences]
    assert keys == ["share_of", "error_both_share", "add_share"]
    assert told.sentences[0].values["part"] == 770
    assert told.sentences[1].values["moe"] == pytest.approx(100 * told.estimate.moe(0.90))
    assert "770 ± " in repr(told)
    assert "of 1,000 ± " in repr(told)


def test_where_an_interval_is_longer_to_one_side_the_detail_says_so():
    wide = engine([[25, 3, 2], [183, 12, 5], [40, 30, 20]]).table("trade", "strength").shares("row")
    assert "longer_side" in [one.key for one in wide.detail(("t0", "light")).sentences]
    close = engine(VALUES * 1_000).table("trade", "strength").shares("row")
    assert "longer_side" not in [one.key for one in close.detail(("t0", "light")).sentences]


def test_an_interval_of_a_share_ends_where_no_truth_can_be_and_its_margin_does_not():
    """10 of 40 with an error of 6 a cell; negative arm: totals of what may be below 0 are not cut."""
    values = [[2, 18, 20], [183, 12, 5], [40, 30, 20]]
    shares = engine(values).table("trade", "strength").shares("row")
    found = shares["t0", "light"]
    below, above = found.reach(0.90)
    assert found.value - below < 0
    assert found.interval(0.90) == (0.0, pytest.approx(found.value + above))
    assert found.moe(0.90) == max(below, above)
    assert shares.records()[0]["low90"] == 0.0
    assert shares.records()[0]["high90"] == pytest.approx(found.interval(0.90)[1])
    assert "cut_share" in [one.key for one in shares.detail(("t0", "light")).sentences]
    cube = Cube(subject_of("jobs", statistic="total"), TABLE, np.asarray(values), Independent(VARIANCE))
    free = engine_of(cube).table("trade", "strength").shares("row")["t0", "light"]
    assert free.interval(0.90)[0] == pytest.approx(free.value - below)


def test_an_interval_that_lies_where_no_truth_can_be_is_left():
    shares = engine([[-60, 180, 160], [183, 12, 5], [40, 30, 20]]).table("trade", "strength").shares("row")
    assert shares["t0", "light"].interval(0.90)[1] < 0
    assert shares.records()[0]["high90"] < 0


def drawn_shares(epsilon, cells, true, whole):
    """Every share that noise makes likely of a part of so many cells beside as many others, with its chance."""
    law, (steps, chances) = law_of(epsilon), geometric(epsilon, cells)
    likely = chances > 1e-4
    error = cells * law.variance
    for up, first in zip(steps[likely], chances[likely], strict=True):
        for beside, second in zip(steps[likely], chances[likely], strict=True):
            part = Estimate(true + up, error, cells=cells, law=law)
            total = Estimate(whole + up + beside, 2 * error, cells=2 * cells, law=law)
            yield ratio_of(part, total, error, "share", 0.0, inside=True).of_nonnegative(), first * second


@pytest.mark.parametrize(
    ("level", "epsilon", "cells", "true", "by_normal"), [(0.9, 3, 1, 40, 0.83), (0.95, 3, 2, 200, 0.91)]
)
def test_an_interval_of_a_difference_holds_its_level_where_noise_is_mostly_0(level, epsilon, cells, true, by_normal):
    """By every pair of draws of two wholes of 400 whose shares are alike; joined as of a normal law it does not."""
    drawn, held, joined, all_of = [*drawn_shares(epsilon, cells, true, 400)], 0.0, 0.0, 0.0
    for one, first in drawn:
        for other, second in drawn:
            difference = ShareComparison(one.value - other.value, 0.0, one=one, other=other)
            (below, above), gap = difference.reach(level), difference.value
            (low, high), (under, over) = one.reach(level), other.reach(level)
            chance = first * second
            held += chance * (gap - below <= 1e-12 and gap + above >= -1e-12)
            joined += chance * (gap - np.hypot(low, over) <= 1e-12 and gap + np.hypot(high, under) >= -1e-12)
            all_of += chance
    assert all_of > 0.98
    assert held > level * all_of
    assert joined < by_normal * all_of


def test_the_chance_of_a_difference_is_where_its_interval_begins_to_hold_0():
    found = engine().table("trade", "strength").shares("row").compare(("t0", "light"), ("t2", "light"))
    assert found.differs(1 - found.p_value - 1e-6)
    assert not found.differs(1 - found.p_value + 1e-6)


def test_a_whole_that_came_out_below_0_has_no_share_and_says_so():
    shares = engine([[770, 150, 80], [-183, -12, -5], [40, 30, 20]]).table("trade", "strength").shares("row")
    told = shares.figure(3)
    assert "came out below 0" in told.reason
    assert shares.columns().status("reason")[3:6] == [told.reason] * 3
    assert np.isfinite(shares.columns().estimate[[0, 8]]).all()

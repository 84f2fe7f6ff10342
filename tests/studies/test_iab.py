"""The mayor's simulations: printed lengths to their digits, coverage and bias within what so many runs can tell."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import nbinom

from sfumato.draws import SeededDraws, TwoSidedGeometric
from sfumato.studies import STUDIES
from sfumato.studies.coverage import summed
from sfumato.studies.iab_full import Furth, simulated
from sfumato.studies.iab_mayor import QUESTIONS, TRUTH, Summary
from sfumato.studies.iab_small import CELLS, noisy_totals, variance_of
from sfumato.studies.iab_table import furth

FULL = 853.0 * np.array([4, 4, 90, 90])


@pytest.mark.parametrize(
    ("cells", "rate", "lengths"),
    [
        (CELLS, 1.0, (23.788, 16.821, 0.0465, 0.2153)),
        (FULL, 1.0, (439.405, 310.707, 1.242, 10.999)),
        (CELLS, 0.5, (49.07, 34.70)),
        (FULL, 0.5, (906.4,)),
    ],
    ids=["40 cells", "160,364 cells", "40 cells, sound", "160,364 cells, sound"],
)
def test_lengths_at_the_truth_are_those_printed(cells, rate, lengths):
    """The slides print two digits of these, at the truth: z = 1.959964, epsilon 1, sensitivity 1 or, sound, 2."""
    for question, length in zip(QUESTIONS, lengths, strict=False):
        ours = 2 * 1.959964 * math.sqrt(question.variance(TRUTH[None], cells, variance_of(rate))[0])
        last_digit = 10.0 ** -len(str(length).partition(".")[2])
        assert abs(ours - length) < last_digit


def test_truth_is_that_of_the_slides():
    assert [round(float(one.estimate(TRUTH)), 2) for one in QUESTIONS] == [8023, 2258, 18.80, 40.09]
    assert FULL.sum() == 160_364


@pytest.mark.parametrize("cells", [1, 3, 20])
def test_a_difference_of_negative_binomials_is_the_sum_of_so_many_draws(cells):
    """Chance by chance: the law convolved with itself beside scipy's negative binomial, convolved with its mirror."""
    drawn = summed(TwoSidedGeometric(Fraction(1)), cells)
    half = nbinom.pmf(np.arange(400), cells, -math.expm1(-1))
    difference = np.convolve(half, half[::-1])
    middle = len(drawn) // 2
    assert np.allclose(drawn[middle - 30 : middle + 31], difference[399 - 30 : 399 + 31], atol=1e-13)


@pytest.mark.parametrize("cells", [CELLS, FULL], ids=["40 cells", "160,364 cells"])
def test_signed_totals_are_unbiased_and_held_as_often_as_promised(cells):
    """5,000 runs: coverage within 2 points and variances within 12.4% are 6.2 standard errors.

    The negative arm: intervals of half the noise hold far less often.
    """
    totals = noisy_totals(cells, 1.0, 5_000, np.random.default_rng(3))
    for question in QUESTIONS:
        found = Summary.of(question, totals, cells, variance_of(1.0))
        assert abs(found.coverage - 0.95) < 0.02
        assert abs(found.variance_ratio - 1) < 0.124
        assert Summary.of(question, totals, cells, variance_of(1.0) / 4).coverage < 0.75


def test_cells_below_0_bias_totals_and_weights_do_not():
    """A tenth of Fürth, 40 runs: a truly empty cell is 0.4255 too high at 0, and 0.6944 with a carrier."""
    ends = np.cumsum([341, 341, 7_677, 7_677])
    furth = Furth(np.zeros(ends[-1], dtype=np.int64), ends)
    found = simulated(furth, Fraction(1), 40, SeededDraws(2))
    assert found["calibrated"] == pytest.approx(found["signed"], abs=1e-6)
    assert found["signed"].std() > 0
    for way, bias in (("signed", 0.0), ("set to 0", 0.42546), ("one carrier", 0.69440)):
        error = found[way].std(axis=0) / np.sqrt(40)
        assert (np.abs(found[way].mean(axis=0) - bias * furth.sizes) < 6.2 * error).all()
    assert Summary.of(QUESTIONS[0], found["set to 0"] + TRUTH, furth.sizes, variance_of(1.0)).coverage == 0


@pytest.mark.slow
def test_fuerth_has_the_published_means_where_cells_below_0_are_treated():
    """Synthetic people: with one carrier the means of the slide of 'negatives set to zero' within 2%, by the law."""
    cells, ends = furth()
    sizes = np.diff(ends, prepend=0)
    assert sizes.tolist() == FULL.tolist()
    assert [group.sum() for group in np.split(cells, ends[:-1])] == TRUTH.tolist()
    a = math.exp(-1)
    raised = np.array([(a**group).sum() for group in np.split(cells, ends[:-1])])
    carried, zeroed = (TRUTH + raised * one for one in (a / (1 - a**2) + a / (1 + a), a / (1 - a**2)))
    for question, printed in zip(QUESTIONS, (10_778.41, 3_999.96, 7.66, 6.75), strict=True):
        assert float(question.estimate(carried)) == pytest.approx(printed, rel=0.02)
    assert zeroed[0] + zeroed[1] < 0.95 * 10_778, "what 0 gives is not what was printed"


def test_the_study_says_what_was_printed_and_what_the_law_gives():
    told = {line.what: line for line in STUDIES["iab-small"].lines(200)}
    line = told["as published: # not employed: length of the interval"]
    assert (line.published, line.ours) == ("23.79", "23.788")
    assert "Fieller's" in told["as published: % not employed: length of the interval"].remark


def test_the_studies_say_what_their_noise_loses_under_the_relation_that_holds():
    for name in ("iab-small", "iab-full"):
        assert re.search(r"sensitivity 1 at epsilon 1.* loses epsilon 2.* sound", STUDIES[name].note), name

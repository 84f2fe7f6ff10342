"""The example that a manifest gives of noise: the pair grows with it, the test is the best, the curves are the law."""

import math
from fractions import Fraction

import numpy as np
import pytest
from contract_moves import MOVES
from scipy.stats import dlaplace, norm

from sfumato import mechanisms
from sfumato.draws import SeededDraws
from sfumato.mechanisms import Additive, Cells, DiscreteGaussian, Geometric, RoundedGaussian, SquareRoot, Typical
from sfumato.mechanisms.example import example
from sfumato.plugins import found
from sfumato.privacy import Bounded, Root
from sfumato.release.manifest import CURVE
from sfumato.schema import Frame

ONE = Bounded(1, 1, 1)
FOUND = [one for one in found(mechanisms).values() if isinstance(one, Additive)]


def best_power(noise, distance, level=0.05):
    """Neyman and Pearson's test by brute force: outcomes by their likelihood ratio until the level is used up."""
    places = np.arange(-4000, 4001)
    null, other = noise.pmf(places), noise.pmf(places - distance)
    order = np.argsort(-other / np.maximum(null, 1e-300), kind="stable")
    used = np.cumsum(null[order])
    last = np.searchsorted(used, level)
    rest = (level - (used[last - 1] if last else 0)) / null[order][last]
    return other[order][:last].sum() + rest * other[order][last]


def shown(mechanism, move=ONE, step=1):
    return mechanism.facts(move, Typical(Fraction(step))).example


@pytest.mark.parametrize(("epsilon", "low"), [("1", 100), ("0.1", 100), ("0.05", 1000), ("0.02", 1000)])
def test_geometric_noise_is_told_apart_as_often_as_the_best_test_does(epsilon, low):
    """Of four digits rounded up; a test of seven tenths of the epsilon would be told from it."""
    line = shown(Geometric(epsilon))
    assert (line.low, line.high) == (low, pytest.approx(1.1 * low))
    power = best_power(dlaplace(float(epsilon)), low // 10)
    assert power - 1e-9 <= line.told_apart < power + 1.01e-4
    assert epsilon == "1" or line.told_apart > best_power(dlaplace(0.7 * float(epsilon)), low // 10) + 1e-3


def test_rounded_normal_noise_is_told_apart_no_more_often_than_the_normal_below_it():
    line = shown(RoundedGaussian("0.075"))
    power = norm.sf(norm.isf(0.05) - 0.075 * 10)
    assert power - 1e-3 < line.told_apart < power + 1.01e-4
    assert line.cut == pytest.approx(100 + norm.isf(0.05) / 0.075, abs=1)


def test_the_example_grows_with_the_noise_and_with_the_step():
    assert (shown(Geometric(1)).low, shown(RoundedGaussian("0.001"), step=10).low) == (100, 100_000)
    assert shown(Geometric(40), step=64).low == 1000  # two values a tenth apart are a step apart or more


def test_wide_noise_is_told_apart_as_narrow_noise_that_has_the_same_shape():
    """A million times the noise on a million times the numbers, which are too many to look at one by one."""
    narrow, wide = shown(DiscreteGaussian("0.002")), shown(DiscreteGaussian(Fraction(2, 10**15)))
    assert (wide.low, narrow.low) == (10**8, 100)
    assert wide.told_apart == pytest.approx(narrow.told_apart, abs=2e-4)


def test_noise_that_swamps_every_pair_has_no_example():
    assert example(lambda size: size, lambda true, edges: np.where(edges < true, 0.0, 1.0), 1.0) is None


@pytest.mark.parametrize("mechanism", FOUND, ids=lambda one: one.name)
@pytest.mark.parametrize("move", [ONE, MOVES["total replace-one 3"]], ids=["one", "many"])
def test_the_curves_are_the_law_of_what_is_published(mechanism, move):
    line, law = shown(mechanism, move), mechanism.law(move)
    for curve in (line.of_low, line.of_high or line.of_low):
        away, likely = np.array(curve).T
        assert 3 <= len(curve) <= CURVE
        assert (np.diff(away) > 0).all()
        assert likely == pytest.approx(law.pmf(np.round(away)) / law.pmf(0), abs=2e-3)
        assert likely.max() == 1
        assert likely[[0, -1]].max() < 0.03


def test_the_facts_are_small_and_of_the_plan_alone():
    line = RoundedGaussian("0.001").facts(ONE, Typical())
    assert len(line.model_dump_json()) < 3_000
    assert line == RoundedGaussian("0.001").facts(ONE, Typical())
    assert line.standard_error == pytest.approx(math.sqrt(10**6 + 1 / 12))


def test_the_curve_of_a_square_root_is_the_law_of_the_published_number():
    """200,000 rows of 100 published, in 43 bins: above 129 once in 10^9 draws; 5% more noise is told from it."""
    frame = Frame("unit", (), {}, range(200_000))
    move = Root(Fraction(1, 2))

    def misfit(mechanism):
        cells = Cells(frame, np.full(200_000, 100), Fraction(1), move)
        noisy = mechanism.perturb(cells, SeededDraws(1))
        edges = np.arange(-40, 50, 2)
        counted = np.histogram(noisy.values * float(noisy.step) - 100, edges)[0]
        away, likely = np.array(shown(SquareRoot("0.7"), move).of_low).T
        fine = np.interp(np.arange(-40, 48, 0.02) + 0.01, away, likely, left=0, right=0).reshape(-1, 100).sum(axis=1)
        inside = fine > 0.02 * fine.max()
        expected = fine * counted[inside].sum() / fine[inside].sum()
        return ((counted - expected)[inside] ** 2 / expected[inside]).sum()

    assert misfit(SquareRoot("0.7")) < 129
    assert misfit(SquareRoot(Fraction("0.7") / Fraction("1.05"))) > 129

"""Margins hold at their level: of sums of few draws by the law itself, of roots by the noncentral chi-square.

Nothing here is simulated. Laws are convolved with numpy, one draw after the other, and the chance of an interval of
roots is that of scipy's noncentral chi-square between the two sums at which the interval stops to hold the truth.
"""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import ncx2, norm

from sfumato.draws import DiscreteNormal, RoundedNormal, TruncatedGeometric, TwoSidedGeometric
from sfumato.errors import ReleaseError
from sfumato.mechanisms.additive import stated_noise
from sfumato.release.error_law import NoisyTotals, NormalError
from sfumato.release.root_error import RootError, deviate
from sfumato.release.summed_draws import SummedDraws
from sfumato.release.uncertainties import Independent

LAWS = {
    **{f"geometric {e}": TwoSidedGeometric(Fraction(e)) for e in ("0.1", "0.3", "0.5", "1", "2", "3", "5")},
    **{
        f"capped {e} {cap}": TruncatedGeometric(Fraction(e), cap)
        for e, cap in (("0.2", 2), ("0.5", 7), ("1", 1), ("1", 7), ("2", 3), ("2", 7), ("3", 5))
    },
    **{f"discrete normal {v}": DiscreteNormal(Fraction(v)) for v in ("0.05", "0.25", "1", "4", "100")},
    **{f"rounded normal {v}": RoundedNormal(Fraction(v)) for v in ("0.05", "0.25", "1", "4", "100")},
}
SUMS, LEVELS = (1, 2, 3, 7, 20, 60), (0.90, 0.95, 0.99)


def totals(values, noise, sampling=0.0, cells=1.0) -> NoisyTotals:
    columns = np.broadcast_arrays(*map(np.atleast_1d, (values, noise, sampling, cells)))
    return NoisyTotals(*(one.astype(float) for one in columns))


@cache
def chances(name: str, draws: int) -> np.ndarray:
    """The law of a sum, draw by draw."""
    far = int(30 * LAWS[name].variance ** 0.5 + 20)
    one = LAWS[name].pmf(np.arange(-far, far + 1))
    return one if draws == 1 else np.convolve(chances(name, draws - 1), one)


def within(name: str, draws: int, margin: float) -> float:
    law = chances(name, draws)
    return law[np.abs(np.arange(len(law)) - len(law) // 2) <= margin + 1e-9].sum()


@pytest.mark.parametrize("name", LAWS)
def test_a_margin_of_noise_holds_its_level_and_a_step_less_would_not(name):
    law = LAWS[name]
    for draws in SUMS:
        for level in LEVELS:
            [margin], _ = stated_noise(law).law.reach(level, totals(0.0, draws * law.variance))
            assert margin == round(margin)
            assert within(name, draws, margin) >= level - 1e-6
            # Where the normal law stands in, a step less may hold as well, by half a point and no more.
            assert within(name, draws, margin - 1) < level + 0.005


def test_standard_errors_times_z_do_not_hold_where_noise_is_in_whole_steps():
    """Epsilon 2, cap 7, 90%: 1.645 errors are 0.99, which only noise of 0 stays within, in 76.2 of 100 cells."""
    law = LAWS["capped 2 7"]
    assert 1.645 * law.variance**0.5 == pytest.approx(0.99, abs=0.005)
    assert within("capped 2 7", 1, 1.645 * law.variance**0.5) == pytest.approx(0.7616, abs=1e-4)
    assert stated_noise(law).law.reach(0.90, totals(0.0, law.variance))[0][0] == 1


def test_a_90_percent_margin_of_a_normal_error_is_that_of_the_census_bureau():
    assert NormalError().reach(0.90, totals(310.0, 0.0, sampling=100.0))[0][0] == pytest.approx(16.45)
    assert NormalError().reach(0.95, totals(310.0, 100.0))[0][0] == pytest.approx(10 * norm.isf(0.025))


@pytest.mark.parametrize("deviation", [0.05, 0.2, 0.45, 0.6, 1.0, 5.0])
@pytest.mark.parametrize("name", ["geometric 2", "capped 2 7", "geometric 0.5", "discrete normal 0.25"])
def test_a_sampling_error_on_top_keeps_the_level(name, deviation):
    law = LAWS[name]
    for draws in (1, 2, 7):
        steps = np.arange(len(chances(name, draws))) - len(chances(name, draws)) // 2
        for level in (0.90, 0.95):
            noise = stated_noise(law).law
            [margin], _ = noise.reach(level, totals(0.0, draws * law.variance, sampling=deviation**2))
            inside = norm.cdf((margin - steps) / deviation) - norm.cdf((-margin - steps) / deviation)
            assert (chances(name, draws) * inside).sum() > level - 0.006


@pytest.mark.parametrize("name", ["geometric 1", "capped 2 7", "discrete normal 1"])
def test_how_often_noise_alone_is_so_large_is_the_chance_that_it_is(name):
    law = LAWS[name]
    for draws in (1, 3):
        for size in (0, 1, 2, 5, 500):
            beyond = 1 - within(name, draws, size - 1) if size else 1.0
            found = stated_noise(law).law.beyond(totals(size, draws * law.variance))
            assert found[0] == pytest.approx(beyond, abs=0.02 if "normal" in name else 1e-9)


def test_sums_of_errors_of_two_laws_reach_as_far_as_the_further():
    one, other = stated_noise(LAWS["geometric 1"]).law, stated_noise(LAWS["discrete normal 1"]).law
    both, asked = one.plus(other).plus(one), totals(0.0, 2.0)
    assert both.reach(0.99, asked)[0] == max(one.reach(0.99, asked)[0], other.reach(0.99, asked)[0])
    assert one.plus(one) is one


def test_a_law_is_read_as_it_was_written_and_one_of_moments_alone_is_still_read():
    stated = stated_noise(LAWS["capped 2 7"])
    assert Independent.read(stated.to_dict(), None) == stated
    assert isinstance(stated.law, SummedDraws)
    before = Independent.read({"kind": "independent", "variance": stated.variance, "excess_kurtosis": 4.0}, None)
    assert before.law.reach(0.90, totals(0.0, stated.variance))[0][0] == 1


def coverage(size: float, rows: int, sigma: float, level: float) -> float:
    """The chance that the interval of a total of rows holds it: between two sums, as both ends rise with the sum."""
    true = rows * size

    def ends(seen: float) -> tuple[float, float]:
        value = sigma**2 * (seen - rows)
        variance = 2 * rows * sigma**4 + 4 * sigma**2 * max(value, 0.0)
        below, above = RootError(sigma**2, np.array([max(value, 0.0)])).reach(
            level, totals(value, variance, cells=rows)
        )
        return value - below[0], value + above[0]

    law = ncx2(rows, true / sigma**2)
    most = law.isf(1e-9)
    low = brentq(lambda seen: ends(seen)[1] - true, 0, most) if ends(0.0)[1] < true else 0.0
    high = brentq(lambda seen: ends(seen)[0] - true, 0, most) if ends(0.0)[0] < true else most
    return law.cdf(high) - law.cdf(low)


@pytest.mark.parametrize("rows", [1, 2, 3, 10])
@pytest.mark.parametrize("sigma", [0.33, 1.0, 2.0])
def test_95_percent_intervals_of_small_establishments_cover_94_to_98_percent(rows, sigma):
    for size in (1, 2, 3, 5, 10, 100):
        assert 0.94 <= coverage(size, rows, sigma, 0.95) <= 0.98


def test_standard_errors_times_z_would_cover_85_percent_at_size_2():
    """One row of size 2 with noise of 1 on the root: x ± 1.96 √(2 + 4 max(x, 0)), x = s² − 1."""
    s = np.linspace(-8, 11, 400_001)
    value = s**2 - 1
    held = np.abs(value - 2) <= 1.96 * np.sqrt(2 + 4 * np.maximum(value, 0))
    assert np.trapezoid(held * norm.pdf(s - np.sqrt(2)), s) == pytest.approx(0.854, abs=0.001)


@pytest.mark.parametrize("rows", [2, 3, 10, 1000])
def test_the_normal_deviate_of_a_sum_of_squares_is_that_of_its_law(rows):
    for noncentral in (0.0, 0.5, 3.0, 40.0, 1e4):
        seen = ncx2.ppf([0.005, 0.05, 0.5, 0.95, 0.995], rows, max(noncentral, 1e-12))
        found = norm.cdf(deviate(seen, np.full(5, float(rows)), np.full(5, noncentral**0.5)))
        assert found == pytest.approx([0.005, 0.05, 0.5, 0.95, 0.995], abs=0.014)


def test_a_true_total_is_never_below_0_and_a_number_without_noise_has_no_margin():
    below, above = RootError(1.0, np.array([0.0, 4.0])).reach(0.95, totals([-3.0, 4.0], [4.0, 0.0], cells=2))
    assert -3.0 - below[0] == pytest.approx(0.0)
    assert (below[1], above[1]) == (0.0, 0.0)
    assert NormalError(step=1.0).reach(0.95, totals(5.0, 0.0))[0][0] == 0.0


@pytest.mark.parametrize(
    "edited",
    [
        {"variance": -5},
        {"variance": "nan"},
        {"variance": float("inf")},
        {"excess_kurtosis": -3.0},
        {"probabilities": [0.5, 0.3]},
        {"probabilities": [0.5, -0.25, 0.5]},
        {"probabilities": [1e-3] * 5_000},
    ],
)
def test_a_law_that_none_can_be_is_refused_when_it_is_read(edited):
    stated = stated_noise(LAWS["capped 2 7"]).to_dict()
    with pytest.raises(ReleaseError, match=r"none can be|cannot have|do not sum to 1"):
        Independent.read(stated | edited, None)


@pytest.mark.parametrize("name", ["capped 2 7", "rounded normal 0.25", "geometric 1"])
def test_a_total_that_was_moved_to_one_draw_still_holds_its_level(name):
    """A raked total is its control, whose noise is in whole steps, in a product of finer ones."""
    stated = stated_noise(LAWS[name])
    fine = stated.in_steps(1000.0)
    assert Independent.read(fine.to_dict(), None) == fine
    for level in LEVELS:
        [moved], _ = fine.law.moved.reach(level, totals(0.0, 1e6 * stated.variance))
        assert within(name, 1, moved / 1000) >= level - 0.005
        [same], _ = fine.law.reach(level, totals(0.0, 1e6 * stated.variance))
        assert same == 1000 * stated.law.reach(level, totals(0.0, stated.variance))[0][0]


def test_a_variance_that_rounding_left_below_0_is_none():
    assert totals(5.0, -1e-9).whole.tolist() == [0.0]
    assert totals(5.0, 4.0, 3.0).whole.tolist() == [7.0]

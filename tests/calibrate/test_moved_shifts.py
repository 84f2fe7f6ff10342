"""How far steps move totals against their noise, by every draw of a small law, so that no alarm is by chance."""

from itertools import chain, combinations, product

import numpy as np
import pytest

from sfumato.calibrate.tidy_rows import projected
from sfumato.query import Estimate
from sfumato.query.change import change_of
from sfumato.release.error_law import NORMAL
from sfumato.release.moved_error import MovedError

TRUTH = np.array([0.0, 0.0, 1.0, 3.0])
STEPS, CHANCES = np.array([-3.0, -1.0, 0.0, 1.0, 3.0]), np.array([0.05, 0.2, 0.5, 0.2, 0.05])
TOTALS = [list(some) for some in chain.from_iterable(combinations(range(4), size) for size in (1, 2, 3, 4))]
ONE, TWO = np.zeros(4, dtype=int), np.array([0, 0, 1, 1])


def products_of_noise_and_shift(moved):
    """E[s d] of every total, s its noise and d what a step moves it by, over all 625 draws of four cells."""
    found = np.zeros(len(TOTALS))
    for places in product(range(5), repeat=4):
        noise, chance = STEPS[list(places)], CHANCES[list(places)].prod()
        shift = moved(TRUTH + noise) - (TRUTH + noise)
        found += chance * np.array([noise[some].sum() * shift[some].sum() for some in TOTALS])
    return found


@pytest.mark.parametrize(
    "moved",
    [lambda y: np.maximum(y, 0.0), lambda y: projected(y, ONE), lambda y: projected(y, TWO)],
    ids=["zero", "nearest", "nearest in two totals"],
)
def test_totals_are_moved_against_their_noise_so_that_what_is_stated_is_no_less_than_the_mean_squared_error(moved):
    assert products_of_noise_and_shift(moved).max() <= 1e-12


def test_a_step_that_goes_with_the_noise_is_found():
    assert products_of_noise_and_shift(lambda y: 1.5 * y).min() > 0


@pytest.mark.parametrize(("first", "second"), [(4.0, -4.0), (4.0, 4.0), (-1.0, 2.0), (0.0, 3.0)])
def test_the_margin_of_a_change_holds_the_noise_and_what_both_releases_were_moved_by(first, second):
    """A change is off by at most z σ and by what one total was moved more than the other, where σ² = 9 + 16."""
    before, after = (
        Estimate(100.0 + shift, variance + shift**2, law=MovedError(NORMAL, np.array([shift])))
        for shift, variance in ((first, 9.0), (second, 16.0))
    )
    change = change_of(before, after, "before")
    assert change.noise_variance == pytest.approx(25.0 + (second - first) ** 2)
    for level, z in ((0.90, 1.6448536), (0.95, 1.9599640)):
        assert change.moe(level) >= z * 5.0 + abs(second - first) - 1e-9
        # The true ratio is 1: it is inside whenever the noise of 1 · after − 1 · before is within z of its error.
        worst = Estimate(100.0 + second + z * 5.0, after.noise_variance, law=after.law)
        low, high = change_of(before, worst, "before").percent.interval(level)
        assert low - 1e-9 <= 0.0 <= high

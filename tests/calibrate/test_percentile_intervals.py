"""Intervals of percentiles hold however people lie within bands, and also where only noise made a cell large enough.

Earnings, noise and what is true are drawn and sorted here in numpy; the step sees counts alone.
"""

from fractions import Fraction
from itertools import product
from math import ceil, prod

import numpy as np
import pytest

from sfumato.calibrate import Percentile
from sfumato.calibrate.crossings import NoisyHistograms
from sfumato.calibrate.share_noise import ShareNoise
from sfumato.release import Cube, Independent, Subject
from sfumato.schema import Attribute, Bands, Levels, Table
from sfumato.studies import percentiles

WORLDS = {
    "lognormal": lambda rng, size, edges: rng.lognormal(np.log(40_000), 0.75, size),
    "heavy": lambda rng, size, edges: 15_000 * rng.random(size) ** (-1 / 1.2),
    "even": lambda rng, size, edges: rng.uniform(0, 100_000, size),
    "two lumps": lambda rng, size, edges: rng.normal(np.where(rng.random(size) < 0.5, 25_000, 60_000), 500),
    "at upper ends": lambda rng, size, edges: _in_bands(rng, size, edges, 0.9, 1.0),
    "at lower ends": lambda rng, size, edges: _in_bands(rng, size, edges, 0.0, 0.1),
}
"""Earnings that are smooth, and some that are not: in two places only, or all at one side of every band."""


def _in_bands(rng, size, edges, least, most):
    band = rng.integers(0, len(edges) - 1, size)
    return edges[band] + rng.uniform(least, most, size) * (edges[band + 1] - edges[band]) * (1 - 1e-9)


def simulated(people, epsilon, bands, least, pay, within="anything", share="0.5", runs=2_000):
    """Cells of so many people: which have a number, and whether its 95% interval holds the percentile of the people."""
    rng, edges = np.random.default_rng(17), np.array([*percentiles.edges(bands), 1_000_000], dtype=float)
    earned = np.sort(np.clip(WORLDS[pay](rng, (runs, people), edges), 0, 999_999), axis=1)
    place = bands * np.arange(runs)[:, None] + np.searchsorted(edges[1:-1], earned, side="right")
    counts = np.bincount(place.ravel(), minlength=runs * bands).reshape(runs, bands)
    half = np.exp(-epsilon * np.arange(60)) * np.tanh(epsilon / 2)
    noise = [rng.geometric(1 - np.exp(-epsilon), counts.shape) for _ in range(2)]
    law = Independent(0.5 / np.sinh(epsilon / 2) ** 2, 3 + 2 * np.sinh(epsilon / 2) ** 2, tuple(half.tolist()))
    read = Bands("pay", tuple(Fraction(int(one)) for one in edges[:-1]))
    table = Table((Attribute("cell", Levels.of(range(runs))), Attribute("pay", read.levels(), read=read)))
    cube = Cube(Subject("jobs", "count", "Jobs", "jobs", Fraction(1)), table, counts + noise[0] - noise[1], law)
    made = Percentile("m", "jobs", "pay", share, 1_000_000, least=least, within=within).apply({"jobs": cube})
    true = earned[:, ceil(float(share) * people) - 1]
    low, high = percentiles.interval_ends(made)
    return made.which == 0, (low <= true) & (true <= high)


@pytest.mark.parametrize("pay", WORLDS)
@pytest.mark.parametrize(("epsilon", "bands", "people"), [(1.5, 20, 300), (4.0, 12, 100)])
def test_intervals_hold_however_people_lie_within_bands(pay, epsilon, bands, people):
    """Of 2,000 cells; 95% would show fewer than 92% by a chance of 1e-8. Taken for smooth, lumps hold far less."""
    for share in ("0.25", "0.5"):
        _, held = simulated(people, epsilon, bands, -1000, pay, share=share)
        assert held.mean() > 0.92
    _, smooth = simulated(people, epsilon, bands, -1000, pay, "smooth")
    assert (smooth.mean() > 0.92) == (pay in {"lognormal", "heavy", "even"}), "the negative arm"


PROMISED = [
    ("lognormal", 1.5, 20, 300, "0.5"),
    ("lognormal", 4.0, 40, 300, "0.25"),
    ("heavy", 4.0, 40, 300, "0.25"),
    ("heavy", 0.5, 20, 300, "0.5"),
    ("even", 0.5, 20, 300, "0.75"),
    ("even", 1.5, 40, 1_000, "0.5"),
]
"""Cells of six standard errors of their count and more, seven people a band, percentiles that are in no outer band."""


@pytest.mark.slow
@pytest.mark.parametrize(("pay", "epsilon", "bands", "people", "share"), PROMISED)
def test_smooth_intervals_hold_93_to_97_of_100_where_that_is_promised(pay, epsilon, bands, people, share):
    """Of 10,000 cells; 95% would show fewer than 93% or more than 97% by a chance of 1e-18."""
    assert people >= 6 * np.sqrt(bands / 2) / np.sinh(epsilon / 2)
    assert people >= 7 * bands
    _, held = simulated(people, epsilon, bands, -1000, pay, "smooth", share, runs=10_000)
    assert 0.93 < held.mean() < 0.97


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "bands", "people", "share", "within"),
    [(1.5, 6, 300, "0.25", "smooth"), (0.5, 40, 30, "0.5", "smooth"), (1.5, 20, 300, "0.5", "anything")],
)
def test_where_it_is_not_promised_intervals_hold_more_often(epsilon, bands, people, share, within):
    """A percentile in an outer band, a cell that is small for its noise, and whole bands: the promise is of neither."""
    _, held = simulated(people, epsilon, bands, -1000, "lognormal", within, share, runs=10_000)
    assert held.mean() > 0.97


def test_one_person_alone_in_a_band_with_all_others_far_off_is_held():
    """The worst there is: D is 1/2 off 0 at both ends of the band. Exact chances of a miss, by all sums of noise.

    At an epsilon of 4 a normal law of the same variance would miss 5.2% of 95% intervals of P25 in six bands.
    """
    for epsilon, bands, share in ((4.0, 6, Fraction(1, 4)), (1.0, 4, Fraction(1, 2)), (0.5, 3, Fraction(1, 4))):
        half = np.exp(-epsilon * np.arange(80)) * np.tanh(epsilon / 2)
        noise = Independent(0.5 / np.sinh(epsilon / 2) ** 2, probabilities=tuple(half.tolist()))
        (reaches,) = ShareNoise(noise, share, bands).reaches([0.05])
        rng, n = np.random.default_rng(3), 101
        draws = [rng.geometric(1 - np.exp(-epsilon), (100_000, bands)) for _ in range(2)]
        counts, own = np.zeros(bands), bands // 2
        rank = ceil(share * n)
        counts[[own - 1, own, bands - 1]] += [rank - 1, 1, n - rank]
        edges = np.arange(bands + 1.0)
        low, high = NoisyHistograms(counts + draws[0] - draws[1], edges, noise.variance).band_ends(share, reaches[None])
        assert ((low <= own) & (own + 1 <= high)).mean() > 0.9475, "95% and four errors of 100,000 draws"


@pytest.mark.parametrize("within", ["anything", "smooth"])
@pytest.mark.parametrize(("people", "epsilon", "bands"), [(10, 0.5, 10), (20, 1.5, 20), (25, 1.5, 6)])
def test_cells_that_noise_lifted_over_the_least_are_held_as_well(people, epsilon, bands, within):
    """Of 20,000 cells of 10 people some 300 have a number; at a plain 95% 82% of them hold their median.

    Of 150 shown 95% would show fewer than 85% by a chance of 1e-6.
    """
    shown, held = simulated(people, epsilon, bands, 30, "lognormal", within, runs=20_000)
    assert 100 < shown.sum() < 2_000
    assert held[shown].mean() > 0.9


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 4), Fraction(3, 10)])
def test_how_far_noise_moves_a_share_is_that_of_all_draws_listed(share):
    """Three counts with noise of −2 to 2: every triple of draws, its chance and how far it moves D, one by one."""
    chances = {-2: 0.05, -1: 0.2, 0: 0.5, 1: 0.2, 2: 0.05}
    noise = Independent(0.8, -0.5, probabilities=(0.5, 0.2, 0.05))
    found = ShareNoise(noise, share, 3).reaches([0.3, 0.1, 0.01])
    for below in range(4):
        weights = [1 - share] * below + [-share] * (3 - below)
        moved = [
            (sum(weight * draw for weight, draw in zip(weights, draws, strict=True)), prod(map(chances.get, draws)))
            for draws in product(chances, repeat=3)
        ]
        for row, miss in enumerate([0.3, 0.1, 0.01]):
            reach = Fraction(found[row, below]).limit_denominator(10)
            beyond = [sum(chance for far, chance in moved if far > limit) for limit in (reach, reach - share / 100)]
            assert beyond[0] <= miss / 2 + 1e-12, "noise goes further no more often than is asked for"
            assert beyond[1] > miss / 2 - 1e-12 or reach == 0, "and no shorter reach would do"

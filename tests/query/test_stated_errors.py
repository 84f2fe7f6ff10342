"""Stated errors against simulation: releases of one world that differ only in their noise.

Answers are asked of the engine as a user would. Each check has a false-alarm rate of 1e-9; draws are seeded, so that
what passes once passes always. Power: a check of N squared errors knows a variance to sqrt(2/N), 3.7% for the 1,440 of
each kind of question and 1.05% for the 18,000 of the long ones; one stated 40%, or 10%, too small or too large is
7.7 of those away or more, and is missed once in 18, and once in 200 of the long ones.
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, gamma, kstest, norm
from worlds import COUNTS, TABLE, World, engine_of, manifest_of, subject_of

from sfumato.draws import SeededDraws
from sfumato.errors import QueryError
from sfumato.mechanisms import DiscreteGaussian, Geometric, RoundedGaussian
from sfumato.mechanisms.additive import stated_noise
from sfumato.query import Estimate
from sfumato.query.ranks import rank_intervals
from sfumato.query.ratio import ratio_of
from sfumato.release import Cube, Independent, Noisy
from sfumato.release.error_law import NormalError
from sfumato.release.tails import reach, tail
from sfumato.schema import Attribute, Grid, Levels, Table

FALSE_ALARM = 1e-9
MECHANISMS = {one.name: one for one in (Geometric("0.5"), DiscreteGaussian("0.1"), RoundedGaussian("0.5"))}
PLACES = TABLE.attribute("place").levels.leaves
RUNS = {40: 0.6, 500: 0.9}
"""How many releases are made, and the part of a true variance that they tell from it."""
FEW_OR_MANY = pytest.mark.parametrize("runs", [40, pytest.param(500, marks=pytest.mark.slow)])
KINDS = ("share", "ratio", "mean", "difference")


def random_levels(rng, name: str) -> list[str]:
    """Some levels of an attribute, of any depth, that do not make up all of it."""
    levels = TABLE.attribute(name).levels
    while True:
        chosen = rng.choice(levels.codes, rng.integers(1, len(levels.codes) // 2 + 1), replace=False).tolist()
        if not levels.mask(chosen).all():
            return chosen


@cache
def questions(place: str) -> dict[str, tuple]:
    """For one place, random boxes; questions about different places share no cell, so their errors are independent."""
    rng = np.random.default_rng(PLACES.index(place))
    part = {"trade": random_levels(rng, "trade")}
    within = {"place": place, "age": ["young", "middle", "old"]}
    other = {"place": place, "trade": random_levels(rng, "trade"), "sex": ["f", "m"]}
    return {
        "share": ("share", part, within),
        "ratio": ("ratio", {**within, **part}, other),
        "mean": ("mean", "pay", within, "jobs"),
        "difference": ("compare", {**within, **part}, other),
    }


def ask(engine, question: tuple) -> Estimate:
    verb, *given = question
    return getattr(engine, verb)(*given)


@cache
def answers(mechanism: str, runs: int) -> dict[str, list[tuple[float, Estimate]]]:
    """For each kind of question the truth and the estimate, in 12 independent cases a run."""
    world, draws = World.of(MECHANISMS[mechanism]), SeededDraws(11)
    truth = world.truth()
    true = {(kind, place): ask(truth, questions(place)[kind]).value for kind in KINDS for place in PLACES}
    manifest = manifest_of(world.cube("jobs", draws), world.cube("pay", draws))
    found = {kind: [] for kind in KINDS}
    for _ in range(runs):
        engine = engine_of(world.cube("jobs", draws), world.cube("pay", draws), manifest=manifest)
        for place in PLACES:
            for kind in KINDS:
                found[kind].append((true[kind, place], ask(engine, questions(place)[kind])))
    return found


def variance_is_true(errors: np.ndarray, stated: np.ndarray, excess: float = 0.0) -> bool:
    """Whether squared errors are as large as stated, up to Monte Carlo error at the false-alarm rate."""
    z = (np.mean(errors**2 / stated) - 1) / math.sqrt((2 + excess) / len(errors))
    return abs(z) < norm.isf(FALSE_ALARM / 2)


def errors_of(kind: str, names, runs: int) -> tuple[np.ndarray, np.ndarray]:
    cases = [case for name in names for case in answers(name, runs)[kind]]
    return np.array([got.value - true for true, got in cases]), np.array([got.variance for _, got in cases])


@FEW_OR_MANY
@pytest.mark.parametrize("kind", KINDS)
def test_stated_variance_is_the_variance(kind, runs):
    for name in MECHANISMS:
        assert variance_is_true(*errors_of(kind, [name], runs))
    errors, stated = errors_of(kind, MECHANISMS, runs)
    assert len(errors) >= 36 * runs
    assert variance_is_true(errors, stated)
    assert not variance_is_true(errors, stated * RUNS[runs])
    assert not variance_is_true(errors, stated * (2 - RUNS[runs]))


@FEW_OR_MANY
@pytest.mark.parametrize("kind", KINDS)
def test_95_percent_intervals_cover_as_often(kind, runs):
    cases = [case for name in MECHANISMS for case in answers(name, runs)[kind]]
    inside = [low <= true <= high for true, got in cases for low, high in [got.interval(0.95)]]
    # The share of 18,000 is known to 0.16%, so an interval that covers 93% or 97% would not pass once in 1e9.
    off = 6.1 * math.sqrt(0.95 * 0.05 / len(cases))
    assert abs(np.mean(inside) - 0.95) < off
    assert off < 0.036


@cache
def totals(mechanism: str, runs: int = 2_000, boxes: int = 60):
    """Errors of random boxes by matrix product, and the estimates that the engine states for them."""
    world, draws, rng = World.of(MECHANISMS[mechanism]), SeededDraws(12), np.random.default_rng(3)
    asked = [{name: random_levels(rng, name) for name in TABLE.names} for _ in range(boxes)]
    inside = np.zeros((boxes, *TABLE.shape), dtype=np.int64)
    for box, where in zip(inside, asked, strict=True):
        box[np.ix_(*(TABLE.box(where).mask(attribute) for attribute in TABLE.attributes))] = 1
    cubes = [world.cube("jobs", draws) for _ in range(runs)]
    noise = np.stack([(cube.values - world.jobs).ravel() for cube in cubes]).astype(float)
    errors = noise @ inside.reshape(boxes, -1).T
    stated = [engine_of(cubes[0]).total(where) for where in asked]
    first = [one.value - world.truth().total(where).value for one, where in zip(stated, asked, strict=True)]
    assert errors[0].tolist() == first
    return errors, stated


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_totals_of_random_boxes_vary_as_stated(mechanism):
    errors, stated = totals(mechanism)
    law = MECHANISMS[mechanism].law(COUNTS)
    kurtosis = law.fourth_moment / law.variance**2 - 3
    for error, one in zip(errors.T, stated, strict=True):
        assert one.noise_variance == pytest.approx(one.cells * law.variance)
        if one.cells == 0:
            assert not error.any()
            continue
        assert variance_is_true(error, np.full(len(error), one.noise_variance), kurtosis / one.cells)
        assert not variance_is_true(error, np.full(len(error), one.noise_variance / 1.3))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_intervals_of_totals_cover_94_to_96_percent(mechanism):
    errors, stated = totals(mechanism)
    reach = [(one.interval(0.95)[1] - one.interval(0.95)[0]) / 2 for one in stated]
    large = np.array([one.cells >= 20 for one in stated])
    covered = (np.abs(errors) <= reach)[:, large].mean()
    assert 0.94 < covered < 0.96


@pytest.mark.parametrize("epsilon", ["0.05", "0.2", "0.5", "1", "2", "4"])
def test_intervals_of_a_single_cell_with_geometric_noise(epsilon):
    """By the law, not by draws: a Laplace law has more in its tails than a normal one."""
    law = Geometric(epsilon).law(COUNTS)
    for level in (0.90, 0.95, 0.99, 0.999):
        low, high = Estimate(0, law.variance, law=stated_noise(law).law).interval(level)
        # The edge falls between two integers, so one part in a hundred of the tail may stand on the wrong side.
        assert law.survival(math.floor(high) + 1) <= 1.01 * (1 - level)
        assert low == -high


@pytest.mark.parametrize("scale", [1, 5])
@pytest.mark.parametrize("cells", [1, 2, 3, 5, 20, 60])
def test_intervals_of_few_cells_with_geometric_noise_cover_what_they_say(cells, scale):
    """By the exact law of the sum, a convolution: at least the level, and no more than rounding to integers gives."""
    law = Geometric(Fraction(1, scale)).law(COUNTS)
    far = 30 * scale + 20
    single = law.pmf(np.arange(-far, far + 1))
    sums = single
    for _ in range(cells - 1):
        sums = np.convolve(sums, single)
    middle = len(sums) // 2
    noisy = Noisy(ROWS, np.zeros(12, dtype=np.int64), Fraction(1), COUNTS)
    cube = Cube(subject_of("jobs"), ROWS, noisy.values, Geometric(Fraction(1, scale)).uncertainty(noisy))
    variance, noise = cells * cube.uncertainty.variance, cube.errors.law(Grid(()))
    for level in (0.90, 0.95, 0.99):
        reach = math.floor(Estimate(0, variance, law=noise).interval(level)[1])
        covered = sums[middle - reach : middle + reach + 1].sum()
        narrower = sums[middle - reach + 1 : middle + reach].sum()
        assert covered >= level - 1e-4
        assert narrower < level + 0.01
    normal = math.floor(Estimate(0, variance, law=NormalError(1.0)).interval(0.99)[1])
    if cells == 1 and scale == 5:
        assert sums[middle - normal : middle + normal + 1].sum() < 0.98


def test_tails_are_those_of_sums_of_laplace_laws():
    """A sum of n Laplace laws is a normal law whose variance is a gamma law of shape n, integrated by scipy."""
    for many in (1, 2, 7, 39, 40, 400):
        for level in (0.92, 0.95, 0.99, 0.999):
            errors = reach(level, 3 / many)
            beyond = beyond_by_mixture(errors, many)
            assert beyond <= (1 - level) * 1.02
            assert errors == reach(level, 0.0) or beyond >= (1 - level) * 0.98
            assert errors == reach(level, 0.0) or tail(errors, 3 / many) == pytest.approx(1 - level, rel=1e-6)


def beyond_by_mixture(errors: float, many: int) -> float:
    shape = gamma(many, scale=1 / many)
    return quad(lambda part: shape.pdf(part) * 2 * norm.sf(errors / math.sqrt(part)), 0, np.inf, epsabs=1e-10)[0]


@pytest.mark.parametrize("away", [2.0, 3.0, 4.0, 5.0, 7.0, 10.0])
@pytest.mark.parametrize(("ratio", "shared"), [(0.3, 9.0), (1.0, 0.0), (2.0, 0.0)])
def test_ratios_cover_wherever_the_denominator_is(ratio, shared, away):
    """Fieller's interval, a denominator `away` errors from 0: it covers, or says that anything could be."""
    rng = np.random.default_rng(4)
    spread = np.array([[30.0 if shared else 100.0, shared], [shared, 100.0]])
    under = 10 * away
    noise = rng.multivariate_normal([0, 0], spread, 2_000)
    covered = refused = 0
    for over_error, under_error in noise:
        over, below = Estimate(ratio * under + over_error, spread[0, 0]), Estimate(under + under_error, spread[1, 1])
        try:
            low, high = ratio_of(over, below, shared, "ratio", 0.0).interval(0.95)
        except QueryError:
            refused += 1
            continue
        covered += low <= ratio <= high
    # 93% of 2,000 is 4.1 binomial errors below 95%, 93% of 1,000 2.9.
    assert (covered + refused) / len(noise) > 0.93
    assert covered / (len(noise) - refused) > 0.93
    assert refused / len(noise) == pytest.approx(norm.cdf(1.96 - away), abs=0.03)


def test_a_ratio_to_nearly_nothing_is_refused_with_the_reason():
    cube = Cube(subject_of("jobs"), TABLE, np.zeros(TABLE.shape, dtype=np.int64), Independent(2.0))
    with pytest.raises(QueryError, match="within its own noise of 0"):
        engine_of(cube).share({"sex": "f"})


ROWS = Table((Attribute("row", Levels.of(range(12))),))
TRUTHS = {"equal": np.zeros(12), "tied": np.repeat(np.arange(4), 3) * 3, "apart": np.arange(12) ** 2}


@pytest.mark.parametrize("mechanism", [Geometric(1), Geometric(4), Geometric("0.1"), RoundedGaussian(1)])
@pytest.mark.parametrize("truth", TRUTHS)
def test_rank_intervals_hold_the_true_rank_at_least_at_their_level(mechanism, truth):
    """Single cells, where noise is least normal; 2,000 tables know 90% of a row to 0.7%, 88% is 3 of those below."""
    law, true = mechanism.law(COUNTS), TRUTHS[truth].astype(np.int64)
    of_difference = 2 * law.variance
    best, worst = 1 + (true[None, :] > true[:, None]).sum(axis=1), 12 - (true[None, :] < true[:, None]).sum(axis=1)
    published = true + law.draw(2_000 * 12, SeededDraws(13)).reshape(2_000, 12)
    ranks = np.array([rank_intervals(one.tolist(), of_difference, 0.90, 1.0) for one in published])
    held = ((ranks[..., 0] <= best) & (worst <= ranks[..., 1])).mean(axis=0)
    assert held.min() > 0.88
    cube = Cube(subject_of("jobs"), ROWS, published[0], Independent(law.variance))
    assert [tuple(one) for one in ranks[0]] == list(engine_of(cube).table("row").ranks(level=0.90).values())


def test_rank_intervals_of_many_rows_hold_and_would_not_with_normal_tails():
    law = Geometric(1).law(COUNTS)
    of_difference = 2 * law.variance
    published = law.draw(200 * 50, SeededDraws(15)).reshape(200, 50).astype(float)
    ranks = np.array([rank_intervals(one.tolist(), of_difference, 0.90, 1.0) for one in published])
    assert ((ranks[..., 0] == 1) & (ranks[..., 1] == 50)).mean() > 0.90
    gaps = np.abs(published[:, :, None] - published[:, None, :]).max(axis=2)
    assert (gaps <= norm.isf(0.1 / 49 / 2) * math.sqrt(of_difference)).mean() < 0.80


@pytest.mark.parametrize("mechanism", [Geometric(7), Geometric(6), Geometric(5), RoundedGaussian(6)])
def test_rank_intervals_of_many_rows_hold_where_noise_is_mostly_zero(mechanism):
    """One cell in 550 moves at epsilon 7, so of 500 rows that tie about one stands a step off in every table.

    A gap of one step is beyond six errors of a difference there, as they are 0.06 each, and yet is no surprise.
    """
    law = mechanism.law(COUNTS)
    published = law.draw(60 * 500, SeededDraws(16)).reshape(60, 500).astype(float)
    ranks = np.array([rank_intervals(one, 2 * law.variance, 0.90, 1.0) for one in published])
    assert ((ranks[..., 0] == 1) & (ranks[..., 1] == 500)).mean() > 0.90
    if mechanism == Geometric(7):
        moved = (published != 0).any(axis=1).mean()
        assert moved > 0.35  # 60% by the law: so often would the error and half a step alone tell equal rows apart
        assert 6.1 * math.sqrt(2 * law.variance) + 0.5 < 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_p_values_are_uniform_when_nothing_differs(mechanism):
    """Two boxes that are truly equal, 24 cells each, asked in 1,200 releases."""
    law, draws = MECHANISMS[mechanism].law(COUNTS), SeededDraws(14)
    one, other = {"row": [str(row) for row in range(6)]}, {"row": [str(row) for row in range(6, 12)]}
    found, manifest = [], None
    for noise in law.draw(1_200 * 12 * 4, draws).reshape(1_200, 12, 4).sum(axis=2):
        cube = Cube(subject_of("jobs"), ROWS, 100 + noise, Independent(4 * law.variance))
        manifest = manifest or manifest_of(cube)
        found.append(engine_of(cube, manifest=manifest).compare(one, other).p_value)
    for level in (0.01, 0.05, 0.10, 0.5):
        low, high = binom.ppf([FALSE_ALARM, 1 - FALSE_ALARM], len(found), level)
        assert low <= np.count_nonzero(np.array(found) < level) <= high
    # At 1,200 the largest gap of a uniform is 0.088 once in 1e8. Differences are whole and a p-value counts its own: it
    # is never too small, and too large by the chance of the two differences of that size at most.
    assert kstest(found, "uniform", alternative="greater").statistic < 0.09
    lump = 2 / math.sqrt(2 * math.pi * 48 * law.variance)
    assert kstest(found, "uniform", alternative="less").statistic < 0.09 + lump


@pytest.mark.parametrize("cells", [1, 2, 6, 10, 11])
def test_a_share_and_its_complement_have_one_margin_and_hold(cells):
    """Twelve cells, geometric noise at epsilon 3; a share R is off by 1 − R times its noise less R times the rest's."""
    law = Geometric(3).law(COUNTS)
    values = np.array([1, 2, 5, 20, 0, 3, 10, 50, 100, 7, 4, 30])
    part, rest = [str(row) for row in range(cells)], [str(row) for row in range(cells, 12)]
    draws = law.draw(12 * 400, SeededDraws(5)).reshape(-1, 12)
    held = []
    for noise in draws:
        engine = engine_of(Cube(subject_of("jobs"), ROWS, values + noise, stated_noise(law)))
        one, other = engine.share({"row": part}), engine.share({"row": rest})
        assert one.moe() == pytest.approx(other.moe(), rel=1e-6, abs=1e-12)
        held.append(abs(one.value - values[:cells].sum() / values.sum()) <= one.moe() + 1e-12)
    # 85% of 400 is 3.3 binomial errors below 90%; 1.645 errors held 83% at worst.
    assert np.mean(held) > 0.85


@pytest.mark.parametrize(("apart", "ranks"), [(17.0, [(1, 1), (2, 2)]), (16.0, [(1, 2), (1, 2)])])
def test_two_rows_have_ranks_of_their_own_only_beyond_the_error_of_their_difference(apart, ranks):
    """One comparison at 90%: ln(10) / √2 errors of 10, the tail of a Laplace law, is 16.28."""
    assert rank_intervals([50.0 + apart, 50.0], 100.0, 0.90) == ranks
    assert rank_intervals([50.0], 100.0, 0.90) == [(1, 1)]
    assert rank_intervals([], 100.0, 0.90) == []

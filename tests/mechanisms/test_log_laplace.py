"""The log-Laplace mechanism: its logarithms, its loss on the law, its bias and errors by the closed forms of the note.

The closed forms are those of Laplace's law with scale l = factor ln(1 + alpha) / epsilon (Haney et al. 2017, algorithm
1, and the corrections of its theorem 8.3); the lattice is a thousandth of ln(1 + alpha) fine and one step wider, so
that they hold to some thousandths. Sums over the law take the place of draws wherever something is compared.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.draws import SeededDraws
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms import Cells, LogLaplace, Typical
from sfumato.mechanisms.log_laplace import lattice
from sfumato.mechanisms.logarithmic import moment
from sfumato.privacy import Approximate, Bounded, Relative, Root
from sfumato.release import Proportional, Withheld
from sfumato.release.error_law import NoisyTotals
from sfumato.release.relative_error import RelativeError
from sfumato.schema import Attribute, Frame, Levels, Table

TENTH = Relative(Fraction(1, 10))
ALPHAS = [Fraction(one) for one in ("0.01", "0.05", "0.1", "0.15", "0.2")]


def cells(values, move=TENTH) -> Cells:
    values = np.asarray(values, dtype=np.int64)
    return Cells(Frame("cell", (), {}, range(len(values))), values, Fraction(1), move)


def grown(size: int, alpha: Fraction) -> int:
    return max(math.floor((1 + alpha) * size), size + 1)


def scale(epsilon: float, alpha: float, factor: int = 1) -> float:
    return factor * math.log1p(alpha) / epsilon


def law_of(mechanism: LogLaplace, move: Relative = TENTH):
    """Chances of the noise on a logarithm, and e^noise, over all that is likelier than 1e-13."""
    law = mechanism.law(move)
    k = np.arange(-int(30 * law.scale), int(30 * law.scale) + 1)
    return law.pmf(k), np.exp(k * lattice(move))


@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
def test_a_logarithm_goes_ln_one_plus_alpha_and_no_further_and_from_0_to_1_it_does(alpha):
    shifted = [math.log(grown(n, alpha) + 1 / alpha) - math.log(n + 1 / alpha) for n in range(5_000)]
    assert max(shifted) == pytest.approx(math.log1p(alpha), rel=1e-12)
    assert shifted[0] == max(shifted)
    without = [math.log(grown(n, alpha)) - math.log(n) for n in range(1, 5_000)]
    assert max(without) > 2 * max(shifted), "without 1 / alpha one worker more in a small cell is seen"


@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
@pytest.mark.parametrize("factor", [1, 2])
def test_no_step_loses_more_than_epsilon_and_factor_2_half_of_it(alpha, factor):
    mechanism, move = LogLaplace(4, factor=factor), Relative(alpha)
    sizes = np.array([*range(400), 1_000, 9_999, 10**6, 10**9])
    larger = np.array([grown(int(size), alpha) for size in sizes])
    apart = mechanism.clean(cells(larger, move)) - mechanism.clean(cells(sizes, move))
    losses = apart * float(mechanism.law(move).rate)
    assert losses.max() <= 4 * (1 + 1e-12) / factor
    assert losses.max() >= 0.998 * 4 / factor, "some step loses it all"


def test_a_lattice_that_is_one_step_too_narrow_for_its_floats_would_be_told():
    """Negative arm: noise scaled to 900 steps of the 1,000 that a logarithm goes loses 11% more than is claimed."""
    mechanism = LogLaplace(1)
    apart = int(np.diff(mechanism.clean(cells([0, 1])))[0])
    assert apart == 1_000
    assert apart / 1_001 <= 1
    assert apart / 900 > 1.1


def test_as_many_steps_as_a_move_has_share_the_epsilon():
    for steps in (2, 8):
        one, many = LogLaplace(8).law(TENTH), LogLaplace(8).law(Relative(Fraction(1, 10), steps))
        assert many.rate * steps == one.rate
        assert LogLaplace(8).loss(Relative(Fraction(1, 10), steps)) == Approximate(8)


def test_two_establishments_between_which_something_goes_are_two_steps():
    """2 epsilon at factor 1, epsilon as published: what the factor buys."""
    for factor, lost in ((1, 2.0), (2, 1.0)):
        mechanism = LogLaplace(1, factor=factor)
        one, other = (mechanism.clean(cells(values)) for values in ([0, 1], [1, 0]))
        assert np.abs(one - other).sum() * float(mechanism.law(TENTH).rate) == pytest.approx(lost, rel=2e-3)


@pytest.mark.parametrize(("epsilon", "high"), [("1", 1.0377), ("0.5", 1.170), ("0.25", 2.39)], ids=str)
def test_the_bias_as_drawn_is_the_note_s_and_the_estimate_has_none(epsilon, high):
    paper = LogLaplace(epsilon, factor=2)
    chances, factors = law_of(paper)
    assert moment(paper.law(TENTH), lattice(TENTH)) == pytest.approx(high, rel=4e-3)
    if epsilon != "0.25":  # beyond 30 scales lies more of that mean than is summed
        assert float(chances @ factors) == pytest.approx(high, rel=4e-3)
    assert LogLaplace(epsilon, factor=2, estimate="as drawn").mean(TENTH) == 1
    noisy = paper.perturb(cells([0, 7, 2_000] * 20_000), SeededDraws(3)).values.reshape(-1, 3) / 100
    if epsilon == "1":
        error = noisy.std(axis=0) / math.sqrt(20_000)
        assert (np.abs(noisy.mean(axis=0) - [0, 7, 2_000]) <= 6.1 * error + 1e-4 * np.array([10, 17, 2_010])).all()


@pytest.mark.parametrize("epsilon", ["400", "2000", "16384"])
def test_margins_hold_where_the_lattice_is_coarser_than_the_noise(epsilon):
    """Of 500 sizes around a million, by the law of each, 90% and more of what is published is within its margin.

    Of a single one it is 85% at least, where the next step lies just beyond. A lattice step of a million is 95 jobs;
    the noise alone at epsilon 16,384 has a margin of some hundredths of one.
    """
    step, rate = math.log(1.1) / 1_000, float(epsilon) / 1_001
    k = np.arange(-200, 201)
    chances = np.exp(-rate * np.abs(k)) * math.tanh(rate / 2)
    mean = float(chances @ np.exp(k * step))
    margin = LogLaplace(epsilon).margin(TENTH, Typical(size=1e6))
    sizes = np.arange(1_000_000, 1_000_500)
    logs = np.floor(np.log(sizes + 10) / step + 0.5)
    published = np.exp((logs[:, None] + k) * step) / mean - 10
    held = (np.abs(published - sizes[:, None]) <= margin) @ chances
    assert held.mean() >= 0.9
    assert held.min() >= 0.85
    assert (np.abs(published[:, 200] - sizes) > 40).any(), "sizes that rounding alone moves almost half a step"


@pytest.mark.parametrize("factor", [1, 2])
@pytest.mark.parametrize("epsilon", ["1", "2", "4"])
def test_errors_are_the_closed_forms(epsilon, factor):
    size = scale(float(epsilon), 0.1, factor)
    unbiased, drawn = LogLaplace(epsilon, factor), LogLaplace(epsilon, factor, "as drawn")
    chances, factors = law_of(unbiased)
    assert unbiased.variance(TENTH) == pytest.approx((1 - size**2) ** 2 / (1 - 4 * size**2) - 1, rel=5e-3)
    assert drawn.variance(TENTH) == pytest.approx(
        (2 * size**2 + 4 * size**4) / ((1 - 4 * size**2) * (1 - size**2)), rel=5e-3
    )
    assert float(chances @ np.abs(factors - 1)) == pytest.approx(size / (1 - size**2), rel=5e-3)
    again = float(chances @ (factors / unbiased.mean(TENTH) - 1) ** 2)
    half = lattice(TENTH) / 2  # by which rounding moves a logarithm at most
    assert unbiased.variance(TENTH) == pytest.approx(again + half**2, rel=1e-6)
    assert unbiased.expected(TENTH, Typical(size=200)) == pytest.approx(210 * math.sqrt(again), rel=1e-6)


def test_the_paper_s_error_at_200_jobs_is_41_5():
    drawn, (chances, factors) = LogLaplace(1, 2, "as drawn"), law_of(LogLaplace(1, 2))
    assert 210 * float(chances @ np.abs(factors - 1)) == pytest.approx(41.5, abs=0.1)
    assert 5_010 * float(chances @ np.abs(factors - 1)) == pytest.approx(991, abs=2)
    assert drawn.parameters() == "epsilon 1, factor 2, as drawn"


@pytest.mark.parametrize(
    ("alpha", "mean"), [("0.01", 0.0199), ("0.05", 0.0976), ("0.1", 0.1906), ("0.15", 0.2795), ("0.2", 0.3646)]
)
def test_below_the_smallest_epsilon_it_is_refused_with_one_that_would_do(alpha, mean):
    """As published: a mean from 2 ln(1 + alpha) on, a variance from 4 ln(1 + alpha) on."""
    move = Relative(Fraction(alpha))
    assert mean == pytest.approx(2 * math.log1p(float(alpha)), abs=5e-5)
    with pytest.raises(PromiseError) as refused:
        LogLaplace(str(mean * 0.99), factor=2).loss(move)
    least, twice = _numbers(str(refused.value))
    assert least == pytest.approx(mean, rel=3e-3)
    assert twice == pytest.approx(2 * mean, rel=3e-3)
    barely = LogLaplace(str(Fraction(least) * Fraction(1001, 1000)), factor=2)
    assert isinstance(barely.variance(move), Withheld)
    assert isinstance(LogLaplace(str(Fraction(twice) * Fraction(1001, 1000)), factor=2).variance(move), float)
    assert "above" in barely.variance(move).reason


def _numbers(said: str) -> tuple[float, float]:
    words = [word.rstrip(".;,") for word in said.split("above", 1)[1].split()]
    found = [float(word) for word in words if word[0].isdigit()]
    return found[0], found[1]


def test_what_is_stated_is_a_share_of_the_number_and_says_nothing_of_the_data():
    mechanism = LogLaplace(1)
    one, other = (mechanism.perturb(cells(values), SeededDraws(1)) for values in ([0, 5, 900], [7, 7, 7]))
    assert mechanism.uncertainty(one) == mechanism.uncertainty(other)
    assert isinstance(mechanism.uncertainty(one), Proportional)
    assert not one.public
    assert isinstance(mechanism.expected(TENTH, Typical()), Withheld)
    facts = mechanism.facts(TENTH, Typical())
    assert facts.at == "size"
    assert facts.standard_error == pytest.approx(mechanism.expected(TENTH, Typical(size=facts.size)))


@pytest.mark.parametrize(("step", "size"), [(1, 100), (1_000, 10_000)])
def test_noise_that_swamps_every_tenth_has_a_standard_error_that_is_told_at_a_size(step, size):
    """At epsilon 0.5 it is over a fifth of any number: 110 √((1 − l²)² / (1 − 4 l²) − 1) at 100 jobs, l = .19081."""
    facts, spread = LogLaplace("0.5").facts(TENTH, Typical(step=Fraction(step))), scale(0.5, 0.1) * 1.001
    assert (facts.at, facts.size, facts.example, facts.why) == ("size", size, None, "")
    error = (size + 10) * math.sqrt((1 - spread**2) ** 2 / (1 - 4 * spread**2) - 1)
    assert facts.standard_error == pytest.approx(error, rel=2e-3)


def test_the_noisy_logarithms_are_told_by_what_is_published():
    mechanism, true = LogLaplace("0.5"), cells([3, 50, 1_000, 10**6] * 500)
    noisy = mechanism.perturb(true, SeededDraws(5))
    seen = mechanism.seen(noisy) - mechanism.clean(true)
    again = mechanism.law(TENTH).draw(2_000, SeededDraws(5))
    large = true.values >= 1_000
    assert np.abs(seen - again)[large].max() <= 1


@pytest.mark.parametrize("sizes", [[0], [100], [100, 100], [1_000, 5, 3], [20] * 60], ids=lambda one: str(one[:3]))
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_intervals_hold_their_level(epsilon, sizes):
    """10,000 totals: a share of 0.95 is known to 0.0022, so that less than 0.937 is a false alarm once in 1e9."""
    mechanism, count = LogLaplace(epsilon), 10_000
    noisy = mechanism.perturb(cells(sizes * count), SeededDraws(11))
    stated = mechanism.uncertainty(noisy)
    with_shift = noisy.values.reshape(count, -1) + stated.shift
    law = RelativeError(*((with_shift.astype(float) ** power).sum(axis=1) for power in (1, 2, 4)))
    values = noisy.values.reshape(count, -1).sum(axis=1).astype(float)
    noise = (with_shift.astype(float) ** 2).sum(axis=1) * stated.variance / (1 + stated.variance)
    totals = NoisyTotals(values, noise, np.zeros(count), np.full(count, float(len(sizes))))
    for level, least, most in ((0.90, 0.88, 0.93), (0.95, 0.937, 0.975), (0.99, 0.983, 1.0)):
        below, above = law.reach(level, totals)
        held = np.mean((values - below <= 100 * sum(sizes)) & (100 * sum(sizes) <= values + above))
        assert least <= held <= most
    half = np.mean(np.abs(values - 100 * sum(sizes)) <= law.reach(0.95, totals)[0] / 2)
    assert half < 0.9, "intervals half as long do not"


def test_impossible_cells_stay_0_and_listed_tables_are_refused():
    table = Table((Attribute("cell", Levels.of(range(3))),))
    with pytest.raises(PlanError, match="every cell is laid out"):
        LogLaplace(1).perturb(Cells(table, np.array([4]), Fraction(1), TENTH, places=np.array([1])), SeededDraws(1))
    huge = LogLaplace("0.1").perturb(cells([2**40] * 20_000), SeededDraws(2))
    assert huge.values.max() <= 2**52
    assert huge.values.min() >= -1_000


@pytest.mark.parametrize("move", [Bounded(1, 1, 1, 1), Root(Fraction(1))], ids=str)
def test_other_neighbours_are_refused(move):
    with pytest.raises(PromiseError, match='neighbours = "size-within"'):
        LogLaplace(1).loss(move)


@pytest.mark.parametrize(("given", "said"), [({"factor": 3}, "it is 1, or 2"), ({"estimate": "good"}, "'unbiased' or")])
def test_options_that_are_none_are_refused(given, said):
    with pytest.raises(PlanError, match=said):
        LogLaplace(1, **given)


def test_numbers_that_would_be_held_are_found_before_the_noise_is_drawn():
    assert LogLaplace(2).unfit(cells([0, 10**12])) == ""
    assert "use a coarser step" in LogLaplace(2).unfit(cells([0, 8 * 10**13]))

"""The numbers of the QCEW slides beside ours, Warner's and Fuller's baselines, and ways to spend one budget."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sfumato.calibrate import LeastSquares
from sfumato.mechanisms import ClippedTotal, SquareRoot
from sfumato.studies import STUDIES, masking, qcew
from sfumato.studies.qcew_state import LEVELS, state
from sfumato.studies.qcew_utility import GROUPS, SETS, SPLIT, WAYS, compare, whole_budget

FIRST, ALONE, OURS = WAYS


def test_intervals_and_their_widths():
    # SCIENCE 3.2.
    ends = {1: (0, 4), 100: (81, 121), 1_000: (937.75, 1064.25), 10_000: (9801, 10201), 100_000: (99368.5, 100633.5)}
    for size, expected in ends.items():
        assert qcew.interval(size) == pytest.approx(expected, abs=0.05)
    widths = [(high - low) / size for size in ends for low, high in [qcew.interval(size)]]
    assert widths == pytest.approx([4, 0.4, 0.1265, 0.04, 0.01265], rel=1e-3)


def test_each_printed_number_is_ours_rounded_or_its_departure_is_said():
    for line in qcew.powers(1):
        close = abs(float(line.published) - float(line.ours)) < 5e-5
        assert close != bool(line.remark)
    assert [f"{float(line.ours):.2f}" for line in qcew.splits(1)[:2]] == [line.published for line in qcew.splits(1)[:2]]
    assert [line.ours for line in qcew.splits(1)[2:]] == ["2.3065", "4.6130"]


def test_the_worked_example_against_a_solver():
    """The four sums of SCIENCE 3.4, and least squares over five establishments by numpy, which leaves two free."""
    truth, draws = qcew.noise_of(qcew.TRUE_COUNTIES, 10**6), qcew.noise_of(qcew.COUNTIES, qcew.TOTAL)
    by_hand = [4 * size / mu**2 + 2 / mu**4 for size, mu in zip((*qcew.TRUE_COUNTIES, 10**6), (0.4, 0.4, 0.4, 0.3), strict=True)]  # fmt: skip  # noqa: E501
    assert truth == pytest.approx(by_hand)
    at_truth = (1_227.40, 640_812.99, 359_501.95, 1_001_542.34)
    at_draws = (1_227.51, 640_813.13, 359_501.30, 1_001_541.94)
    for variances, sums in ((truth, at_truth), (draws, at_draws)):
        found = qcew.example(variances)
        assert [*found, found.sum()] == pytest.approx(sums, abs=0.006)
        a = np.array([[1, 0, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1], [1, 1, 1, 1, 1]]) / np.sqrt(variances)[:, None]
        y = np.array([*qcew.COUNTIES, qcew.TOTAL]) / np.sqrt(variances)
        solved, _, rank, _ = np.linalg.lstsq(a, y, rcond=None)
        assert rank == 3, "five unknowns, and only the sums of three counties are determined"
        assert [solved[0], solved[1:3].sum(), solved[3:].sum()] == pytest.approx(found, rel=1e-9)
    # 2 √X beta / mu with mu² = 0.3² + 0.4², but for the fourth powers.
    assert qcew.total_deviation(truth) == pytest.approx(4_000, rel=1e-4)


def test_the_worked_example_and_the_state_s_total_are_what_the_shipped_code_makes(monkeypatch):
    """A study that computes by itself proves nothing of what is shipped: break the shipped parts, and it must show."""
    before = [line.ours for name in ("qcew-example", "qcew-total") for line in STUDIES[name].lines(1)]
    stated = SquareRoot.expected
    monkeypatch.setattr(SquareRoot, "expected", lambda self, move, number: 2 * stated(self, move, number))
    assert next(line.ours for line in qcew.state_totals(1)) != before[-3]
    monkeypatch.undo()
    monkeypatch.setattr(LeastSquares, "apply", lambda self, products: replace(products["counties"]))
    assert [line.ours for line in qcew.worked_example(1)][:3] == [f"{one:,.2f}" for one in qcew.COUNTIES]
    monkeypatch.undo()
    monkeypatch.setattr(ClippedTotal, "expected", lambda self, move, number: 7.0)
    assert [line.ours for line in qcew.state_totals(1)][1:] == ["7", "7"]


def test_clipped_totals_follow_the_largest_establishment():
    # SCIENCE 3.3: 332 against 3,065 for the state total at mu 0.2.
    rooted, clipped, _ = (float(line.ours.replace(",", "")) for line in qcew.state_totals(1))
    assert rooted == pytest.approx(3_065, abs=1)
    assert clipped == pytest.approx(332, rel=0.01)  # 66.5 has 66 whole steps


def test_warner_is_unbiased_with_his_variance():
    """20,000 repetitions of 500 answers: the mean to 6.1 standard errors, the variance to 6.1 of its own."""
    warner, rng, runs, count, share = masking.Warner(Fraction(3, 4)), np.random.default_rng(1), 20_000, 500, 0.2
    found = np.array([warner.share(warner.mask(rng.random(count) < share, rng)) for _ in range(runs)])
    variance = warner.variance(share, count)
    assert abs(found.mean() - share) < 6.1 * math.sqrt(variance / runs)
    assert abs(found.var() / variance - 1) < 6.1 * math.sqrt(2 / runs)
    assert abs(found.var() / (0.9 * variance) - 1) > 6.1 * math.sqrt(2 / runs), "10% off must be rejected"
    assert float(warner.loss.epsilon) == pytest.approx(math.log(3))
    assert masking.Warner(Fraction(1, 4)).loss == warner.loss


def test_fullers_noise_hides_small_sizes_well_and_large_ones_not():
    fuller = masking.Fuller.hiding(4_050, 0.5, 1.0)
    # From 4,050 down by beta: (sqrt 4050 − 0.5)² is 63.39 below it.
    assert fuller.deviation == pytest.approx(63.39, abs=0.01)
    low = (math.sqrt(4_050) - 0.5) ** 2
    assert fuller.mu(low, 0.5) == pytest.approx(1.0)
    assert fuller.mu(7, 0.5) < 0.05
    assert fuller.mu(100_000, 0.5) > 4


def test_the_state_is_as_skewed_as_it_says():
    of = state()
    assert (of.frame.size, int(of.jobs.sum()), int(of.jobs.max()), float(np.median(of.jobs))) == (
        25_420,
        375_797,
        4_050,
        7,
    )
    assert [of.frame.grouped(by).size for by in LEVELS.values()] == [1, 20, 486, 644, 1_812]
    assert (of.jobs == 0).sum() > 100


def best_or_nearly(found, level) -> bool:
    means = {way: found.absolute[way][level].mean() for way in WAYS}
    best = min(means, key=means.get)
    return means[OURS] <= means[best] + 2 * found.absolute[best][level].std(ddof=1)


def cutting_bound() -> float:
    """What clipping can take off the state's total on average: in each group 2 s sqrt(T) E(Z - t)+ of its largest."""
    of, s = state(), 0.5 / 0.7
    bound = 0.0
    for name in SETS:
        grouping = of.frame.grouped(GROUPS[name])
        bound = max(bound, float((0.00339 * 2 * s * (np.sqrt(grouping.largest(of.jobs)) + 2.33 * s)).sum()))
    return bound


def held(found, runs) -> None:
    for level in LEVELS:
        assert best_or_nearly(found, level)
    assert found.absolute[FIRST]["state"].mean() >= 4 * found.absolute[OURS]["state"].mean()
    bias = found.bias[OURS]
    assert abs(bias.mean()) < cutting_bound() + 3 * bias.std(ddof=1) / math.sqrt(runs)


def test_clipped_totals_with_least_squares_are_best_at_every_level():
    assert whole_budget(SPLIT) ** 2 == pytest.approx(1.74, abs=1e-5)
    found = compare(8)
    held(found, 8)
    first = found.bias[FIRST]
    assert first.mean() < -3 * first.std(ddof=1) / math.sqrt(8), "variances at the draws pull totals down"


@pytest.mark.slow
def test_the_same_over_four_hundred_seeds():
    held(compare(400), 400)


def test_what_was_never_published_stands_in_no_column_of_published_numbers():
    """The slides draw utility without numbers; ours are over forty seeds."""
    assert STUDIES["qcew-utility"].runs == 40
    assert {line.published for line in STUDIES["qcew-utility"].lines(2)} == {""}


def test_every_study_prints():
    for name in ("qcew-intervals", "qcew-power", "qcew-split", "qcew-total", "qcew-example", "qcew-warner"):
        assert all(line.ours for line in STUDIES[name].lines(20))
    undetermined = [line for line in STUDIES["qcew-example"].lines(1) if line.ours == "undetermined"]
    assert len(undetermined) == 2

"""Clipped totals: the noise covers the farthest move in whole steps, topcodes are made of published numbers alone."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from contract_root import attained_mu, largest_alike, log_mass

from sfumato.draws import SeededDraws
from sfumato.errors import PlanError
from sfumato.mechanisms import Cells, ClippedTotal, SquareRoot, Typical
from sfumato.mechanisms.clipped_total import scales_of
from sfumato.privacy import Root
from sfumato.release import Groups, Records, Subject
from sfumato.schema import Frame, Grouping
from sfumato.schema.frame import crowds

HALF = Fraction(1, 2)
CASES = [(Fraction(1), Fraction(1)), (HALF, Fraction(1)), (Fraction(1, 3), Fraction(1)), (Fraction(7, 10), Fraction(1, 4)), (Fraction(50), Fraction(10)), (Fraction(3), Fraction(7)), (Fraction(9), Fraction(1, 2))]  # fmt: skip  # noqa: E501
SIX = 6.1


def grouped(values, of, beta=HALF, step=Fraction(1), units=1) -> Cells:
    of = np.asarray(of, dtype=np.int32)
    grouping = Grouping(Frame("group", (), {}, range(int(of.max()) + 1)), of)
    return Cells(grouping.groups, np.asarray(values, dtype=np.int64), step, Root(beta, units), grouping)


def rows_of(cells: Cells, seed: int, mu="0.7") -> Records:
    alone = replace(cells, domain=Frame("unit", (), {}, range(len(cells.values))), grouping=None)
    noisy = SquareRoot(mu).perturb(alone, SeededDraws(seed))
    spread = SquareRoot(mu).uncertainty(noisy)
    return Records(Subject("rows", "total", "", "", noisy.step), noisy.domain, noisy.values, spread)


@pytest.mark.parametrize(("beta", "step"), CASES, ids=str)
def test_no_value_moves_a_clipped_total_by_more_than_the_scale(beta, step):
    """Every value up to 250 steps with its farthest neighbour, every topcode to 250: exhaustive, in rationals."""
    values = np.arange(251)
    far = np.array([largest_alike(int(value), beta, step) for value in values])
    attained = 0
    for topcode in range(251):
        moved = int((np.minimum(far, topcode) - np.minimum(values, topcode)).max())
        scale = int(scales_of(np.array([topcode]), Root(beta), step)[0])
        assert moved <= scale
        attained += moved == scale
    assert attained > 200, "the scale is the farthest move itself, but for roundings up of large ones"


@pytest.mark.parametrize(("beta", "step"), CASES, ids=str)
def test_large_topcodes_are_covered_too(beta, step):
    rng = np.random.default_rng(1)
    for topcode in rng.integers(250, 10**7, 40).tolist():
        low, high = max(0, int(topcode - 4 * math.sqrt(topcode * float(beta**2 / step)) - 2 * float(beta**2 / step) - 9)), topcode  # fmt: skip  # noqa: E501
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if largest_alike(middle, beta, step) >= topcode else (middle + 1, high)
        scale = int(scales_of(np.array([topcode]), Root(beta), step)[0])
        assert topcode - low <= scale <= 1.01 * (topcode - low) + 1


def test_units_of_a_firm_in_one_group_are_covered_together():
    """Two values of 100 that each move by 19 move their total by 38, which is more than one with twice the beta can.

    The exact law of the total: mu 1 where noise is for both, √2 where it is for two that are in groups of their own.
    """
    beta, topcode = Fraction(1), 100
    start = next(value for value in range(100) if largest_alike(value, beta) >= 100)
    scale = int(scales_of(np.array([topcode]), Root(beta, 2), Fraction(1))[0])
    assert scale == 100 - start == 19
    k = np.arange(-500, 900)

    def mu_of(move: Root) -> float:
        spread = ClippedTotal(1)._law(scale, move).scale
        return attained_mu(log_mass(k, 2 * start, spread), log_mass(k, 200, spread))

    assert mu_of(Root(beta, 2)) == pytest.approx(1, abs=0.01)
    assert mu_of(Root(beta, 2)) <= 1 + 1e-9
    assert mu_of(Root(beta, 2, crowded=2)) > 1.4, "√n is short for units that share a group"


@pytest.mark.parametrize(("of", "crowded"), [([0, 0, 0], 9), ([0, 0, 1], 5), ([0, 1, 2], 3)])
def test_a_firm_in_several_groups_is_within_mu_by_the_root_of_its_squared_numbers(of, crowded):
    """Each of three values grows by all that it may: the sum of squared moves, each by its noise, is mu² = 1."""
    beta, start, end = Fraction(1), 81, 100
    one, other = (grouped([value] * 3, of, beta) for value in (start, end))
    moves = (other.totals - one.totals) / ClippedTotal(1)._law(19, Root(beta, 3, crowded)).scale
    assert (moves**2).sum() == pytest.approx(1)
    firms = Frame("unit", (), {}, range(3), firms=np.zeros(3, dtype=np.int32))
    assert crowds(firms.firms, np.array(of, dtype=np.int32)).tolist() == [crowded]


@pytest.mark.parametrize("mu", [0.2, 0.6, 1.0])
def test_what_is_published_of_two_neighbours_is_within_mu(mu):
    """The exact law of the published total for the farthest moves at several topcodes, and short noise beyond mu."""
    mechanism = ClippedTotal(str(mu))
    for topcode in (4, 37, 100, 4_050):
        scale = int(scales_of(np.array([topcode]), Root(Fraction(1)), Fraction(1))[0])
        start = next(value for value in range(topcode + 1) if largest_alike(value, Fraction(1)) >= topcode)
        spread = mechanism._law(scale, Root(Fraction(1))).scale
        k = np.arange(start - int(9 * spread) - 2, topcode + int(9 * spread) + 2)
        one, other = (log_mass(k, centre, spread) for centre in (start, topcode))
        assert 0.9 * mu < attained_mu(one, other) <= mu * (1 + 1e-9) or scale * mu < 2
        short = [log_mass(k, centre, 0.8 * spread) for centre in (start, topcode)]
        assert attained_mu(*short) > mu * (topcode - start) / scale * 1.15


def test_topcodes_depend_on_published_numbers_alone():
    one, other = grouped([5, 80, 4_050, 0], [0, 0, 1, 1]), grouped([9, 9, 9, 9], [0, 0, 1, 1])
    rows, mechanism = rows_of(one, 1), ClippedTotal("0.5")
    assert (mechanism.topcodes(one, rows) == mechanism.topcodes(other, rows)).all()
    published = [mechanism.perturb(side, SeededDraws(2), {"rows": rows}).public for side in (one, other)]
    assert all((published[0][name] == published[1][name]).all() for name in ("topcode", "scale", "reach"))


def test_a_topcode_is_the_largest_noisy_root_and_t_deviations_squared():
    cells = grouped([100, 9, 400], [0, 0, 1])
    rows = rows_of(cells, 3)
    roots = np.sqrt(rows.values * float(rows.subject.step) + (0.5 / 0.7) ** 2)
    expected = [(max(roots[:2]) + 2.3263 * 0.5 / 0.7) ** 2, (roots[2] + 2.3263 * 0.5 / 0.7) ** 2]
    assert np.allclose(ClippedTotal("0.5").topcodes(cells, rows), np.floor(expected), atol=1)


def test_groups_are_cut_as_rarely_as_stated_and_by_as_little():
    """40,000 groups of 100 and 25 jobs: 1% are cut, the mean loss 0.0034 · 2 s · 10; six standard errors each."""
    count, s = 40_000, 0.5 / 0.7
    cells = grouped(np.tile([100, 25], count), np.repeat(np.arange(count), 2))
    kept = ClippedTotal("0.5").clean(cells, {"rows": rows_of(cells, 4)})
    cut = 125 - kept
    assert abs((cut > 0).mean() - 0.01) < SIX * math.sqrt(0.01 / count) + 0.0005
    assert 0.8 < cut.mean() / (0.003389 * 2 * s * 10) < 1.2
    assert cut.max() < 30


def noise(mechanism, cells, rows, count) -> tuple[np.ndarray, float]:
    draws = SeededDraws(5)
    noisy = [mechanism.perturb(cells, draws, {"rows": rows}) for _ in range(count)]
    return np.array([one.values for one in noisy]) - mechanism.clean(cells, {"rows": rows}), mechanism.uncertainty(noisy[0]).variances  # fmt: skip  # noqa: E501


@pytest.mark.parametrize(("factor", "fits"), [("1", True), ("0.95", False), ("1.05", False)])
def test_the_stated_variance_is_the_variance(factor, fits):
    """20,000 groups drawn ten times: a variance to 0.32%, so 5% in deviation is 30 standard errors off."""
    rng = np.random.default_rng(6)
    cells = grouped(rng.integers(1, 500, 20_000), np.arange(20_000))
    rows = rows_of(cells, 6)
    drawn, _ = noise(ClippedTotal(Fraction("0.5") / Fraction(factor)), cells, rows, 10)
    stated = (
        ClippedTotal("0.5").uncertainty(ClippedTotal("0.5").perturb(cells, SeededDraws(7), {"rows": rows})).variances
    )
    ratio = (drawn**2 / stated).mean()
    assert (abs(ratio - 1) < SIX * math.sqrt(2 / drawn.size)) == fits
    assert abs((drawn / np.sqrt(stated)).mean()) < SIX / math.sqrt(drawn.size)


def test_the_trend_says_what_the_variance_would_be_at_other_sizes():
    """At the noisy roots themselves it gives the stated variances, but for half a step of 11 and of 302."""
    cells = grouped([100, 400, 4_050, 90_000], [0, 1, 2, 3])
    rows = rows_of(cells, 8)
    noisy = ClippedTotal("0.2").perturb(cells, SeededDraws(9), {"rows": rows})
    spread = ClippedTotal("0.2").uncertainty(noisy)
    roots = np.sqrt((rows.values + round(rows.uncertainty.variance)) * float(rows.subject.step))
    assert np.allclose(spread.trend.at(np.zeros(4), roots), spread.variances, rtol=0.1)
    assert np.allclose(spread.trend.at(np.zeros(4), roots)[2:], spread.variances[2:], rtol=0.01)


def test_the_expected_error_is_that_of_the_largest_value_and_of_the_rows_it_is_given():
    """√T = 66.65 has 2 β √T − β² = 66.4 whole steps in it, 66, at mu 0.2 and beta 0.5: sd 330 (Rhode Island: 332)."""
    reach = 2.3263 * 0.5 / 0.7
    number = Typical(largest=(66.65 - reach) ** 2, given=(SquareRoot("0.7"),))
    assert ClippedTotal("0.2").expected(Root(HALF), number) == pytest.approx(330, abs=0.1)
    better = replace(number, given=(SquareRoot(7),))
    assert ClippedTotal("0.2").expected(Root(HALF), better) == pytest.approx(320, abs=0.1)  # 64.9 has 64 in it
    assert "largest value" in ClippedTotal("0.2").expected(Root(HALF), replace(number, largest=None)).reason
    with pytest.raises(PlanError, match="given one square-root measure"):
        ClippedTotal("0.2").expected(Root(HALF), replace(number, given=()))


def test_it_is_given_one_square_root_measure_of_the_rows_and_no_other():
    cells = grouped([1, 2], [0, 0])
    rows = rows_of(cells, 1)
    with pytest.raises(PlanError, match="given one square-root measure"):
        ClippedTotal("0.5").perturb(cells, SeededDraws(1), {})
    with pytest.raises(PlanError, match="of groups"):
        ClippedTotal("0.5").perturb(replace(cells, grouping=None), SeededDraws(1), {"rows": rows})
    groups = Groups(rows.subject, rows.domain.grouped(()).groups, rows.values, rows.uncertainty)
    with pytest.raises(PlanError, match="of their rows"):
        ClippedTotal("0.5").perturb(cells, SeededDraws(1), {"rows": groups})
    with pytest.raises(PlanError, match="below 1"):
        ClippedTotal("0.5", clip=1)
    with pytest.raises(PlanError, match="64 bits"):
        scales_of(np.array([2**53]), Root(Fraction("12.3456789")), Fraction(1))


def test_topcodes_are_refused_where_their_roots_would_pass_64_bits_and_exact_just_below():
    """With beta 1/2 and steps of 1, q = 1/4: the root is of 16 topcodes, 2^62 at a topcode of 2^58."""
    largest = 2**58 - 1
    exact = (math.isqrt(16 * largest) - 1) // 4
    (scale,) = scales_of(np.array([largest]), Root(Fraction(1, 2)), Fraction(1)).tolist()
    assert exact <= scale <= exact * (1 + 2**-6)
    with pytest.raises(PlanError, match="too large for 64 bits"):
        scales_of(np.array([largest + 1]), Root(Fraction(1, 2)), Fraction(1))

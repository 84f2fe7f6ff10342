"""Changed cells: their places and values have the law of noise on every cell, and no cell in between takes memory."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import chi2

from sfumato.draws import (
    Changed,
    DiscreteNormal,
    Draws,
    RoundedNormal,
    SeededDraws,
    SystemDraws,
    TruncatedGeometric,
    TwoSidedGeometric,
)
from sfumato.draws.changes import Gap, Size, _power

F = Fraction
FALSE_ALARM = 1e-9
LAWS = [
    TwoSidedGeometric(F(7)),
    TwoSidedGeometric(F(1)),
    TwoSidedGeometric(F(1, 1000)),
    RoundedNormal(F(1, 50)),
    RoundedNormal(F(10**6)),
    DiscreteNormal(F(1, 8)),
    TruncatedGeometric(F(5), 2),
]
ALL_LAWS = pytest.mark.parametrize("law", LAWS, ids=repr)
SLACK = mpmath.mpf(2) ** -30
ONES, ZEROS = [2**64 - 1] * 4, [0] * 4


class Scripted(Draws):
    """A stream that gives the words it was told to, then the middle of everything."""

    rehearsal = True

    def __init__(self, *words):
        self.left = list(words)

    def fill(self, words):
        given, self.left = self.left[: len(words)], self.left[len(words) :]
        words[:] = given + [2**63] * (len(words) - len(given))


def parts(law, n=10**9):
    change = law.exact_survival(1, 128)[0] / 2**128
    return Gap(law, change, n), Size(law, change)


def all_of(law, n, draws):
    chunks = [Changed(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)), *law.changed(n, draws)]
    return np.concatenate([chunk.places for chunk in chunks]), np.concatenate([chunk.values for chunk in chunks])


def truth(law, m):
    """P(|K| >= m) to 60 digits or so, from bounds that other tests hold against mpmath."""
    return mpmath.mpf(law.exact_survival(m, 220)[0]) / mpmath.mpf(2) ** 220


@ALL_LAWS
@pytest.mark.parametrize("bits", [63, 127])
def test_bounds_of_gaps_and_sizes_are_narrow_and_right(law, bits):
    gap, size = parts(law)
    for m in (1, 2, 3, 500, 10**6, 10**9):
        with mpmath.workdps(80):
            low, high = gap.exact_survival(m, bits)
            # The truth itself is known to 2^-190 or better.
            assert low - SLACK <= (1 - truth(law, 1)) ** m * 2**bits <= high + SLACK
            assert high - low <= 2
            if m <= 500:
                low, high = size.exact_survival(m, bits)
                assert low - SLACK <= truth(law, m + 1) / truth(law, 1) * 2**bits <= high + SLACK
                assert high - low <= 2
    assert gap.exact_survival(10**9 + 1, bits) == (0, 0)


@ALL_LAWS
def test_formulas_of_gaps_are_within_half_of_their_stated_error(law):
    gap, _ = parts(law, 2**47)
    u = np.concatenate([SeededDraws(2).words(200) * 2.0**-64, 2.0 ** -np.arange(1, 63), 1 - 2.0 ** -np.arange(2, 54)])
    with mpmath.workdps(60):
        log_zero = mpmath.log(1 - truth(law, 1))
        for one, ours in zip(u.tolist(), gap.inverse_survival(u).tolist(), strict=True):
            assert abs(ours - mpmath.log(mpmath.mpf(one)) / log_zero) <= 2.0**-50 * (gap.scale + ours)


@ALL_LAWS
def test_numbers_beside_a_threshold_fall_on_the_right_side(law):
    # The word of a gap has U in its upper 63 bits; what follows it is drawn where these are not enough.
    gap, size = parts(law)
    for part, m in [(gap, 1), (gap, 2), (gap, max(1, int(gap.scale))), (size, 1), (size, 2)]:
        at = part.exact_survival(m, 63)[0]
        if at < 2:
            continue
        for digits, further, side in ((at - 2, ONES, True), (at + 2, ZEROS, False)):
            count = int(part_drawn(part, digits, further))
            assert (count >= m) is side


def part_drawn(part, prefix, further):
    from sfumato.draws.sampler import counted

    stream = Scripted(prefix << 1, *further)
    return counted(part, stream.words(1), stream)[0]


def test_a_tie_is_decided_by_further_bits():
    gap, _ = parts(TwoSidedGeometric(F(7)))
    at = gap.exact_survival(3, 127)[0]
    prefix, second = at >> 64, at & 2**64 - 1
    assert part_drawn(gap, prefix, [second - 2, *ONES]) == 3
    assert part_drawn(gap, prefix, [second + 2, *ZEROS]) == 2


@ALL_LAWS
def test_places_and_values_follow_the_law(law):
    """Chi-square at 1e-9 of gaps (20 even classes) and of values; the next test has the negative arm."""
    n = int(300_000 / float(law.survival(1)))
    assert fits(law, *all_of(law, n, SystemDraws()), n)


def fits(law, places, values, n):
    change = float(law.survival(1))
    expected = n * change
    if abs(len(places) - expected) > 7 * np.sqrt(expected * (1 - change)) + 1:
        return False
    gaps = np.diff(np.append(-1, places)) - 1
    tops = (
        np.unique(np.floor(np.log(1 - np.arange(1, 20) / 20) / np.log1p(-change))) if change < 0.9 else np.array([0.0])
    )
    return (
        even(gaps, tops, lambda m: (1 - change) ** m)
        and even(
            np.abs(values) - 1,
            np.unique(np.floor(law.scale * np.array([0.2, 0.5, 1.0, 2.0]))),
            lambda m: law.survival(m + 1) / change,
        )
        and abs(np.sum(np.sign(values))) < 7 * np.sqrt(len(values))
    )


def even(counts, tops, survival):
    """Chi-square of counts in classes that end with each top."""
    edges = np.concatenate(([1.0], [float(survival(top + 1)) for top in tops], [0.0]))
    expected = -np.diff(edges) * len(counts)
    seen = np.bincount(np.searchsorted(tops, counts), minlength=len(expected))
    kept = expected > 50
    return (
        chi2.sf(float(np.sum((seen[kept] - expected[kept]) ** 2 / expected[kept])), max(1, kept.sum() - 1))
        > FALSE_ALARM
    )


@pytest.mark.parametrize("factor", [F(95, 100), F(105, 100)])
def test_a_rate_five_percent_off_is_rejected(factor):
    # At epsilon 7 the number of changes alone is 30% off, hundreds of standard deviations; at 1 it is 2.6%, or 13.
    for rate in (F(7), F(1)):
        n = int(300_000 / float(TwoSidedGeometric(rate).survival(1)))
        drawn = all_of(TwoSidedGeometric(rate * factor), n, SystemDraws())
        assert not fits(TwoSidedGeometric(rate), *drawn, n)


def test_damaged_places_and_values_are_rejected():
    law, n = TwoSidedGeometric(F(1)), 500_000
    places, values = all_of(law, n, SystemDraws())
    assert fits(law, places, values, n)
    assert not fits(law, places, np.abs(values), n)
    assert not fits(law, np.sort(np.concatenate((places[::2], places[::2] + 1))), values, n)
    assert not fits(law, places, np.sign(values), n)


@ALL_LAWS
def test_as_many_cells_change_as_when_every_cell_is_drawn(law):
    # Two binomial counts of the same law, 7 standard deviations of their difference.
    n = 200_000
    places, values = all_of(law, n, SystemDraws())
    dense = law.draw(n, SystemDraws())
    p = float(law.survival(1))
    assert abs(np.count_nonzero(dense) - len(places)) <= 7 * np.sqrt(2 * n * p * (1 - p)) + 1
    assert np.all(values != 0)
    assert np.all(np.diff(places) > 0)
    assert places.min(initial=0) >= 0
    assert places.max(initial=0) < n


def test_the_first_and_the_last_cell_can_change():
    law = TwoSidedGeometric(F(1))
    drawn = [all_of(law, 3, SeededDraws(seed))[0] for seed in range(100)]
    # Each is missed by chance with probability 0.462^100 < 1e-33.
    assert {0, 1, 2} == set(np.concatenate(drawn).tolist())
    assert all_of(TwoSidedGeometric(F(7)), 1, Scripted(2**64 - 1))[0].tolist() == [0]  # a float takes this U for 1


EDGES = [
    TwoSidedGeometric(F(7)),
    TwoSidedGeometric(F(1)),
    TwoSidedGeometric(F(1, 2**45)),
    RoundedNormal(F(10**12)),
    DiscreteNormal(F(2**90)),
    DiscreteNormal(F(1, 1000)),
    TruncatedGeometric(F(1, 2**40), 1),
]


@pytest.mark.parametrize("law", EDGES, ids=repr)
def test_no_cells_have_no_changes(law):
    assert list(law.changed(0, SystemDraws())) == []


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("law", EDGES, ids=repr)
def test_few_cells_change_as_often_as_they_should(law, n):
    # 600 tables of n cells: a binomial count at 7 standard deviations, and one more where next to nothing is expected.
    draws, p = SystemDraws(), float(law.survival(1))
    drawn = [all_of(law, n, draws) for _ in range(600)]
    assert abs(sum(len(places) for places, _ in drawn) - 600 * n * p) <= 7 * np.sqrt(600 * n * p * (1 - p)) + 1
    for places, values in drawn:
        assert places.tolist() == sorted(set(places.tolist()) & set(range(n)))
        assert np.all(values != 0)


def test_a_change_that_is_missed_in_few_cells_would_be_noticed():
    # The control: a sampler that never changes the last cell of seven is 1/7 short, over 20 standard deviations.
    law, draws = TwoSidedGeometric(F(1)), SystemDraws()
    seen = sum(np.count_nonzero(all_of(law, 7, draws)[0] < 6) for _ in range(600))
    p = float(law.survival(1))
    assert abs(seen - 600 * 7 * p) > 7 * np.sqrt(600 * 7 * p * (1 - p)) + 1


@pytest.mark.parametrize("rate", [F(2), F(19, 10), F(1, 10**6)])
def test_changes_are_found_alike_on_both_sides_of_listing_them_all(rate):
    # P(K != 0) is 0.238 and 0.260 on the sides of a quarter, and one in two million short of 1 at the last.
    law, n = TwoSidedGeometric(rate), 600_000
    assert fits(law, *all_of(law, n, SystemDraws()), n)


def test_listed_cells_are_the_draws_that_are_not_zero():
    law, n, chunk = TwoSidedGeometric(F(1)), 2**19 + 5, 2**18
    places, values = all_of(law, n, SeededDraws(6))
    draws = SeededDraws(6)
    dense = np.concatenate([law.draw(size, draws) for size in (chunk, chunk, 5)])
    assert np.array_equal(places, np.flatnonzero(dense))
    assert np.array_equal(values, dense[places])


def test_a_hundred_billion_cells_take_the_memory_of_their_changes():
    # 2 e^-20 of 10^11 cells: 412 changes expected, 7 standard deviations.
    chunks = list(TwoSidedGeometric(F(20)).changed(10**11, SystemDraws()))
    assert abs(sum(len(chunk.places) for chunk in chunks) - 412.2) < 7 * np.sqrt(412.2)
    assert max(chunk.places.nbytes for chunk in TwoSidedGeometric(F(7)).changed(10**8, SystemDraws())) <= 8 << 15


def test_changes_next_to_impossible_are_exact_too():
    # P(K != 0) = 2 e^-500 = 2^-720: U has to agree with 1 in its first 700 bits for one change in ten cells.
    law = DiscreteNormal(F(1, 1000))
    assert len(all_of(law, 2**47, SystemDraws())[0]) == 0
    places, values = all_of(law, 10, Scripted(*[2**64 - 1] * 30))
    assert places[0] == 0
    assert len(values) == len(places)


def test_more_cells_than_fit_are_refused():
    with pytest.raises(ValueError, match="some of them at a time"):
        next(TwoSidedGeometric(F(7)).changed(2**48, SystemDraws()))


@pytest.mark.parametrize("exponent", [1, 2, 3, 7, 64, 1000])
def test_powers_lie_between_their_bounds_which_are_a_few_units_apart(exponent):
    work = 40
    for base in (1, 3 << 37, (1 << 40) - 1, 987_654_321_012):
        exact = Fraction(base, 1 << work) ** exponent * (1 << work)
        least, most = (_power(base, exponent, work, up=up) for up in (False, True))
        assert least <= exact <= most
        assert most - least <= 4 * exponent

"""Exactness: numbers one binary digit away from a threshold fall on the side that mathematics says."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from sfumato.draws import DiscreteNormal, Draws, RoundedNormal, SeededDraws, TwoSidedGeometric, sampler
from sfumato.draws.bounds import bell_tail

F = Fraction
TINY = [TwoSidedGeometric(F(10)), RoundedNormal(F(1, 100)), DiscreteNormal(F(1, 100))]
SMALL = [TwoSidedGeometric(F(1)), RoundedNormal(F(1)), DiscreteNormal(F(1))]
MEDIUM = [TwoSidedGeometric(F(3, 1000)), RoundedNormal(F(10**6, 7)), DiscreteNormal(F(10**6, 7))]
LARGE = [
    *map(TwoSidedGeometric, [F(1, 2**40), F(2, 3 * 2**40), F(1, 2**45)]),
    *map(RoundedNormal, [F(2**80), F(2**81, 3), F(2**90)]),
    *map(DiscreteNormal, [F(2**26), F(2**81, 3), F(2**90)]),
]
# What U may go on with: as much as can be, nothing, exactly one half.
ONES, ZEROS, HALF = [2**64 - 1] * 4, [0] * 4, [2**63, 0, 0, 0]


class Scripted(Draws):
    """A stream that gives the words it was told to, and no more."""

    rehearsal = True

    def __init__(self, *words):
        self.left = list(words)

    def fill(self, words):
        given, self.left = self.left[: len(words)], self.left[len(words) :]
        assert len(given) == len(words), "the sampler asked for more words than it should need"
        words[:] = given


def size(law, *script):
    """|K| when U has this prefix and goes on with these words."""
    prefix, *further = script
    return int(law.draw(1, Scripted(prefix << 1, *further))[0])


def split(digits, further_words):
    """A prefix and further words that spell these binary digits."""
    return [digits >> 64 * further_words, *(digits >> 64 * i & 2**64 - 1 for i in reversed(range(further_words)))]


def binary_digits(value, bits):
    """floor(2^bits value)."""
    with mpmath.workdps(150):
        return int(mpmath.floor(value * mpmath.mpf(2) ** bits))


def count(oracle, law, prefix, bits):
    """#{m >= 1: u < S(m)} for u = (prefix + 1/2) / 2^bits, by bisection with mpmath."""
    with mpmath.workdps(150):
        u = (mpmath.mpf(prefix) + mpmath.mpf(1) / 2) / mpmath.mpf(2) ** bits
        low, high = 0, 1
        while u < oracle(law, high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if u < oracle(law, middle) else (low, middle)
    return low


def thresholds(law):
    """Some m in the body of the law and in its tail, down to survivals of 2^-55 or so, where a prefix says little."""
    spread = (1 / 3, 1, 3, 20, 30, 38) if isinstance(law, TwoSidedGeometric) else (1 / 3, 1, 3, 6.5, 7.5, 8.3)
    return sorted({1, 2, *(int(x * law.scale) + 1 for x in spread)})


@pytest.mark.parametrize("law", SMALL + MEDIUM + LARGE, ids=repr)
@pytest.mark.parametrize("further_words", [0, 1, 2])
def test_the_nearest_numbers_fall_on_the_right_side(law, further_words, oracle):
    # |K| >= m exactly when U < S(m), for the largest U with 63, 127 or 191 bits less than S(m), the smallest with more.
    for m in thresholds(law):
        at = binary_digits(oracle(law, m), 63 + 64 * further_words)
        assert size(law, *split(at - 1, further_words), *ONES) >= m
        assert size(law, *split(at + 1, further_words), *ZEROS) < m


@pytest.mark.parametrize("law", TINY + SMALL + MEDIUM + LARGE[:6], ids=repr)
def test_far_tails_are_right(law, oracle):
    for prefix in (1, 1000, 2**16 - 1, 2**16, 2**20, 2**27, 2**35 + 12345):
        assert size(law, prefix, *HALF) == count(oracle, law, prefix, 63)
    for second in (1, 2**40, 2**63):
        assert size(law, 0, second, *HALF) == count(oracle, law, second, 127)


@pytest.mark.parametrize("law", MEDIUM + LARGE[:6], ids=repr)
def test_ordinary_words_are_right(law, oracle):
    words = SeededDraws(1).words(100)
    ours = law.draw(100, SeededDraws(1))
    for word, noise in zip(words.tolist(), ours.tolist(), strict=True):
        assert noise == (-1) ** (word & 1) * count(oracle, law, word >> 1, 63)


def test_a_law_that_is_nearly_always_zero_is_exact_too(oracle):
    # P(K != 0) = 2 e^-500 = 2^-720.35; 2^50 in the eleventh word after the prefix makes U = 2^-717, 2^40 makes 2^-727.
    law = DiscreteNormal(F(1, 1000))
    assert binary_digits(oracle(law, 1, 400) * 2**720, 8) == 201
    assert size(law, 1, *ZEROS) == 0
    assert size(law, *[0] * 11, 2**50, *ZEROS) == 0
    assert size(law, *[0] * 11, 2**40, *ONES) == 1


def test_the_sign_is_the_lowest_bit():
    law = TwoSidedGeometric(F(1))
    assert law.draw(1, Scripted(2**60)).tolist() == [3]
    assert law.draw(1, Scripted(2**60 + 1)).tolist() == [-3]
    assert law.draw(2, Scripted(2**64 - 1, 2**64 - 2)).tolist() == [0, 0]


def test_plain_floats_would_fall_on_the_wrong_side(oracle):
    # The control of the tests above: in floats the words on either side of a threshold cannot be told apart.
    wrong = 0
    for law in SMALL + MEDIUM:
        for m in thresholds(law):
            at = binary_digits(oracle(law, m), 63)
            proposed = [(at + step) * 2.0**-63 < float(law.survival(m)) for step in (-1, 1)]
            wrong += proposed != [True, False]
    assert wrong > 20


def test_a_threshold_off_by_2_to_minus_60_is_noticed(oracle):
    class Off(RoundedNormal):
        def exact_survival(self, m, bits):
            low, high = super().exact_survival(m, bits)
            return low + (8 << bits - 63), high + (8 << bits - 63)

    at = binary_digits(oracle(RoundedNormal(F(1)), 1), 63)
    assert size(Off(F(1)), at + 1, *ZEROS) == 1
    assert size(RoundedNormal(F(1)), at + 1, *ZEROS) == 0


@pytest.mark.parametrize("law", SMALL[:2] + MEDIUM[:2] + LARGE[:6], ids=repr)
def test_inverse_survival_is_within_half_of_its_stated_error(law):
    # The sampler allows four times what is seen here.
    u = np.concatenate([SeededDraws(2).words(600) * 2.0**-64, 2.0 ** -np.arange(1, 63), 1 - 2.0 ** -np.arange(2, 54)])
    x = law.inverse_survival(u)
    for one, ours in zip(u.tolist(), x.tolist(), strict=True):
        with mpmath.workdps(60):
            if isinstance(law, TwoSidedGeometric):
                rate = mpmath.mpf(law.rate.numerator) / law.rate.denominator
                true = -mpmath.log(mpmath.mpf(one) * (1 + mpmath.exp(-rate)) / 2) / rate
            else:
                sigma = mpmath.sqrt(mpmath.mpf(law.sigma_squared.numerator) / law.sigma_squared.denominator)
                true = sigma * mpmath.sqrt(2) * mpmath.erfinv(1 - mpmath.mpf(one)) + mpmath.mpf(1) / 2
            assert abs(ours - true) <= 2.0**-51 * (law.scale + true)


@pytest.mark.parametrize("law", LARGE[6:], ids=repr)
def test_inverse_survival_of_the_discrete_normal_is_within_half_of_its_stated_error(law, smooth):
    u = np.concatenate([SeededDraws(2).words(200) * 2.0**-64, 2.0 ** -np.arange(1, 63), 1 - 2.0 ** -np.arange(2, 50)])
    for one, ours in zip(u.tolist(), law.inverse_survival(u).tolist(), strict=True):
        room = 2.0**-51 * (law.scale + ours)
        with mpmath.workdps(60):
            v = mpmath.mpf(law.variance_parameter.numerator) / law.variance_parameter.denominator
            least, most = (smooth(v, mpmath.mpf(ours) + side * room) for side in (1, -1))
            assert least < one < most


@pytest.mark.parametrize("law", [DiscreteNormal(F(1)), DiscreteNormal(F(99, 7)), DiscreteNormal(F(10**5))], ids=repr)
def test_every_edge_of_the_table_encloses_its_threshold(law, oracle):
    edges = sampler.thresholds(law)
    for m, (low, high) in enumerate(edges.reshape(-1, 2)[::-1].tolist(), start=1):
        with mpmath.workdps(60):
            true = oracle(law, m) * 2**63
            assert low <= true < high
            assert high - low <= true * mpmath.mpf(2) ** -38 + 2


def test_thresholds_too_close_for_a_table_are_refused():
    class Flat(TwoSidedGeometric):
        def inverse_survival(self, u):
            return None

        def survival(self, m):
            return np.where(np.asarray(m) < 60, 0.5, 0.0)

    with pytest.raises(ValueError, match="coarser steps"):
        Flat(F(1)).draw(1, SeededDraws(1))


def test_a_table_serves_a_law_without_a_formula():
    class Tabled(TwoSidedGeometric):
        def inverse_survival(self, u):
            return None

    rate = F(1, 20)
    assert np.array_equal(Tabled(rate).draw(10**5, SeededDraws(3)), TwoSidedGeometric(rate).draw(10**5, SeededDraws(3)))


def test_a_law_that_stops_is_settled_by_its_table():
    # K is -1, 0 or 1, each with probability 1/3.
    class Die(TwoSidedGeometric):
        asked = 0

        def inverse_survival(self, u):
            return None

        def survival(self, m):
            return np.where(np.asarray(m) <= 1, 2 / 3, 0.0)

        def exact_survival(self, m, bits):
            type(self).asked += 1
            return (2**bits * 2 // 3, 2**bits * 2 // 3 + 1) if m <= 1 else (0, 0)

    die = Die(F(1))
    noise = die.draw(30_000, SeededDraws(4))
    assert die.asked == 0
    # Seeded, so no false alarm; 7 standard deviations of Binomial(30,000, 1/3).
    assert np.all(np.abs(np.bincount(noise + 1) - 10_000) < 7 * np.sqrt(30_000 * 2 / 9))
    assert [size(die, at, *ZEROS) for at in (0, 1, 2**63 * 2 // 3 - 1, 2**63 * 2 // 3 + 1)] == [1, 1, 1, 0]
    assert die.asked > 0


@pytest.mark.parametrize("variance", [F(1024), F(2048, 3) * 2])
@pytest.mark.parametrize("bits", [64, 400, 700])
def test_tails_of_a_bell_are_enclosed_at_any_precision_where_a_formula_replaces_the_sum_and_where_it_does_not(
    variance, bits
):
    """At 700 binary digits no number of terms of the formula is close enough, and all integers are summed."""
    with mpmath.workprec(bits + 80):
        terms = [mpmath.exp(-mpmath.mpf(k * k) * variance.denominator / (2 * variance.numerator)) for k in range(1700)]
        for start in (1, 33, 150):
            share = 2 * mpmath.fsum(terms[start:]) / (1 + 2 * mpmath.fsum(terms[1:])) * 2**bits
            low, high = bell_tail(variance, start, bits)
            assert low <= share <= high
            assert high - low <= 2

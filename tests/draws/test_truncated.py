"""The truncated geometric law: the paper's table, exactness where floats cancel, and what it looks like when drawn."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import chisquare

from sfumato.draws import SeededDraws, TruncatedGeometric

CASES = [
    (Fraction(2), 7),
    (Fraction(7), 1),
    (Fraction(1, 10**5), 3),
    (Fraction(1, 10**9), 3),
    (Fraction(1, 2**45), 1),
    (Fraction(1, 100), 1000),
]


def exactly(rate: Fraction, cap: int, m: int) -> mpmath.mpf:
    """P(|K| >= m) summed term by term to 60 digits."""
    with mpmath.workdps(60):
        terms = [mpmath.exp(-mpmath.mpf(rate.numerator) * k / rate.denominator) for k in range(cap + 1)]
        return 2 * mpmath.fsum(terms[m:]) / (2 * mpmath.fsum(terms) - 1)


def test_table_2_of_the_ors_paper_to_every_printed_digit():
    law = TruncatedGeometric(Fraction(2), 7)
    published = ["0.76159", "0.10307", "0.013949", "0.0018878", "0.0002555", "0.0000346", "0.0000047", "0.0000006"]
    for k, text in enumerate(published):
        assert f"{float(law.pmf(k)):.{len(text) - 2}f}" == text
    assert round(law.variance, 7) == 0.3620177  # SCIENCE 2.3


@pytest.mark.parametrize(("rate", "cap"), CASES)
def test_survival_is_right_to_one_part_in_two_to_the_forty_one(rate, cap):
    law = TruncatedGeometric(rate, cap)
    for m in {1, 2, (cap + 1) // 2, cap} - {0}:
        if m <= cap:
            error = abs(mpmath.mpf(float(law.survival(m))) / exactly(rate, cap, m) - 1)
            assert error < 2.0**-41


@pytest.mark.parametrize(("rate", "cap"), CASES)
@pytest.mark.parametrize("bits", [1, 63, 200])
def test_exact_survival_encloses_the_truth_within_two_units(rate, cap, bits):
    law = TruncatedGeometric(rate, cap)
    for m in (1, cap, cap + 1):
        low, high = law.exact_survival(m, bits)
        with mpmath.workdps(90):
            truth = exactly(rate, cap, m) * mpmath.mpf(2) ** bits if m <= cap else 0
            assert low <= truth <= high
        assert high - low <= 2


def test_drawn_frequencies_are_the_law_and_never_beyond_the_cap():
    """Chi-square at 1e-9; at 400,000 draws a rate 5% off moves the statistic by over 100 (power above 1 - 1e-9)."""
    law, wrong = TruncatedGeometric(Fraction(1), 3), TruncatedGeometric(Fraction(21, 20), 3)
    drawn = law.draw(400_000, SeededDraws(5))
    assert np.abs(drawn).max() == 3
    counts = np.bincount(drawn + 3, minlength=7)
    values = np.arange(-3, 4)
    assert chisquare(counts, law.pmf(values) * len(drawn)).pvalue > 1e-9
    assert chisquare(counts, wrong.pmf(values) * len(drawn)).pvalue < 1e-9


def test_a_float_rate_is_refused():
    with pytest.raises(TypeError, match="exact rate"):
        TruncatedGeometric(0.5, 3)

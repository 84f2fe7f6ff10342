"""The laws: probabilities, moments and bounds, against mpmath and against the values in the papers."""

from fractions import Fraction
from math import isclose

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from sfumato.draws import DiscreteNormal, RoundedNormal, SeededDraws, TruncatedGeometric, TwoSidedGeometric, bounds

F = Fraction
LAWS = [
    *map(TwoSidedGeometric, [F(7), F(1), F(1, 2), F(1, 10), F(2, 301)]),
    *map(DiscreteNormal, [F(1, 50), F(1, 3), F(1), F(399, 100), F(4), F(50), F(2500)]),
    *map(RoundedNormal, [F(1, 50), F(1, 3), F(1), F(399, 100), F(4), F(50), F(2500)]),
]
ALL_LAWS = pytest.mark.parametrize("law", LAWS, ids=repr)
PARAMETERS = st.fractions(min_value=F(1, 40), max_value=F(60), max_denominator=1000)


def moment(oracle, law, power):
    """E |K|^power by summation at 60 digits."""
    with mpmath.workdps(60):
        last = int(40 * law.scale if not isinstance(law, TwoSidedGeometric) else 100 * law.scale) + 10
        return mpmath.fsum((m**power - (m - 1) ** power) * oracle(law, m, 40) for m in range(1, last))


def test_geometric_moments_of_the_papers():
    # SCIENCE section 1: epsilon 1 under add-remove and under replace-one; E[U+] and P(U < 0).
    law, k = TwoSidedGeometric(F(1)), np.arange(1, 200)
    assert round(law.variance, 6) == 1.841347
    assert round(TwoSidedGeometric(F(1, 2)).variance, 3) == 7.835
    assert round(float(np.sum(k * law.pmf(k))), 5) == 0.42546
    assert round(float(np.sum(law.pmf(-k))), 5) == 0.26894


@pytest.mark.parametrize("sigma_squared", [F(1), F(9), F(10**6), F(2**80)])
def test_rounding_adds_a_twelfth_to_the_variance(sigma_squared):
    assert isclose(RoundedNormal(sigma_squared).variance, sigma_squared + F(1, 12), rel_tol=1e-7)


def test_rounding_a_narrow_normal_does_not_add_a_twelfth():
    assert RoundedNormal(F(1, 50)).variance < 0.001


def test_one_step_of_shift_tells_the_rounded_from_the_discrete_normal():
    # ASSURANCE: at sd 1 the discrete normal's total variation is 0.399 where mu = 1 allows 0.383.
    assert round(float(DiscreteNormal(F(1)).pmf(0)), 3) == 0.399
    assert isclose(RoundedNormal(F(1)).pmf(0), norm.cdf(0.5) - norm.cdf(-0.5), rel_tol=1e-14)


@ALL_LAWS
def test_probabilities_sum_to_one(law):
    k = np.arange(-int(60 * law.scale) - 10, int(60 * law.scale) + 11)
    assert isclose(float(np.sum(law.pmf(k))), 1, rel_tol=1e-13)


@ALL_LAWS
def test_probabilities_are_symmetric_and_decreasing(law):
    k = np.arange(0, int(10 * law.scale) + 2)
    assert np.array_equal(law.pmf(k), law.pmf(-k))
    assert np.all(np.diff(law.pmf(k)) < 0)


@ALL_LAWS
def test_probabilities_are_within_2_to_minus_40(law, oracle):
    for k in [0, 1, 2, 5, int(law.scale), int(5 * law.scale), int(10 * law.scale)]:
        with mpmath.workdps(60):
            true = (oracle(law, k) - oracle(law, k + 1)) / 2 if k else 1 - oracle(law, 1)
            if true > mpmath.mpf(2) ** -100:
                assert abs(mpmath.mpf(float(law.pmf(k))) / true - 1) < mpmath.mpf(2) ** -40


@ALL_LAWS
def test_stated_moments_are_the_moments(law, oracle):
    assert isclose(law.variance, moment(oracle, law, 2), rel_tol=1e-13)
    assert isclose(law.fourth_moment, moment(oracle, law, 4), rel_tol=1e-13)


@ALL_LAWS
def test_survival_is_within_2_to_minus_41(law, oracle):
    assert float(law.survival(0)) == float(law.survival(-3)) == 1
    for m in {*range(1, 40), *(int(x * law.scale) + 1 for x in range(1, 70, 3))}:
        true = oracle(law, m)
        if true > mpmath.mpf(2) ** -100:
            assert abs(mpmath.mpf(float(law.survival(m))) / true - 1) < mpmath.mpf(2) ** -42


@pytest.mark.parametrize("law", [DiscreteNormal(F(2**34)), DiscreteNormal(F(10**9, 7))], ids=repr)
def test_survival_of_the_widest_tables_is_within_2_to_minus_41(law):
    for m in (1, int(7 * law.scale)):
        low, high = law.exact_survival(m, 120)
        assert abs(Fraction(float(law.survival(m))) * 2**120 / low - 1) < F(1, 2**42)
        assert high - low <= 2


@ALL_LAWS
@pytest.mark.parametrize("bits", [8, 63, 127, 300])
def test_exact_survival_encloses_the_truth_narrowly(law, bits, oracle):
    for m in [1, 2, 3, int(law.scale) + 1, int(5 * law.scale) + 1, int(20 * law.scale) + 1, 10**6]:
        low, high = law.exact_survival(m, bits)
        with mpmath.workdps(130):
            assert low <= oracle(law, m) * 2**bits <= high
        assert high - low <= 2


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([TwoSidedGeometric, RoundedNormal, DiscreteNormal]), PARAMETERS, st.integers(1, 60))
def test_exact_survival_encloses_the_truth_for_any_parameter(kind, parameter, m):
    from_float = kind(parameter).survival(m)
    low, high = kind(parameter).exact_survival(m, 200)
    assert 0 <= low <= high <= low + 2
    if low > 2**100:
        assert abs(Fraction(float(from_float)) * 2**200 / low - 1) < F(1, 2**41)


@settings(max_examples=100, deadline=None)
@given(st.fractions(min_value=0, max_value=300, max_denominator=10**6), st.integers(1, 400))
def test_exponential_erfc_and_pi_are_enclosed(x, bits):
    with mpmath.workprec(2 * bits + 1000):
        real = mpmath.mpf(x.numerator) / x.denominator
        for (low, high), truth in [
            (bounds.exponential_minus(x, bits), mpmath.exp(-real)),
            (bounds.erfc_of_root(x, bits), mpmath.erfc(mpmath.sqrt(real))),
            (bounds.pi(bits), mpmath.pi),
        ]:
            assert low <= truth * 2**bits <= high <= low + 2


def test_a_parameter_one_in_a_billion_off_is_noticed(oracle):
    # The control of the enclosures and of the moments above.
    law, other = RoundedNormal(F(50)), RoundedNormal(F(50) * (1 + F(1, 10**9)))
    low, high = law.exact_survival(7, 63)
    assert not low <= oracle(other, 7) * 2**63 <= high
    assert not isclose(law.variance, moment(oracle, other, 2), rel_tol=1e-13)


@pytest.mark.parametrize("kind", [TwoSidedGeometric, DiscreteNormal, RoundedNormal])
def test_parameters_are_exact_and_within_reach(kind):
    assert kind(2) == kind(F(2))
    with pytest.raises(TypeError, match=r"Write Fraction\('0.1'\)"):
        kind(0.1)
    for refused in (F(0), F(-1), F(2**91), F(1, 2**91)):
        with pytest.raises(ValueError, match="coarser steps"):
            kind(refused)


@pytest.mark.parametrize("variance", [F(2**10), F(10**6, 7), F(2**21, 3), F(2**34), F(10**20, 3), F(2**90)])
@pytest.mark.parametrize("bits", [63, 191])
def test_discrete_normals_of_any_width_have_their_tails_enclosed(variance, bits, oracle):
    law = DiscreteNormal(variance)
    for m in (1, 2, 1000, int(law.scale) + 1, int(6 * law.scale), int(20 * law.scale)):
        low, high = law.exact_survival(m, bits)
        with mpmath.workdps(130):
            assert low <= oracle(law, m) * mpmath.mpf(2) ** bits <= high
        assert high - low <= 2


@pytest.mark.parametrize("variance", [F(2**10), F(10**9, 7)])
def test_the_formula_for_wide_sums_is_the_sum(variance, monkeypatch):
    # The same bounds from every single term; 191 bits are where either could be told from a neighbour.
    law = DiscreteNormal(variance)
    for m in (1, int(law.scale), int(4 * law.scale)):
        low, high = law.exact_survival(m, 191)
        with monkeypatch.context() as only:
            only.setattr(bounds, "_SMOOTH", 2**99)
            least, most = law.exact_survival(m, 191)
        assert max(low, least) <= min(high, most)


@pytest.mark.parametrize("scale", [512, 513, 10**4, 2**45])
def test_floats_of_wide_normals_keep_their_promise(scale, oracle):
    for law in (DiscreteNormal(F(scale**2)), RoundedNormal(F(scale**2))):
        for z in (0, 0.5, 1, 3, 7, 11):
            m = int(z * scale) + 1
            with mpmath.workdps(60):
                tail, beyond = oracle(law, m), oracle(law, m + 1)
                assert abs(float(law.survival(m)) / tail - 1) < mpmath.mpf(2) ** -42
                assert abs(float(law.pmf(m)) / ((tail - beyond) / 2) - 1) < mpmath.mpf(2) ** -41


def test_the_widest_discrete_normal_says_what_would_work():
    assert DiscreteNormal(F(2**90)).variance == 2**90
    with pytest.raises(ValueError, match=r"from .* to 1.238e\+27; got .* Count in coarser steps"):
        DiscreteNormal(F(2**90 + 1))


@pytest.mark.parametrize(
    ("law", "widest"),
    [
        (TwoSidedGeometric, 45),
        (lambda rate: TruncatedGeometric(rate, 3), 45),
        (RoundedNormal, 90),
        (DiscreteNormal, 90),
    ],
    ids=["geometric", "truncated", "rounded", "discrete"],
)
def test_a_law_is_drawn_from_one_end_of_what_it_is_exact_for_to_the_other_and_refused_beyond(law, widest):
    ends = Fraction(1, 2**widest), Fraction(2**widest)
    for end in ends:
        assert len(law(end).draw(3, SeededDraws(1))) == 3
    for beyond in (ends[0] / 2, ends[1] * 2):
        with pytest.raises(ValueError, match="draws exactly for"):
            law(beyond)
    with pytest.raises(TypeError, match="needs an exact"):
        law(0.5)

"""The quartic law and Laplace's, rounded: what their chances sum to, and that draws are exactly theirs.

Counts of draws are held to their binomial law with a false-alarm rate of 1e-9 a test; scales 5% too small or too large
change the chance of going beyond a scale by a twentieth of itself, 25 standard errors of 400,000 draws.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2

from sfumato.draws import Quartic, RoundedLaplace, SeededDraws, draw_quartic, quartic
from sfumato.draws.bounds import ceiling

SCALES = [Fraction(2), Fraction(37, 10), Fraction(1000, 7), Fraction(98_765)]


def test_the_integral_the_mean_size_and_the_variance_are_those_of_the_note():
    whole = quad(lambda z: 1 / (1 + z**4), -np.inf, np.inf)[0]
    assert whole == pytest.approx(math.pi / math.sqrt(2))
    assert 2 * quad(lambda z: z / (1 + z**4), 0, np.inf)[0] / whole == pytest.approx(1 / math.sqrt(2))
    assert 2 * quad(lambda z: z * z / (1 + z**4), 0, np.inf)[0] / whole == pytest.approx(1)
    z = np.linspace(0, 10, 100_001)
    assert (4 * z**3 / (1 + z**4)).max() == pytest.approx(3**0.75, rel=1e-8)


@pytest.mark.parametrize("scale", SCALES[:3], ids=str)
def test_its_sum_over_the_integers_is_the_closed_form_and_its_tails_are_sums(scale):
    law, last = Quartic(scale), 20_000 * int(scale)
    terms = 1 / (1 + (np.arange(1, last) / float(scale)) ** 4)
    left = float(scale) ** 4 / (3 * (last - 0.5) ** 3)
    assert law.total == pytest.approx(1 + 2 * (math.fsum(terms) + left), rel=1e-12)
    for m in (1, 2, int(scale), int(11 * scale), int(13 * scale), int(100 * scale)):
        assert float(law.survival(m)) == pytest.approx(2 * (terms[m - 1 :].sum() + left) / law.total, rel=2e-6)


@pytest.mark.parametrize("z", [0.0, 0.5, 2.0, 29.0, 31.0, 60.0, 1e4])
def test_what_lies_beyond_is_the_integral_near_and_far(z):
    """With w = 1/x it is that of w² / (1 + w⁴) up to 1/z, which is smooth and short."""
    near = quad(lambda x: 1 / (1 + x**4), z, max(z, 1.0), epsabs=0, epsrel=1e-12)[0]
    far = quad(lambda w: w**2 / (1 + w**4), 0, 1 / max(z, 1.0), epsabs=0, epsrel=1e-12)[0]
    assert float(quartic._beyond(np.array(z))) == pytest.approx(near + far, rel=1e-9, abs=0)


def test_the_sum_goes_as_the_scale_but_for_what_the_claim_counts():
    """d ln total / d ln s is within 0.0026 of 1 from a scale of 2 on, so a stretch costs at most 3.0026."""
    scales = np.geomspace(2, 50, 4_000)
    logs = np.log([Quartic(Fraction(one)).total for one in scales])
    slopes = np.diff(logs) / np.diff(np.log(scales))
    assert np.abs(slopes - 1).max() <= 0.0026
    small = [math.log(Quartic(Fraction(one)).total) for one in (1.0, 1.01)]
    assert abs((small[1] - small[0]) / math.log(1.01) - 1) > 0.01, "below 2 it does not"


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_draws_have_the_chances_of_the_law(scale):
    assert surprise(scale, scale) < 1e9
    for wrong in (Fraction(95, 100), Fraction(105, 100)):
        assert surprise(scale * wrong if scale * wrong >= 2 else scale * Fraction(107, 100), scale) > 1e9


def surprise(drawn: Fraction, stated: Fraction, count: int = 400_000) -> float:
    """One over the chance that counts of sizes are as far from a law."""
    noise = draw_quartic([drawn], np.zeros(count, dtype=np.int64), SeededDraws(4))
    edges = np.unique(np.ceil(np.array([0.1, 0.3, 0.5, 0.7, 0.9, 1, 1.2, 1.5, 2, 3, 5, 8]) * float(stated)))
    chances = -np.diff(np.concatenate([[1.0], Quartic(stated).survival(edges), [0.0]]))
    counts = -np.diff([count, *(np.count_nonzero(np.abs(noise) >= edge) for edge in edges), 0])
    far = float(((counts - count * chances) ** 2 / (count * chances)).sum())
    assert abs(np.mean(np.sign(noise))) < 6.1 / math.sqrt(count)
    return 1 / max(chi2.sf(far, len(edges)), 1e-300)


def test_scales_side_by_side_are_drawn_each_by_its_own():
    scales = [Fraction(3), Fraction(5_000)]
    which = np.arange(200_000) % 2
    noise = np.abs(draw_quartic(scales, which, SeededDraws(1)))
    means = [noise[which == one].mean() for one in (0, 1)]
    assert means[1] == pytest.approx(5_000 / math.sqrt(2), rel=0.02)
    assert means[0] == pytest.approx(2 * Quartic(scales[0]).pmf(np.arange(1, 10**6)) @ np.arange(1, 10**6), rel=0.02)


def test_what_floats_leave_open_is_settled_by_fractions_to_the_same_law(monkeypatch):
    """With every comparison left open, the draws are the same: integers decide as floats do where these are sure."""
    which = np.zeros(300, dtype=np.int64)
    quick = draw_quartic([Fraction(22, 7)], which, SeededDraws(6))
    asked = []
    exactly = quartic._chance
    monkeypatch.setattr(quartic, "_CLOSE", 1e9)
    monkeypatch.setattr(quartic, "_chance", lambda *given: asked.append(given) or exactly(*given))
    assert draw_quartic([Fraction(22, 7)], which, SeededDraws(6)).tolist() == quick.tolist()
    assert len(asked) >= 300
    assert all(0 < exactly(*given) < 1 for given in asked)


def test_blocks_beyond_one_word_are_drawn_too(monkeypatch):
    monkeypatch.setattr(quartic, "_TRIPLES", 1)
    noise = draw_quartic([Fraction(50)], np.zeros(30_000, dtype=np.int64), SeededDraws(2))
    share = np.mean(np.abs(noise) >= 64)
    assert share == pytest.approx(float(Quartic(Fraction(50)).survival(64)), abs=6.1 * math.sqrt(0.25 / 30_000))


@pytest.mark.parametrize("scale", [Fraction(199, 100), Fraction(2**41)])
def test_scales_that_its_claim_or_64_bits_do_not_carry_are_refused(scale):
    with pytest.raises(ValueError, match="Quartic draws exactly for a scale from 2"):
        draw_quartic([scale], np.zeros(1, dtype=np.int64), SeededDraws(1))


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(1234, 7)], ids=str)
def test_laplace_rounded_has_the_chances_of_laplace_between_halves(scale):
    law, s = RoundedLaplace(scale), float(scale)
    for k in (0, 1, 2, 7):
        low, high = (np.sign(x) * -np.expm1(-abs(x) / s) / 2 for x in (k - 0.5, k + 0.5))
        assert float(law.pmf(k)) == pytest.approx(high - low, rel=1e-9)
        below, above = law.exact_survival(k + 1, 80)
        assert below <= 2**80 * float(law.survival(k + 1)) * (1 + 1e-12)
        assert above >= 2**80 * float(law.survival(k + 1)) * (1 - 1e-12)
    m = np.arange(1, 100 + 80 * ceiling(scale.numerator, scale.denominator))
    assert law.variance == pytest.approx(float(((2 * m - 1) * law.survival(m)).sum()), rel=1e-9)
    assert law.fourth_moment == pytest.approx(float(((m**4 - (m - 1) ** 4) * law.survival(m)).sum()), rel=1e-9)
    noise = law.draw(200_000, SeededDraws(9))
    error = math.sqrt((law.fourth_moment - law.variance**2) / 200_000)
    assert abs(np.mean(noise.astype(float) ** 2) - law.variance) < 6.1 * error

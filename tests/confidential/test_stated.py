"""What laws of noise lose between two neighbours, against sums over their outcomes and closed forms."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.confidential.audit import audit_plan
from sfumato.confidential.stated import Samples, exact_loss, outcomes
from sfumato.draws import DiscreteNormal, Quartic, RoundedLaplace, RoundedNormal, SeededDraws, TwoSidedGeometric
from sfumato.privacy import Approximate, Concentrated, Gaussian


@pytest.mark.parametrize(("rate", "shift"), [("1", 1), ("1/3", 2), ("1/4000", 1_000), ("1/4000", -1_000)])
def test_geometric_noise_loses_its_rate_a_step_and_cells_add_up(rate, shift):
    law = TwoSidedGeometric(Fraction(rate))
    cell, lost = outcomes(law, law, shift), abs(shift) * float(Fraction(rate))
    assert sum(cell[0]) == pytest.approx(1, abs=1e-12) == sum(cell[1])
    assert exact_loss([cell], Approximate(9)) == pytest.approx(lost, rel=1e-9)
    assert exact_loss([cell] * 22, Approximate(99)) == pytest.approx(22 * lost, rel=1e-9)


@pytest.mark.parametrize("cells", [1, 4])
def test_normal_noise_loses_its_mu_and_its_rho(cells):
    """A shift of 3 at a deviation of 4, in independent cells: mu is √cells · 3/4, rho half its square."""
    rounded, discrete = (outcomes(law, law, 3) for law in (RoundedNormal(Fraction(16)), DiscreteNormal(Fraction(16))))
    mu = math.sqrt(cells) * 3 / 4
    assert 0.99 * mu < exact_loss([rounded] * cells, Gaussian(9)) <= mu * (1 + 1e-6)
    assert exact_loss([discrete] * cells, Concentrated(9)) == pytest.approx(mu**2 / 2, rel=1e-6)


def test_a_delta_is_that_of_the_normal_curve():
    """mu 1 has epsilon 4.3772 at delta 1e-5 (Balle and Wang 2018): wide rounded normals are nearly normal."""
    law = RoundedNormal(Fraction(2_000**2))
    assert exact_loss([outcomes(law, law, 2_000)], Approximate(9, "1e-5")) == pytest.approx(4.3772, abs=2e-3)


@pytest.mark.parametrize(
    ("one", "other", "shift"),
    [(Quartic(Fraction(20)), Quartic(Fraction(22)), 6), (RoundedLaplace(Fraction(9)), RoundedLaplace(Fraction(10)), 4)],
)
def test_laws_of_two_scales_lose_what_their_outcomes_do(one, other, shift):
    """Integer by integer, and two cells by every pair of outcomes."""
    k = np.arange(-40_000, 40_001)
    p, q = one.pmf(k - shift), other.pmf(k)
    if isinstance(one, Quartic):  # Laplace's ratio has no bound
        told = (p > 1e-10) & (q > 1e-10)
        farthest = max(np.log(p[told] / q[told]).max(), np.log(q[told] / p[told]).max())
        assert exact_loss([outcomes(one, other, shift)], Approximate(9)) == pytest.approx(farthest, rel=5e-3)
    narrow = np.abs(k) <= 300
    pairs = [np.outer(side[narrow], side[narrow]) for side in (p, q)]
    claim = Approximate(9, "0.05")
    epsilon = exact_loss([outcomes(one, other, shift)] * 2, claim)
    ways = [np.maximum(a - np.exp(epsilon) * b, 0).sum() for a, b in (pairs, pairs[::-1])]
    assert max(ways) == pytest.approx(0.05, rel=2e-2)


def test_as_many_samples_are_chosen_as_show_the_loss_of_many_cells():
    """All of ten cells speak for one side once in a thousand times: 100,000 samples show too little of 2.5."""
    law = TwoSidedGeometric(Fraction(1, 4_000))
    one, ten = ([outcomes(law, law, 1_000)] * cells for cells in (1, 10))
    assert Samples(100_000, Approximate("2.5"), 1e-5).showing(ten) > 2_000_000
    assert Samples(100_000, Approximate("0.25"), 1e-5).showing(one) <= 400_000
    assert Samples(100_000).showing(ten) == 100_000, "as many as were asked for"
    hopeless = [outcomes(law, law, 1_000)] * 40
    assert Samples(100_000, Approximate(10), 1e-5).showing(hopeless) == 100_000, "no number of samples would do"


HEAD = """
name = "five"
[data]
unit = "firm"
[attributes.trade]
levels = ["1", "2"]
[hidden]
neighbours = "add-remove"
unit = "firm"
[limit]
epsilon = "5"
"""
MEASURE = """
[[measure]]
name = "NAME"
of = "count"
by = ["trade"]
with = { mechanism = "geometric", epsilon = "1" }
"""
PLAN = HEAD + "".join(MEASURE.replace("NAME", name) for name in "abcde")


def test_one_event_of_each_measure_shows_what_all_lose_and_a_total_that_is_too_small_is_caught(monkeypatch):
    """Five tables lose 5 in one cell each; a claim of 4.4 for all of them is false."""
    plan = sf.Plan.parse(PLAN, Path("five.toml"))
    everything = audit_plan(plan, samples=100_000, draws=SeededDraws(1))[-1]
    assert everything.exact == pytest.approx(5)
    assert 0.9 * 5 < everything.bound <= 5
    price = plan.price()
    monkeypatch.setattr(sf.Plan, "price", lambda self: replace(price, total=Approximate("4.4")))
    wrong = audit_plan(plan, samples=100_000, draws=SeededDraws(1))
    assert [one.measure for one in wrong if not one.holds] == ["everything"]

"""Noise along a curve of loss: what every change of a size loses by the law, its bias and errors by closed forms.

With L = ln(1 + at / bend) and c cells the noise on a logarithm is Laplace's with scale l = c L / epsilon, but for the
lattice, which is a thousandth of a job fine and one step wider.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sfumato.confidential.contract import contract
from sfumato.draws import SeededDraws, TwoSidedGeometric
from sfumato.errors import PromiseError
from sfumato.mechanisms import Cells, CurveLaplace, LogLaplace, Typical
from sfumato.privacy import AlongCurve, Approximate, Bounded, LossCurve, Relative
from sfumato.release import Withheld
from sfumato.schema import Frame

CURVES = [("0.01", 1), ("1", 10), ("10", 100), ("250", 20), ("10000", 10_000)]
SIZES = np.array([*range(150), 1_000, 1_001, 99_999, 10**6, 10**9])


def move_of(bend: str = "10", at: int = 100, cells: int = 1) -> AlongCurve:
    return AlongCurve(LossCurve(Fraction(bend), at), cells)


def cells_of(values, move: AlongCurve) -> Cells:
    values = np.asarray(values, dtype=np.int64)
    return Cells(Frame("cell", (), {}, range(len(values))), values, Fraction(1), move)


def lost(mechanism: CurveLaplace, move: AlongCurve, beside: int) -> np.ndarray:
    """What two sizes of one establishment lose, beside so many jobs of others in its cell."""
    there = mechanism.clean(cells_of(SIZES + beside, move))
    return np.abs(there[:, None] - there) * float(mechanism.law(move).rate) * move.cells


def stated(move: AlongCurve, epsilon: float) -> np.ndarray:
    """What the policy states of them: how far the logarithms are apart, and of any change that of one job at least."""
    bend = float(move.curve.bend)
    heights = np.log1p(SIZES / bend) / math.log1p(move.curve.at / bend)
    one = math.log1p(1 / bend) / math.log1p(move.curve.at / bend)
    return epsilon * np.maximum(np.abs(heights[:, None] - heights), one)


@pytest.mark.parametrize("cells", [1, 7])
@pytest.mark.parametrize(("bend", "at"), CURVES, ids=str)
def test_no_change_of_any_size_loses_more_than_the_curve_states_alone_or_not(bend, at, cells):
    move = move_of(bend, at, cells)
    mechanism = CurveLaplace(200)
    for beside in (0, 1, 40, 12_345):
        assert (lost(mechanism, move, beside) <= stated(move, 200.0) * (1 + 1e-9)).all()
    alone = lost(mechanism, move, 0)[0, 1:] / stated(move, 200.0)[0, 1:]
    assert (alone > 0.995).all(), "one that is there or not loses all of it, whatever its size"


def test_noise_without_the_step_for_rounding_or_on_another_curve_would_be_told():
    """Negative arm: 2% less noise breaks the curve, and so does noise for twice the bend."""
    move = move_of()
    assert (lost(CurveLaplace(5), move, 0) * 1.02 > stated(move, 5.0)).any()
    assert (lost(CurveLaplace(5), move_of("5"), 0) > stated(move, 5.0) * 1.05).any()


def test_the_contract_holds_and_noise_a_twentieth_too_small_breaks_it():
    class Narrow(CurveLaplace):
        def rate(self, move):
            return super().rate(move) * Fraction(21, 20)

    for cells in (1, 3):
        found = contract(CurveLaplace(20), move_of(cells=cells), Fraction(1), SeededDraws(5))
        assert [(one.check, one.verdict) for one in found if one.verdict != "holds"] == []
        assert {one.check for one in found} >= {"no change is dearer"}
        (broken,) = (
            one
            for one in contract(Narrow(20), move_of(cells=cells), Fraction(1), SeededDraws(5))
            if one.check == "no change is dearer"
        )
        assert "the curve is broken by a change from" in broken.verdict


@pytest.mark.parametrize(("epsilon", "cells"), [("10", 1), ("24", 1), ("50", 3)])
def test_numbers_are_without_bias_and_their_error_is_the_closed_form(epsilon, cells):
    move, mechanism = move_of(cells=cells), CurveLaplace(epsilon)
    scale = cells * math.log(11) / float(epsilon)
    law = mechanism.law(move)
    k = np.arange(-int(60 * law.scale), int(60 * law.scale) + 1)
    factors = np.exp(k * mechanism.lattice(move)) / mechanism.mean(move)
    assert float(law.pmf(k) @ factors) == pytest.approx(1, abs=1e-6)
    assert mechanism.variance(move) == pytest.approx((1 - scale**2) ** 2 / (1 - 4 * scale**2) - 1, rel=1e-2)
    assert mechanism.expected(move, Typical(size=90.0)) == pytest.approx(100 * math.sqrt(mechanism.variance(move)))
    noisy = mechanism.perturb(cells_of([0, 7, 2_000] * 20_000, move), SeededDraws(3)).values.reshape(-1, 3) / 100
    error = noisy.std(axis=0) / math.sqrt(20_000)
    assert (np.abs(noisy.mean(axis=0) - [0, 7, 2_000]) <= 6.1 * error + 0.02).all()


def test_one_job_of_a_curve_with_bend_1_over_alpha_is_a_step_of_log_laplace():
    """The two promises on one axis: the same noise hides a job, or a tenth of a size, at the same loss."""
    curve = move_of("10", 1)
    one, other = CurveLaplace(2).law(curve), LogLaplace(2).law(Relative(Fraction(1, 10)))
    assert isinstance(one, TwoSidedGeometric)
    assert float(one.rate) == pytest.approx(float(other.rate), rel=2e-3)
    assert CurveLaplace(2).lattice(curve) == pytest.approx(LogLaplace(2).lattice(Relative(Fraction(1, 10))))


def test_the_smallest_epsilon_that_would_do_is_said():
    with pytest.raises(
        PromiseError, match=r"bend of 10 at 100 jobs its noise has no mean, .* above 2\.40\d; from 4\.80"
    ):
        CurveLaplace(2).loss(move_of())
    assert CurveLaplace("2.41").loss(move_of()) == Approximate("2.41")
    assert isinstance(CurveLaplace(3).variance(move_of()), Withheld)
    assert not isinstance(CurveLaplace("4.81").variance(move_of()), Withheld)


@pytest.mark.parametrize("move", [Bounded(1, 1, 1, 1), Relative(Fraction(1, 10))], ids=str)
def test_it_hides_nothing_but_what_goes_along_a_curve_and_others_do_not_hide_that(move):
    with pytest.raises(PromiseError, match='neighbours = "loss-by-size"'):
        CurveLaplace(5).loss(move)
    with pytest.raises(PromiseError, match="size-within"):
        LogLaplace(5).loss(move_of())


def test_cells_of_one_establishment_share_the_epsilon():
    one, many = (CurveLaplace(30).law(replace(move_of(), cells=cells)).rate for cells in (1, 6))
    assert one == 6 * many

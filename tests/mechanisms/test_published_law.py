"""The law that is told of a published number is that of what a mechanism publishes, through its own door.

Each check counts how many of 40,000 published numbers lie below an edge, against the binomial law of that count, at a
false-alarm rate of 1e-9; a law that is off by 5 points is rejected, as the shifted one is.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from sfumato.draws import SeededDraws
from sfumato.mechanisms import (
    Cells,
    CurveLaplace,
    DiscreteGaussian,
    Geometric,
    LogLaplace,
    RoundedGaussian,
    SmoothGamma,
    SmoothLaplace,
    SquareRoot,
    TruncatedGeometricNoise,
    Typical,
)
from sfumato.privacy import AlongCurve, Bounded, Relative, Root
from sfumato.privacy.neighbours.loss_curve import LossCurve
from sfumato.schema import Frame, Largest, Rows

DRAWS, FALSE_ALARM, SIZE = 40_000, 1e-9, 200
STEP = Fraction(1, 2)
ONE, GROWTH = Bounded(1, 1, 1), Relative(Fraction(1, 10), 1)
LAWS = [
    (Geometric("0.3"), ONE),
    (RoundedGaussian("0.2"), ONE),
    (DiscreteGaussian("0.05"), ONE),
    (TruncatedGeometricNoise("0.5", 6), ONE),
    (LogLaplace(2), GROWTH),
    (CurveLaplace(5), AlongCurve(LossCurve(Fraction(10), 100), 1)),
    (SquareRoot("0.5"), Root(Fraction(1))),
    (SmoothLaplace(4, "0.05"), GROWTH),
    (SmoothGamma(2), GROWTH),
]


@pytest.mark.parametrize(("mechanism", "move"), LAWS, ids=[one.name for one, _ in LAWS])
def test_numbers_are_published_below_edges_as_often_as_is_told(mechanism, move):
    steps = np.full(DRAWS, int(SIZE / STEP), dtype=np.int64)
    columns = {Rows(): steps, Largest(): steps[:, None]}
    cells = Cells(Frame("cell", (), {}, range(DRAWS)), steps, STEP, move, columns=columns)
    noisy = mechanism.perturb(cells, SeededDraws(1))
    published = noisy.values * float(noisy.step)
    law = mechanism.published_law(move, Typical(STEP, float(SIZE), float(SIZE)))
    edges = np.unique(np.quantile(published, [0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98]).round(1)) + 0.013
    chances = law.below(float(SIZE), edges)

    def rejected(chance):
        counts = (published[:, None] < edges).sum(axis=0)
        rare = np.minimum(binom.cdf(counts, DRAWS, chance), binom.sf(counts - 1, DRAWS, chance))
        return bool((rare < FALSE_ALARM / (2 * len(edges))).any())

    assert not rejected(chances)
    assert rejected(np.clip(chances + 0.05, 0, 1))
    assert law.within(float(SIZE), float(np.quantile(np.abs(published - SIZE), 0.9))) == pytest.approx(0.9, abs=0.08)


def test_what_no_law_can_be_told_of_says_why():
    unsized = replace(Typical(STEP), largest=None)
    assert "--size" in LogLaplace(2).published_law(GROWTH, unsized).in_full
    assert "--largest" in SmoothLaplace(4, "0.05").published_law(GROWTH, unsized).in_full

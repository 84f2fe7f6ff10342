"""Mechanisms whose noise follows the largest establishment: each step from one scale to another, by the laws.

A cell that grows by a step has another value and another scale. The chances of what is published are compared one by
one over outcomes spread far out: what the first has beyond e^epsilon times the second sums to no more than delta.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.contract.drawn import Drawn, calls_are_independent, cells_are_independent, tails_are_the_laws
from sfumato.draws import Draws
from sfumato.mechanisms import Cells
from sfumato.mechanisms.smooth import Smooth
from sfumato.privacy import Approximate, Relative
from sfumato.privacy.neighbours.growth import grown
from sfumato.schema import Frame, Largest, Rows

SIZES = (0, 1, 5, 9, 10, 25, 100, 1_000, 20_000)
TOLERANCE = 1e-6
SAMPLES = 200_000
FARTHEST = 10**10


def largest_cells(sizes: list[int], move: Relative) -> Cells:
    """Cells that each are one establishment of some size."""
    values = np.array(sizes, dtype=np.int64)
    columns = {Rows(): values, Largest(): values[:, None]}
    return Cells(Frame("cell", (), {}, range(len(values))), values, Fraction(1), move, columns=columns)


def no_scale_is_further(mechanism: Smooth, move: Relative) -> list[str]:
    """Complaints about establishments whose largest neighbour loses more than one step of what is claimed."""
    claim, said = mechanism.loss(move), []
    if not isinstance(claim, Approximate):
        return [f"{claim.words()} is no claim that is known here"]
    epsilon, delta = float(mechanism.epsilon) / move.cells, float(claim.delta) / move.cells
    for size in SIZES:
        one, other = _chances(mechanism, (size, grown(size, move.alpha)), move)
        over = max(_beyond(one, other, epsilon), _beyond(other, one, epsilon))
        if over > delta + TOLERANCE * epsilon:
            said.append(f"{claim.words()} broken by a step from {size}: delta {over:.3g} a step")
    return said


def _chances(mechanism: Smooth, sizes: tuple[int, int], move: Relative) -> list[NDArray[np.float64]]:
    """The chances of outcomes on either side: one by one near both values, and some of those far out, each alone."""
    cells = largest_cells(list(sizes), move)
    scales, which = mechanism.noise_scales(cells)
    laws, centres = [mechanism.law_of(scales[one]) for one in which], mechanism.clean(cells)
    near = np.arange(-40_000, 40_001)
    far = np.unique(np.geomspace(40_001, FARTHEST, 2_000).astype(np.int64))
    k = np.concatenate([-far, near, far]) + centres[0]
    return [law.pmf(k - centre) for law, centre in zip(laws, centres, strict=True)]


def _beyond(one: NDArray[np.float64], other: NDArray[np.float64], epsilon: float) -> float:
    """What one has beyond e^epsilon times the other in all; of rounding in the last digits nothing."""
    over = one - np.exp(epsilon) * other * (1 + TOLERANCE)
    return float(np.maximum(over, 0.0).sum())


def drawn_scales(mechanism: Smooth, move: Relative, draws: Draws) -> dict[str, list[str]]:
    """Noise of one scale through the mechanism's own door: its tails, and its signs, as it may lack a fourth moment."""
    cells = largest_cells([100] * SAMPLES, move)
    first, second = (mechanism.perturb(cells, draws).values - mechanism.clean(cells) for _ in range(2))
    (scale,), _ = mechanism.noise_scales(cells)
    law = mechanism.law_of(scale)
    signs = Drawn(law, np.sign(first), np.sign(second))  # type: ignore[arg-type]
    return {
        "tails are the law's": tails_are_the_laws(Drawn(law, first, second)),  # type: ignore[arg-type]
        "cells are independent": cells_are_independent(signs),
        "calls are independent": calls_are_independent(signs),
    }

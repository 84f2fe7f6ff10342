"""Mechanisms along a curve of loss: every two sizes of an establishment, alone in its cell or not, by the law.

Two-sided geometric noise on an integer of every cell loses what the integers go times its rate, which is held to the
claim times the steps of the curve between the two sizes, or those of one job where they are nearer.
"""

from fractions import Fraction

import numpy as np

from sfumato.confidential.contract.sizes import TOLERANCE, sized
from sfumato.draws import Draws, TwoSidedGeometric
from sfumato.mechanisms import Mechanism
from sfumato.privacy import AlongCurve, Approximate

SIZES = (*range(60), 99, 100, 101, 999, 1_000, 9_999, 10_000, 1_000_000)
BESIDE = (0, 1, 7, 250, 100_000)
"""What other establishments have in the same cell."""


def no_change_is_dearer(mechanism: Mechanism, move: AlongCurve, step: Fraction, draws: Draws) -> list[str]:
    """Complaints about two sizes that lose more than the curve states of them, in as many cells as move."""
    claim, curve = mechanism.loss(move), move.curve
    law = mechanism.law_at(mechanism.perturb(sized([0], move, step), draws), 0)
    if not isinstance(law, TwoSidedGeometric) or not isinstance(claim, Approximate):
        return [f"{mechanism.name} states no law that is known here"]
    heights = np.array([curve.height(size) for size in SIZES])
    stated = np.maximum(np.abs(heights[:, None] - heights), curve.height(1)) * float(claim.epsilon)
    for beside in BESIDE:
        there = mechanism.clean(sized([size + beside for size in SIZES], move, step))
        lost = move.cells * np.abs(there[:, None] - there) * float(law.rate)
        one, other = np.unravel_index(int((lost / stated).argmax()), lost.shape)
        if lost[one, other] > stated[one, other] * (1 + TOLERANCE):
            where = f"a change from {SIZES[one]} to {SIZES[other]} beside {beside}"
            told = f"epsilon {lost[one, other]:.6f} where {stated[one, other]:.6f} is stated"
            return [f"the curve is broken by {where}: {told}"]
    return []

"""Mechanisms between size-within neighbours: every step from a size to the largest that looks like it, by the law.

A mechanism that states one law for its noise adds it to an integer of every cell. So many cells that each take a step
lose, with two-sided geometric noise, what their integers go in all times its rate, which is held to the claim.
"""

import math
from fractions import Fraction

import numpy as np

from sfumato.confidential.contract.drawn import Drawn
from sfumato.draws import Draws, TwoSidedGeometric
from sfumato.mechanisms import Cells, Mechanism
from sfumato.privacy import Approximate, Move, Relative
from sfumato.privacy.neighbours.growth import grown
from sfumato.schema import Frame

SIZES = (*range(200), 999, 10_000, 1_000_000, 10**9)
TOLERANCE = 1e-9
SAMPLES = 200_000
LARGE = 1_000_000
"""A size at which what is published tells the noisy integer to the last digit."""


def sized(sizes: list[int], move: Move, step: Fraction) -> Cells:
    """Cells of some sizes, in units of the measure that are whole steps of it."""
    values = np.array([math.floor(size / step) for size in sizes], dtype=np.int64)
    return Cells(Frame("cell", (), {}, range(len(values))), values, step, move)


def no_size_is_further(mechanism: Mechanism, move: Relative, step: Fraction, draws: Draws) -> list[str]:
    """Complaints about sizes whose largest neighbour loses more than is claimed, in as many cells as move."""
    claim, larger = mechanism.loss(move), [grown(size, move.alpha) for size in SIZES]
    noisy = mechanism.perturb(sized([0], move, step), draws)
    law = mechanism.law_at(noisy, 0)
    if not isinstance(law, TwoSidedGeometric) or not isinstance(claim, Approximate):
        return [f"{mechanism.name} states no law that is known here"]
    one, other = (mechanism.clean(sized(list(sizes), move, step)) for sizes in (SIZES, larger))
    lost = move.cells * np.abs(other - one) * float(law.rate)
    worst = int(lost.argmax())
    if lost[worst] <= float(claim.epsilon) * (1 + TOLERANCE):
        return []
    return [f"{claim.words()} broken by a step from {SIZES[worst]} to {larger[worst]}: epsilon {lost[worst]:.6f}"]


def drawn_sizes(mechanism: Mechanism, move: Move, step: Fraction, draws: Draws) -> Drawn:
    """Noise on one size, drawn twice so many times, through the mechanism's own door."""
    cells = sized([LARGE] * SAMPLES, move, step)
    true = mechanism.clean(cells)
    noisy = [mechanism.perturb(cells, draws) for _ in range(2)]
    law = mechanism.law_at(noisy[0], 0)
    if law is None:
        raise TypeError(f"{mechanism.name} states no law for its noise.")
    first, second = (mechanism.seen(one) - true for one in noisy)
    return Drawn(law, first, second)

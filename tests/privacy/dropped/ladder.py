"""The ladder mechanism: two-sided geometric noise on rungs, each at max((1 + alpha) x, x + 1) where the last is at x.

Claim. A cell that grows by one rung at most, or shrinks by one, loses epsilon.
Proof. g(x) = max(floor((1 + alpha) x), x + 1) rises strictly. A cell below the next rung but one stays below it when it
grows to g of itself, so the number of its rung moves by one at most, and the geometric mechanism loses epsilon on that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import ClassVar

import numpy as np

from sfumato.draws import Draws, TwoSidedGeometric
from sfumato.errors import PromiseError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.mechanism import Mechanism, Typical
from sfumato.privacy import Approximate, Exact, Loss, Move, positive
from sfumato.release import Noisy, Product, Withheld

WHY = "its error grows with the number itself, which is hidden"
TOP = 2**40


@dataclass(frozen=True)
class Ladder(Mechanism):
    """Noise on rungs that costs epsilon."""

    name: ClassVar[str] = "ladder"
    source: ClassVar[str] = "a test"
    epsilon: Fraction

    def __init__(self, epsilon: Exact) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    def loss(self, move: Move) -> Loss:
        if not hasattr(move, "alpha"):
            raise PromiseError(f"{self.name} hides relative moves; {move.words()}.")
        return Approximate(self.epsilon)

    def law_at(self, noisy: Noisy, place: int) -> TwoSidedGeometric:
        return TwoSidedGeometric(self.epsilon)

    def clean(self, cells: Cells, given: Mapping[str, Product] | None = None) -> np.ndarray:
        return np.searchsorted(rungs(cells.move.alpha), cells.values, side="right") - 1

    def seen(self, noisy: Noisy) -> np.ndarray:
        return np.searchsorted(rungs(noisy.move.alpha), noisy.values)

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:
        noise = TwoSidedGeometric(self.epsilon).draw(cells.values.size, draws).reshape(cells.values.shape)
        ladder = rungs(cells.move.alpha)
        values = ladder[np.clip(self.clean(cells, given) + noise, 0, len(ladder) - 1)]
        return Noisy(cells.domain, values, cells.step, cells.move)

    def uncertainty(self, noisy: Noisy) -> Withheld:
        return Withheld(WHY)

    def expected(self, move: Move, number: Typical) -> Withheld:
        return Withheld(WHY)


def rungs(alpha: Fraction) -> np.ndarray:
    found = [0]
    while found[-1] < TOP:
        found.append(max(floor((1 + alpha) * found[-1]), found[-1] + 1))
    return np.array(found, dtype=np.int64)


EXAMPLE = Ladder(1)

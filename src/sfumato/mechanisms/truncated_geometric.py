"""The truncated geometric mechanism: geometric noise that never goes beyond a cap, at the price of a delta.

Claim. Cells that move by l1 steps in all, none by more than s, lose (epsilon, delta) with delta the chance that some
cell lands where its neighbour cannot: 1 - (1 - T(s))^(l1 / s), T(s) the sum of P(j), j = max(cap - s + 1, -cap) .. cap.
Law. P(k) proportional to exp(-epsilon |k| / l1) for |k| <= cap.
Proof. Where both laws have mass the ratio is at most e^(epsilon s_i / l1) in a cell that moves by s_i, so e^epsilon in
all. The rest of the mass lies where some cell is outside the other's support, and cells are independent. The law is
log-concave, so 1 - T(s + t) <= (1 - T(s))(1 - T(t)): moving few cells far is the worst, all rows of a unit in one.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.draws import TruncatedGeometric
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms.additive import Additive
from sfumato.privacy import Approximate, Exact, Loss, Move, bounded, positive


@dataclass(frozen=True)
class TruncatedGeometricNoise(Additive):
    """Capped two-sided geometric noise (Rinott, O'Keefe, Shlomo and Skinner 2018; Li and Krenzke's capped Laplace)."""

    name: ClassVar[str] = "truncated-geometric"
    source: ClassVar[str] = "Rinott, O'Keefe, Shlomo and Skinner 2018"
    epsilon: Fraction
    cap: int

    def __init__(self, epsilon: Exact, cap: int) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "cap", cap)
        if isinstance(cap, bool) or not isinstance(cap, int) or not 1 <= cap <= 2**16:
            raise PlanError(
                f"cap is {cap!r}; it is the most steps that a cell may move, a whole number from 1 to 65,536."
            )

    def loss(self, move: Move) -> Loss:
        move = bounded(move, self.name)
        outside = beyond(self.law(move), move.largest)
        groups = -(-move.l1 // move.largest)
        # 1 - (1 - T)^groups without the subtraction, which would lose a small T and claim a delta of 0.
        delta = rounded_up_small(-math.expm1(groups * math.log1p(-outside))) if outside < 1 else Fraction(1)
        if delta >= 1:
            raise PromiseError(
                f"A cap of {self.cap} steps promises nothing where one unit can move a cell by {move.largest}: "
                f"its cells are told apart with certainty. Use a cap well above {move.largest}, or no cap."
            )
        return Approximate(self.epsilon, delta)

    def law(self, move: Move) -> TruncatedGeometric:
        return TruncatedGeometric(self.epsilon / bounded(move, self.name).l1, self.cap)


def beyond(law: TruncatedGeometric, shift: int) -> float:
    """T(s): the chance to land where the law shifted by s cannot.

    >>> [f"{beyond(TruncatedGeometric(Fraction(2), 7), s):.3g}" for s in (1, 2, 3, 15)]      # sums of P(j)
    ['6.33e-07', '5.31e-06', '3.99e-05', '1']
    """
    first = max(law.cap - shift + 1, -law.cap)
    return min(1.0, float(sum(law.pmf(j) for j in range(first, law.cap + 1)))) if shift <= 2 * law.cap else 1.0


def rounded_up_small(chance: float) -> Fraction:
    """A fraction never below a chance computed to a relative 1e-11, to six digits, and never below 1e-100.

    >>> float(rounded_up_small(6.332875e-7)), float(rounded_up_small(0.0))
    (6.33288e-07, 1e-100)
    """
    if chance < 1e-100:
        return Fraction(1, 10**100)
    grown = chance * (1 + 1e-11)
    digits = f"{grown:.5e}"
    unit = Fraction(10) ** (int(digits.split("e")[1]) - 5)
    return Fraction(digits) + (unit if Fraction(digits) < Fraction(grown) else 0)


EXAMPLE = TruncatedGeometricNoise(2, cap=7)

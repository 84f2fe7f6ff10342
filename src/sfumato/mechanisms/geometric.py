"""The geometric mechanism: two-sided geometric noise, a pure epsilon.

Claim. Cells that move by l1 steps in all lose exactly epsilon.
Law. P(k) = (1 - a)/(1 + a) a^|k| with a = exp(-epsilon / l1); variance 2a/(1 - a)^2.
Proof. The noise of every cell is independent, so the ratio of the probabilities of any output under two neighbours is a
product of a^(|k - x| - |k - x'|), at most a^(-l1) = e^epsilon, and it is reached.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.draws import Law, TwoSidedGeometric
from sfumato.mechanisms.additive import Additive, fits
from sfumato.privacy import Approximate, Exact, Loss, Move, bounded, positive


@dataclass(frozen=True)
class Geometric(Additive):
    """Two-sided geometric noise that costs epsilon.

    >>> from sfumato.privacy import Bounded
    >>> round(Geometric(1).law(Bounded(1, 1, 1)).variance, 4), round(Geometric(1).law(Bounded(2, 2, 2)).variance, 3)
    (1.8413, 7.835)
    """

    name: ClassVar[str] = "geometric"
    source: ClassVar[str] = "Ghosh, Roughgarden and Sundararajan 2009"
    epsilon: Fraction

    def __init__(self, epsilon: Exact) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    def loss(self, move: Move) -> Loss:
        bounded(move, self.name)  # the noise scales to the move, if there is a width that it can scale to
        return Approximate(self.epsilon)

    def law(self, move: Move) -> Law:
        return fits(TwoSidedGeometric(self.epsilon / bounded(move, self.name).l1), self.words())


EXAMPLE = Geometric(1)

"""The discrete Gaussian mechanism: exact for rho, and never for mu.

Claim. Cells that move by l2 steps lose rho, zero-concentrated.
Law. P(k) proportional to exp(-k^2 / (2 s^2)) with s^2 = l2^2 / (2 rho).
Proof. The Rényi divergence of order t between the law and the law shifted by an integer d is at most t d^2 / (2 s^2)
(Canonne, Kamath and Steinke 2020, proposition 5); it adds over independent cells to t l2^2 / (2 s^2) = t rho.
Its tests are slightly better than those of the normal law, so no mu holds: for a mu use the rounded Gaussian.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.draws import DiscreteNormal, Law
from sfumato.mechanisms.additive import Additive, fits
from sfumato.privacy import Concentrated, Exact, Loss, Move, bounded, positive


@dataclass(frozen=True)
class DiscreteGaussian(Additive):
    """Discrete normal noise that costs rho."""

    name: ClassVar[str] = "discrete-gaussian"
    source: ClassVar[str] = "Canonne, Kamath and Steinke 2020"
    rho: Fraction

    def __init__(self, rho: Exact) -> None:
        object.__setattr__(self, "rho", positive(rho, "rho"))

    def loss(self, move: Move) -> Loss:
        bounded(move, self.name)  # the noise scales to the move, if there is a width that it can scale to
        return Concentrated(self.rho)

    def law(self, move: Move) -> Law:
        return fits(DiscreteNormal(Fraction(bounded(move, self.name).l2_squared) / (2 * self.rho)), self.words())


EXAMPLE = DiscreteGaussian("0.5")

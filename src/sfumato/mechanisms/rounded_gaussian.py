"""The rounded Gaussian mechanism: an exact normal rounded to the lattice, exact for mu.

Claim. Cells that move by l2 steps lose mu.
Law. floor(s Z + 1/2) with Z standard normal and s = l2 / mu; variance close to s^2 + 1/12.
Proof. x + floor(s Z + 1/2) = floor(x + s Z + 1/2) for integers x: the published cell is a rounding of the Gaussian
mechanism's output, which is exactly mu-GDP with mu = l2 / s (Dong, Roth and Su 2022), and rounding loses nothing more.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.draws import Law, RoundedNormal
from sfumato.mechanisms.additive import Additive, fits
from sfumato.privacy import Exact, Gaussian, Loss, Move, bounded, positive


@dataclass(frozen=True)
class RoundedGaussian(Additive):
    """Rounded normal noise that costs mu."""

    name: ClassVar[str] = "rounded-gaussian"
    source: ClassVar[str] = "Dong, Roth and Su 2022"
    mu: Fraction

    def __init__(self, mu: Exact) -> None:
        object.__setattr__(self, "mu", positive(mu, "mu"))

    def loss(self, move: Move) -> Loss:
        bounded(move, self.name)  # the noise scales to the move, if there is a width that it can scale to
        return Gaussian(self.mu)

    def law(self, move: Move) -> Law:
        return fits(RoundedNormal(Fraction(bounded(move, self.name).l2_squared) / self.mu**2), self.words())


EXAMPLE = RoundedGaussian(1)

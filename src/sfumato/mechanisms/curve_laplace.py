"""The curve mechanism: two-sided geometric noise on a slowly scaling transform, at a loss that follows sizes.

Claim. One establishment that has other jobs, or none, loses epsilon for each step of the public curve ln(1 + x / bend)
that it goes, in the c cells that it stands in together; no change loses less than that of one job where there was none.
Law. With `bend` added to a size its logarithm goes as far as ln(1 + x / bend) does. The lattice is g = ln(1 + 1 / bend)
/ 1000, a thousandth of what one job is, and noise on it has a = exp(-epsilon / N c), N = 1001 steps for each such job's
worth that the curve has up to `at`, rounded up (`logarithmic`).
Proof. A cell goes no further than the establishment, as logarithms are concave. D lattice steps apart, logarithms are
at most D + 1 apart once each is rounded, floats and all, so they lose (D + 1) epsilon / N c in each of c cells. For D
of 1,000 and more that is at most 1001 D epsilon / 1000 N, which N makes epsilon for every step of the curve; for less
it is no more than for 1,000, which is one job (Dwork et al. 2006).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.mechanisms.logarithmic import Logarithmic
from sfumato.privacy import Exact, Move, along_curve, positive

FINE = 1_000
"""How many lattice steps one job is where there was none."""
FLOATS = 1e-9
"""By what floats may be off, of all steps."""


@dataclass(frozen=True)
class CurveLaplace(Logarithmic):
    """Noise in proportion to the size of a cell that costs an establishment epsilon for each step of its curve."""

    name: ClassVar[str] = "curve-laplace"
    source: ClassVar[str] = (
        "Seeman et al. 2023 and Finley et al. 2024, transformation mechanisms; pure epsilon on a public lattice here"
    )
    epsilon: Fraction

    def __init__(self, epsilon: Exact) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    def parameters(self) -> str:
        return f"epsilon {float(self.epsilon):g} a step of the curve"

    def rate(self, move: Move) -> Fraction:
        along = along_curve(move, self.name)
        one = math.log1p(1 / float(along.curve.bend))
        return self.epsilon / (along.cells * math.ceil((FINE + 1) * along.curve.rise / one * (1 + FLOATS)))

    def lattice(self, move: Move) -> float:
        return math.log1p(1 / self.shift(move)) / FINE

    def shift(self, move: Move) -> float:
        return float(along_curve(move, self.name).curve.bend)

    def where(self, move: Move) -> str:
        curve = along_curve(move, self.name).curve
        return f"with a bend of {float(curve.bend):g} at {curve.at:,} jobs"


EXAMPLE = CurveLaplace(5)

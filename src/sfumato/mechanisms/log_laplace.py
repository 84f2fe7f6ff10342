"""The log-Laplace mechanism: two-sided geometric noise on the logarithm of a size, a pure epsilon.

Claim. Cells that grow or shrink in c steps in all, each from x to at most max((1 + alpha) x, x + 1), lose epsilon.
Law. With 1 / alpha added to a size its logarithm goes ln(1 + alpha) in a step at most, and from 0 to 1 it does. The
lattice is g = ln(1 + alpha) / 1000, and noise on it has a = exp(-epsilon / 1001 c) for c steps (`logarithmic`).
Proof. 1,000 lattice steps apart, logarithms are at most 1,000 apart once each is rounded half up; the one step more is
for floats, which may round a tie either way. c such moves cost c 1001 / 1001 c of epsilon (Dwork et al. 2006).
Factor. 2 doubles the noise at the same epsilon, as published. What it hides at epsilon beyond the claim: one worker, or
the alpha of a size, that leaves one establishment and comes to another, which is two steps and 2 epsilon at factor 1.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.errors import PlanError
from sfumato.mechanisms.logarithmic import Logarithmic, moment
from sfumato.privacy import Exact, Move, positive, relative
from sfumato.release import Withheld

FINE = 1_000
"""How many lattice steps ln(1 + alpha) is."""
ESTIMATES = ("unbiased", "as drawn")


@dataclass(frozen=True)
class LogLaplace(Logarithmic):
    """Noise in proportion to the size of a cell that costs epsilon.

    `estimate` is "as drawn" where what is published is not corrected for the mean of e^noise, as in the paper.
    """

    name: ClassVar[str] = "log-laplace"
    source: ClassVar[str] = (
        "Haney et al. 2017, algorithm 1; on a public lattice, without bias and at half its noise here"
    )
    epsilon: Fraction
    factor: int
    estimate: str

    def __init__(self, epsilon: Exact, factor: int = 1, estimate: str = "unbiased") -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "estimate", estimate)
        if isinstance(factor, bool) or factor not in {1, 2}:
            raise PlanError(f"The factor of {self.name} is {factor!r}; it is 1, or 2 as published.")
        if estimate not in ESTIMATES:
            raise PlanError(f"The estimate of {self.name} is '{estimate}'; it is {' or '.join(map(repr, ESTIMATES))}.")

    def parameters(self) -> str:
        more = [f"factor {self.factor}"] * (self.factor != 1) + [self.estimate] * (self.estimate != ESTIMATES[0])
        return ", ".join([f"epsilon {float(self.epsilon):g}", *more])

    def rate(self, move: Move) -> Fraction:
        return self.epsilon / (self.factor * relative(move, self.name).cells * (FINE + 1))

    def lattice(self, move: Move) -> float:
        return lattice(move)

    def shift(self, move: Move) -> float:
        """At 1 / alpha, one more than 0 is alpha of it."""
        return float(1 / relative(move, self.name).alpha)

    def where(self, move: Move) -> str:
        return f"at alpha {float(relative(move, self.name).alpha):g}"

    def mean(self, move: Move) -> float:
        """What sizes are divided by: the mean of e^noise, or 1 where they are left as drawn."""
        return 1.0 if self.estimate == "as drawn" else super().mean(move)

    def unstated(self, move: Move) -> Withheld | None:
        if (why := super().unstated(move)) or self.estimate == ESTIMATES[0]:
            return why
        high = moment(self.law(move), lattice(move)) - 1
        biased = f"numbers are left as drawn, {high:.1%} too high on average with 1 / alpha added to each"
        return Withheld(biased, self._told(move))


def lattice(move: Move) -> float:
    """The step of the logarithm."""
    return math.log1p(float(relative(move, LogLaplace.name).alpha)) / FINE


EXAMPLE = LogLaplace(1)

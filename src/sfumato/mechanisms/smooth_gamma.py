"""The smooth gamma mechanism: noise with tails of the fourth power, scaled to the largest establishment of a cell.

Claim. Cells that grow or shrink in c steps in all lose epsilon, with noise of scale s = r S and
r = 2.2796 / (epsilon / c - 3.0026 ln(1 + alpha)); S is in `smooth`.
Law. P(k) proportional to 1 / (1 + (k/s)^4) on the integers, in parts of a step so small that s is 2 at least; its
standard deviation is s, and E|k| = s / √2, both nearly.
Proof. Of two neighbours the values are at most S apart, for either S, and one S is at most 1 + alpha times the other.
The logarithm of 1 / (1 + z^4) goes at most 3^(3/4) = 2.2795 in a unit, so the shift costs 2.2795 S / s. From s to
s' <= (1 + alpha) s the ratio of two such terms is (s'/s)^4 at most, far out, and the sums over all integers go as s to
the power 1 ± 0.0026 where s >= 2: 3.0026 ln(1 + alpha) in all; near 0 it is less. So each of c steps costs epsilon / c.
Constants as published. s = 16 S / epsilon, S = max(alpha x, 1), which needs 1 + alpha <= exp(epsilon / 4): the shift
costs 0.1425 epsilon and the scale 0.75 epsilon, 0.8925 epsilon in all, with five to six times the noise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.draws import Draws, Quartic, draw_quartic
from sfumato.errors import PlanError, PromiseError, how_many
from sfumato.mechanisms.log_laplace import FINE
from sfumato.mechanisms.logarithmic import above
from sfumato.mechanisms.smooth import LOCAL, Smooth, local_kind, options, telling
from sfumato.privacy import Approximate, Exact, Loss, Move, positive, relative
from sfumato.release.noisy import Integers

SLIDE, STRETCH = Fraction("2.2796"), Fraction("3.0026")
"""What a shift by the scale costs at most, and a scale that is e times another, each over all integers."""
CONSTANTS = ("tight", "paper")


@dataclass(frozen=True)
class SmoothGamma(Smooth):
    """Noise that follows the largest establishment of a cell and costs epsilon, and `told` where its scale is told."""

    name: ClassVar[str] = "smooth-gamma"
    source: ClassVar[str] = "Haney et al. 2017, algorithm 2; on the integers, and with constants that are all used here"
    ratio_least: ClassVar[Fraction] = Fraction(2)
    deviation: ClassVar[float] = 1.0
    epsilon: Fraction
    local: str
    constants: str
    told: Fraction | None

    def __init__(
        self, epsilon: Exact, local: str = LOCAL[0], constants: str = CONSTANTS[0], told: Exact | None = None
    ) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "local", local_kind(local, self.name))
        object.__setattr__(self, "constants", constants)
        object.__setattr__(self, "told", telling(told))
        if constants not in CONSTANTS:
            raise PlanError(f"The constants of {self.name} are '{constants}'; they are 'tight' or 'paper'.")

    def parameters(self) -> str:
        paper = ["constants as published"] * (self.constants != CONSTANTS[0])
        return ", ".join([f"epsilon {float(self.epsilon):g}", *paper, *options(self)])

    def loss(self, move: Move) -> Loss:
        self.ratio(move)
        self.refuse_untelling(move)
        return Approximate(self.epsilon + (self.told or 0))

    def ratio(self, move: Move) -> Fraction:
        steps, alpha = relative(move, self.name).cells, relative(move, self.name).alpha
        each, grows = self.epsilon / steps, math.log1p(float(alpha)) * (1 + 1e-12)
        paper = self.constants == "paper"
        least = grows * (4 if paper else float(STRETCH))
        if float(each) <= least:
            raise PromiseError(
                f"{self.words()}: with alpha {float(alpha):g} and {how_many(steps, 'step')} no noise hides how its own "
                f"scale follows the largest establishment unless epsilon is above {above(least * steps)}; log-laplace "
                f"needs {above(grows * steps * (FINE + 1) / FINE)}."
            )
        if paper:
            return 16 / each
        exactly = float(SLIDE) / (float(each) - least)
        # A few digits, rounded up, so that every scale is a fraction that is quickly drawn with.
        return Fraction(math.ceil(exactly * 10**4 * (1 + 1e-9)), 10**4)

    def law_of(self, scale: Fraction) -> Quartic:
        return Quartic(scale)

    def drawn(self, scales: Sequence[Fraction], which: Integers, draws: Draws) -> Integers:
        return draw_quartic(scales, which, draws)


EXAMPLE = SmoothGamma(2)

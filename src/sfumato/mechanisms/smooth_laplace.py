"""The smooth Laplace mechanism: Laplace noise scaled to the largest establishment of a cell, an epsilon and a delta.

Claim. Cells that grow or shrink in c steps in all, at most t of them in one cell, lose epsilon and delta, with noise of
scale s = 2 S c / epsilon, where 1 + alpha <= exp(epsilon / (2 c ln(1 / d))) and d is the delta of a step, below; S is
in `smooth`.
Law. A draw of Laplace's law rounded to the nearest integer: 0 with a chance of 1 - e^(-1/2s). Values are whole steps,
so rounding the noise is rounding the sum, which loses nothing.
Proof. The values of neighbours are at most S apart: epsilon / 2c by the shift. From s to s' = e^b s the ratio of
densities is s / s' e^(|z| (1/s - 1/s')), which has no bound: what it has beyond e^(epsilon / c) is `exact_delta`, and a
plan is refused where that is more than d. The condition alone, as published, leaves it 3 to 300 times below up to
epsilon 4, and above from about 8 on where alpha is at its largest: 1.16 times at epsilon 8, alpha 2.8, delta 0.05.
Steps in several cells have noise of their own, and their deltas add up; of t steps in one cell, one after the other,
the i-th has its d e^(i epsilon / c) times (Nissim, Raskhodnikova and Smith 2007, lemma 2.6; Vadhan 2017, lemma 2.2).
So d is delta over the larger of c and 1 + e^(epsilon / c) + ... + e^((t - 1) epsilon / c).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.draws import Draws, RoundedLaplace
from sfumato.errors import PlanError, PromiseError, how_many
from sfumato.mechanisms.logarithmic import above
from sfumato.mechanisms.smooth import LOCAL, Smooth, local_kind, options, telling
from sfumato.privacy import Approximate, Exact, Loss, Move, plain, positive, relative
from sfumato.release.noisy import Integers

BEYOND = 500.0
"""An epsilon that nobody asks for."""


@dataclass(frozen=True)
class SmoothLaplace(Smooth):
    """Noise that follows the largest establishment of a cell and costs epsilon and delta."""

    name: ClassVar[str] = "smooth-laplace"
    source: ClassVar[str] = "Haney et al. 2017, algorithm 3; rounded to integers here"
    deviation: ClassVar[float] = math.sqrt(2)
    epsilon: Fraction
    delta: Fraction
    local: str
    told: Fraction | None

    def __init__(self, epsilon: Exact, delta: Exact, local: str = LOCAL[0], told: Exact | None = None) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "delta", positive(delta, "delta"))
        object.__setattr__(self, "local", local_kind(local, self.name))
        object.__setattr__(self, "told", telling(told))
        if self.delta >= Fraction(1, 4):
            raise PlanError(f"The delta of {self.name} is {plain(self.delta)}; it is far below 1, for example 1e-6.")

    def parameters(self) -> str:
        return ", ".join([f"epsilon {float(self.epsilon):g}", f"delta {plain(self.delta)}", *options(self)])

    def loss(self, move: Move) -> Loss:
        self.ratio(move)
        self.refuse_untelling(move)
        return Approximate(self.epsilon + (self.told or 0), self.delta)

    def ratio(self, move: Move) -> Fraction:
        steps, alpha = relative(move, self.name).cells, relative(move, self.name).alpha
        grows = math.log1p(float(alpha)) * (1 + 1e-12)
        if (least := self._least(move, grows)) > float(self.epsilon):
            takes = f"an epsilon of {above(least)} or more" if least < BEYOND else "more than any epsilon"
            raise PromiseError(
                f"{self.words()}: with alpha {float(alpha):g} and {how_many(steps, 'step')} its delta takes {takes}; "
                f"smooth-gamma has no delta and needs {above(3.0026 * steps * grows)}."
            )
        return 2 * steps / self.epsilon

    def _least(self, move: Move, grows: float) -> float:
        """The least epsilon that would do, from this one on; beyond all where the delta of a step falls as fast."""
        epsilon, steps = float(self.epsilon), relative(move, self.name).cells
        while (least := steps * least_epsilon(grows, self.of_a_step(move, epsilon))) > epsilon:
            if least > BEYOND:
                return math.inf
            epsilon = least * (1 + 1e-9)
        return epsilon

    def of_a_step(self, move: Move, epsilon: float) -> float:
        """The delta of one step where all cost epsilon."""
        steps, together = relative(move, self.name).cells, relative(move, self.name).together
        chained = sum(math.exp(place * epsilon / steps) for place in range(together))
        return float(self.delta) / max(steps, chained) / (1 + 1e-12)

    def law_of(self, scale: Fraction) -> RoundedLaplace:
        return RoundedLaplace(scale)

    def drawn(self, scales: Sequence[Fraction], which: Integers, draws: Draws) -> Integers:
        noise = np.empty(len(which), dtype=np.int64)
        order, counts = np.argsort(which, kind="stable"), np.bincount(which, minlength=len(scales))
        ends = np.cumsum(counts)
        for scale, end, count in zip(scales, ends, counts, strict=True):
            noise[order[end - count : end]] = self.law_of(scale).draw(int(count), draws)
        return noise


def exact_delta(epsilon: float, growth: float) -> float:
    """The delta of a shift by S and of a scale 2 S / epsilon that becomes e^growth times as wide.

    >>> round(exact_delta(1.0, 0.5 / math.log(20)), 5), round(exact_delta(4.0, 2 / math.log(20)), 4)      # of 0.05
    (0.00196, 0.0149)
    """
    wide, shift = math.exp(growth), epsilon / 2
    found = 0.0
    for side in (1, -1):  # beyond the shift, and on the other side of 0, with lengths in scales of the narrow law
        begins = max((epsilon + growth - side * shift / wide) / (1 - 1 / wide), shift if side == 1 else 0.0)
        found += (math.exp((side * shift - begins) / wide) - math.exp(epsilon - begins)) / 2
    return found


def least_epsilon(growth: float, delta: float) -> float:
    """The least epsilon of one step that keeps a delta: that of the paper, or more where it does not.

    >>> round(least_epsilon(math.log(1.1), 1e-5), 3)
    2.195
    """
    least = 2 * growth * math.log(1 / delta)
    while exact_delta(least, growth) > delta:
        least *= 1.001
    return least


EXAMPLE = SmoothLaplace(4, "1e-3")

"""PublishedLaw: how likely one number is published below any other, by what it truly is."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.release.noisy import Floats

JUST_ABOVE = 1e-9
"""By what share of a margin its end is taken above itself, so that a whole step on it is within."""
NEVER = 1e-13
"""A chance that is left out."""


@dataclass(frozen=True, eq=False)
class PublishedLaw:
    """The chance that a number which is truly `true` is published below each of some edges, one by one.

    Where the noise is `even` it is the same about every number, and comes in whole `step`s, or in none that show.
    """

    below: Callable[[Floats | float, Floats], Floats]
    step: float = 0.0
    even: bool = True

    @classmethod
    def normal(cls, error: float) -> "PublishedLaw":
        """That of a normal error, or of none.

        >>> round(PublishedLaw.normal(2.0).within(100.0, 3.92), 4)
        0.95
        """

        def below(true: Floats | float, edges: Floats) -> Floats:
            from scipy.special import ndtr

            return np.asarray(ndtr((edges - true) / error) if error else (true < edges) * 1.0, dtype=np.float64)

        return cls(below)

    @classmethod
    def of_steps(cls, below: Callable[[Floats], Floats], step: float) -> "PublishedLaw":
        """That of noise in whole steps, of which `below` tells the chance of fewer than so many."""
        return cls(lambda true, edges: below(np.ceil(np.round((edges - true) / step, 6))), step)

    def within(self, true: float, margin: float) -> float:
        """The chance that a number is published no further from what it is."""
        ends = np.array([true - margin, true + margin + max(margin * JUST_ABOVE, self.step * 1e-3)])
        low, high = self.below(true, ends)
        return float(high - low)

    def reach(self, true: float, level: float, wide: float) -> float:
        """The least margin that a number is within at a level; `wide` is about how wide it is.

        >>> round(PublishedLaw.normal(2.0).reach(100.0, 0.95, 1.0), 4)
        3.9199
        """
        if self.within(true, 0.0) >= level:
            return 0.0
        low, high = 0.0, wide
        while self.within(true, high) < level:
            low, high = high, 2 * high
        while high - low > 1e-12 * high + (self.step / 4 if self.even else 0):
            middle = (low + high) / 2
            low, high = (low, middle) if self.within(true, middle) >= level else (middle, high)
        return math.floor(high / self.step + 1e-6) * self.step if self.step and self.even else high

    def spread_out(self, true: float, wide: float, width: float, most: int) -> tuple[Floats, Floats]:
        """What a number may be published as, and how likely: whole steps, in groups of them no wider than `width`.

        `wide` is about how wide the noise is; there are no more than `most` groups.
        """
        far = wide
        while self.within(true, far) < 1 - NEVER and far < 64 * wide:
            far *= 1.5
        each = max(min(width, 2 * far), 2 * far / most)
        if self.step and self.even:
            steps = max(1, math.floor(each / self.step))
            each = (steps - (steps + 1) % 2) * self.step  # an odd number, so that no step lies on an edge
        sides = math.ceil(far / each)
        places = true + np.arange(-sides, sides + 1) * each
        edges = np.append(places - each / 2, places[-1] + each / 2)
        return np.asarray(places, dtype=np.float64), np.diff(self.below(true, edges))

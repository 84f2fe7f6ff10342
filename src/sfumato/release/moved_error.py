"""MovedError: the error of totals that were moved from unbiased ones by amounts that are known.

A moved total x = y + s is off by the noise of y and by s. Where y − m to y + m holds the truth at a level, so does that
interval widened to reach x, whatever s depends on: the margin of x is m + |s|.

What is stated of several moved totals is V + dd', V being that of their noise and d how far each was moved, so any
combination f of them, with signs, has σ² + s², where σ² = f'Vf and s = f'd. As |N + s| ≤ (|N| / σ) σ + |s| ≤
√(N² / σ² + 1) √(σ² + s²), by Cauchy and Schwarz, margins of z errors become margins of √(z² + 1): of differences as
they are, and of ratios by Fieller's way, as the true ratio R of x₁ to x₂ is in the interval if x₁ − R x₂ is within its
margin of 0, and that is such a combination, (1, −R). Of two releases d has the parts of both, so that what they were
moved by is multiplied into their covariance (`moved_together`).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.release.error_law import ErrorLaw, Floats, NoisyTotals


@dataclass(frozen=True, eq=False)
class MovedError(ErrorLaw):
    """Totals with errors of a law that were then moved, each by so much; their variances count the squares of that.

    >>> from sfumato.release.error_law import NORMAL
    >>> moved = MovedError(NORMAL, np.array([2.0]))
    >>> [one.round(2).tolist() for one in moved.reach(0.90, NoisyTotals(*np.array([[7.0], [1.0 + 4.0], [0.0], [1.0]])))]
    [[3.64], [0.0]]
    """

    base: ErrorLaw
    by: Floats

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        unbiased = replace(totals, values=totals.values - self.by, noise=np.maximum(totals.noise - self.by**2, 0.0))
        below, above = self.base.reach(level, unbiased)
        return np.maximum(below + self.by, 0.0), np.maximum(above - self.by, 0.0)

    def beyond(self, totals: NoisyTotals) -> Floats:
        return self.differenced.beyond(totals)

    @property
    def lopsided(self) -> bool:
        return True

    @property
    def noise(self) -> ErrorLaw:
        return self.base.noise

    @property
    def differenced(self) -> ErrorLaw:
        return WidenedError(self.base.differenced)

    def times(self, unit: float) -> "MovedError":
        return MovedError(self.base.times(unit), self.by * unit)

    def only(self, some: Any) -> "MovedError":
        return MovedError(self.base.only(some), self.by[some])


def moved_together(one: ErrorLaw, other: ErrorLaw) -> Floats | None:
    """What being moved adds to the covariance of totals of two releases; None where a law does not tell how far.

    >>> from sfumato.release.error_law import NORMAL
    >>> moved_together(MovedError(NORMAL, np.array([2.0])), MovedError(NORMAL, np.array([-3.0])))
    array([-6.])
    >>> float(moved_together(NORMAL, MovedError(NORMAL, np.array([2.0])))[0])
    0.0
    """
    by = [law.by if isinstance(law, MovedError) else np.zeros(1) if law.noise is law else None for law in (one, other)]
    return None if by[0] is None or by[1] is None else by[0] * by[1]


@dataclass(frozen=True)
class WidenedError(ErrorLaw):
    """Differences of moved totals: their variance counts what was moved, and nothing says how far and whither."""

    base: ErrorLaw

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        below, above = (np.hypot(one, np.sqrt(np.maximum(totals.noise, 0.0))) for one in self.base.reach(level, totals))
        return below, above

    def beyond(self, totals: NoisyTotals) -> Floats:
        """That of an error which is one standard error shorter, in squares; every difference within one is no news."""
        nearer = np.sqrt(np.maximum(totals.values**2 - totals.noise, 0.0))
        return np.where(nearer > 0, self.base.beyond(replace(totals, values=nearer)), 1.0)

    @property
    def noise(self) -> ErrorLaw:
        return self.base.noise

    def times(self, unit: float) -> "WidenedError":
        return WidenedError(self.base.times(unit))

"""RankedChoice: one of some candidates, by chances that fall with how far each is off, as powers of a public base.

Floats choose; where a draw is so near to the end of a chance that their rounding could choose another, fractions do.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sfumato.draws import Draws
from sfumato.release.noisy import Floats, Integers

UNSURE = 1e-9
"""How near a draw may be to the end of a chance before it is compared as a fraction: far beyond what rounding does."""
FEW, MOST_KEPT = 16, 1_000
"""Of cells with so few rows the chances are kept for the next that has the same, and of so many of them."""


@dataclass(frozen=True, eq=False)
class RankedChoice:
    """The weight of a candidate that is off by one next to one that is not, and how far off each is by some rows."""

    base: Fraction
    distances: Callable[[Integers], Integers]
    _kept: dict[bytes, Floats] = field(default_factory=dict)

    def chances(self, rows: Integers) -> list[Fraction]:
        """The exact chance of every candidate."""
        far = self.distances(rows)
        weights = [self.base ** int(one) for one in far - far.min()]
        return [weight / sum(weights) for weight in weights]

    def shares(self, rows: Integers) -> Floats:
        """The chance of every candidate in floats."""
        far = self.distances(rows)
        weights = np.exp(np.log(float(self.base)) * (far - far.min()))
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    def place(self, rows: Integers, word: int, draws: Draws) -> int:
        """The candidate that 64 drawn bits choose, with 256 further ones where these leave it open."""
        ends, drawn = self._ends(rows)[:-1], word / 2**64
        if np.abs(ends - drawn).min(initial=1.0) >= UNSURE:
            return int(np.searchsorted(ends, drawn, "right"))
        exact = (Fraction(word) + Fraction(draws.bits(256), 2**256)) / 2**64
        return int(sum(exact >= end for end in np.cumsum(np.array(self.chances(rows), dtype=object))[:-1]))

    def _ends(self, rows: Integers) -> Floats:
        """The chances of every candidate and those before it."""
        name = rows.tobytes() if len(rows) <= FEW else None
        if name is not None and name in self._kept:
            return self._kept[name]
        ends = np.cumsum(self.shares(rows))
        ends /= ends[-1]
        if name is not None and len(self._kept) < MOST_KEPT:
            self._kept[name] = ends
        return np.asarray(ends, dtype=np.float64)

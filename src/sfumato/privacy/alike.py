"""Alike: which values cannot be told from one another at which size, where square roots are hidden."""

import math
from dataclasses import dataclass

from sfumato.privacy.neighbours import SquareRootWithin

SIZES = (1, 10, 100, 1_000)


@dataclass(frozen=True)
class Alike:
    """A size of a variable, the ends (√x ± beta)² of what looks like it, and the relative changes that they are."""

    variable: str
    size: float
    low: float
    high: float

    @property
    def up(self) -> float:
        return self.high / self.size - 1

    @property
    def down(self) -> float:
        return self.low / self.size - 1


def alike(hidden: SquareRootWithin) -> tuple[Alike, ...]:
    """What looks alike at round sizes of each variable; where beta is large, as in dollars, they are large too.

    >>> [(one.size, one.low, one.high) for one in alike(SquareRootWithin("shop", {"jobs": "1"}))][1]    # (10 ± 1)²
    (100, 81.0, 121.0)
    """
    found = []
    for name, bound in hidden.beta:
        beta = float(bound)
        least = 10 ** max(1, math.ceil(math.log10(40 * beta**2) - 1e-9)) if beta > 1 else 10
        for size in (least * times for times in SIZES):
            root = math.sqrt(size)
            found.append(Alike(name, size, max(0.0, root - beta) ** 2, (root + beta) ** 2))
    return tuple(found)

"""Contrasts: all numbers that one unit moves in a family of tables, published again and again, through the same door.

The noise of a coordinate is normal, rounded or discrete, so that how much it speaks for one side is linear in it, but
for less than what rounding hides. The sum over all coordinates that differ is the best test between the two sides:
normal on either, with a variance that is the square of mu, and means half of that to either side of 0.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from sfumato.confidential.evidence import Sampled
from sfumato.confidential.stated import Chances
from sfumato.confidential.views import Floats, Integers, Seen, View
from sfumato.draws import Draws
from sfumato.mechanisms import Cells, Mechanism

MOST_DRAWS = 400_000_000
"""How many draws are made in all for one side."""
GRAIN, FARTHEST = 5e-3, 9.0
"""How finely the law of the sum is laid out, in its standard deviations, and how far."""


@dataclass(frozen=True, eq=False, repr=False)
class WatchedContrasts(Seen):
    """How much each sample of either side speaks for one of them, by the stated laws, and their variance by these."""

    measure: str
    one: Floats
    other: Floats
    mu_squared: float

    @property
    def plain(self) -> list[View]:
        return [View("all contrasts by the law", Sampled(self.one, self.other))]

    @property
    def spoken(self) -> tuple[Floats, Floats]:
        return self.one, self.other

    @property
    def chances(self) -> Sequence[Chances]:
        mu = math.sqrt(self.mu_squared)
        edges = np.arange(-FARTHEST - mu, FARTHEST + mu, GRAIN)
        return [(np.diff(ndtr(edges - mu / 2)), np.diff(ndtr(edges + mu / 2)))]


def watched_contrasts(
    measure: str, with_: Mechanism, sides: tuple[Cells, Cells], samples: int, draws: Draws
) -> WatchedContrasts | None:
    """A family of tables on both sides; nothing where they are the same."""
    clean = [with_.clean(side) for side in sides]
    moved = np.flatnonzero(clean[0] != clean[1])
    if not len(moved):
        return None
    noisy = with_.perturb(sides[0], draws)
    apart = (clean[0] - clean[1])[moved] / with_.scales(noisy)[moved] ** 2
    middle = (clean[0] + clean[1])[moved] / 2
    some = min(samples, max(1, MOST_DRAWS // len(moved)))
    one, other = (_scores(with_.again(side, moved, some, draws), apart, middle) for side in sides)
    return WatchedContrasts(measure, one, other, float(apart @ (clean[0] - clean[1])[moved]))


def _scores(published: Iterator[Integers], apart: Floats, middle: Floats) -> Floats:
    """How much each publication speaks for one side."""
    return np.concatenate([(seen - middle) @ apart for seen in published])

"""Least cost: the variances of components at which cells are as exact as is wanted and the dearest record costs least.

A kind of cells has the variance Σ B s over components, where s is the variance of one and B what the cells have of it,
and t is wanted of it; whoever may cost most costs Σ p / s. For weights λ of the kinds of cells and π of those who may
cost most, s = √(πp / λB) costs least on the average with Σ λ B s = Σ λ t, which is a lower bound, and s over the
largest B s / t meets all that is wanted; λ and π are changed until the largest cost of that and the bound agree.
"""

from dataclasses import dataclass, replace

import numpy as np

from sfumato.release.noisy import Floats, Integers

GAP, MOST_ROUNDS, MOST_WORK = 1e-6, 20_000, 2**30
"""How near the cost comes to the least, as a part, and after how many rounds, of so much work, it is left at that."""


@dataclass(frozen=True, eq=False)
class WantedCells:
    """What kinds of cells have of each component, listed where they have some, and the variance wanted of each kind."""

    kinds: Integers
    components: Integers
    parts: Floats
    targets: Floats
    size: int
    """How many components there are."""

    def over(self, weights: Floats) -> Floats:
        """What kinds of cells have of each component, times their weights."""
        return np.asarray(np.bincount(self.components, self.parts * weights[self.kinds], self.size), dtype=np.float64)

    def cells(self, spread: Floats) -> Floats:
        """The variance of a cell of each kind."""
        found = np.bincount(self.kinds, self.parts * spread[self.components], len(self.targets))
        return np.asarray(found, dtype=np.float64)

    def least(self, costs: Floats) -> Floats:
        """The variances of the least largest cost at which no cell is noisier than wanted; a row for each record."""
        weights, shares = 1 / self.targets, np.full(len(costs), 1 / len(costs))
        for _ in range(min(MOST_ROUNDS, 1 + MOST_WORK // (len(self.parts) + costs.size))):
            average, over = shares @ costs, self.over(weights)
            spread, root = np.sqrt(average / over), np.sqrt(average * over).sum()
            ratios = self.cells(spread) / self.targets
            least = root**2 / (weights @ self.targets)
            meeting: Floats = spread / ratios.max()
            paid = costs @ (1 / meeting)
            if paid.max() <= least * (1 + GAP):
                break
            weights = weights * ratios * (root / (weights @ self.targets)) ** 2
            shares = shares * paid / (shares @ paid)
        return meeting

    def grouped(self, classes: Integers) -> "WantedCells":
        """The same where components of one class have one variance."""
        return replace(self, components=classes[self.components], size=int(classes.max(initial=-1)) + 1)

    @property
    def matrix(self) -> Floats:
        """What each kind of cells has of each component, as a part of what is wanted; those alike stand once."""
        found = np.zeros((len(self.targets), self.size))
        np.add.at(found, (self.kinds, self.components), self.parts / self.targets[self.kinds])
        return np.unique(found, axis=0)

    def less(self, known: Floats) -> "WantedCells":
        """What is left to want where the variances of some components are known, and those of others are not a number.

        Kinds of cells of which all is known are left out.
        """
        open_ = np.isnan(known)
        left = self.targets - self.cells(np.where(open_, 0.0, known))
        place, parts = np.cumsum(open_) - 1, open_[self.components]
        kinds, numbered = np.unique(self.kinds[parts], return_inverse=True)
        return replace(
            self,
            kinds=numbered,
            components=place[self.components[parts]],
            parts=self.parts[parts],
            targets=left[kinds],
            size=int(open_.sum()),
        )

"""Told errors: variances that are published of cells by draws of their own, on a public lattice of logarithms."""

from dataclasses import dataclass

import numpy as np

from sfumato.draws import Draws, Law
from sfumato.release.noisy import Floats, Integers


@dataclass(frozen=True)
class ToldErrors:
    """The law of the noise on the logarithm of a scale, in steps of a lattice, and the variance that is told of it.

    Given the data it is drawn apart from the number of its cell, so what both lose adds up.
    """

    law: Law
    grain: float
    """The step of the lattice."""
    unit: float
    """The variance that is told of the logarithm 0."""

    def drawn(self, logs: Integers, draws: Draws) -> Floats:
        """The variances that readers are told of scales with such logarithms."""
        return np.asarray(self.unit * np.exp(2 * self.grain * (logs + self.law.draw(len(logs), draws))))

    def seen(self, variances: Floats) -> Integers:
        """The logarithms with their noise that variances are told of.

        >>> from sfumato.draws import TwoSidedGeometric
        >>> told = ToldErrors(TwoSidedGeometric(1), 0.01, 2.0)
        >>> told.seen(np.array([2.0, 2.0 * np.exp(0.06)]))      # 3 steps of 0.01, twice, as a variance is a square
        array([0, 3])
        """
        return np.asarray(np.rint(np.log(variances / self.unit) / (2 * self.grain)), dtype=np.int64)

"""Joint cells: groupings of rows on the coarsest cells that tell all of them apart, and fits of rows to totals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.normal import Grouped, Normal, folded
from sfumato.schema import Grouping
from sfumato.schema.frame import crossed


@dataclass(frozen=True, eq=False)
class Joined(Grouped):
    """Some groupings as tables of totals over joint cells, and the joint cell of every row."""

    place: NDArray[np.int32]

    @classmethod
    def over(cls, groupings: Sequence[Grouping]) -> "Joined":
        """Join sets of groups, each given by the group of every row."""
        place, size = np.zeros(len(groupings[0].of), dtype=np.int32), 1
        for one in sorted(groupings, key=lambda one: -one.size):
            place, size = crossed(place, size, one.of, one.size)
        ups = []
        for one in groupings:
            up = np.zeros(size, dtype=np.int64)
            up[place] = one.of
            ups.append(up)
        return cls(size, tuple(ups), tuple(one.size for one in groupings), place)

    def sums(self, column: Floats) -> Floats:
        """From rows to the joint cells."""
        return folded(column, self.place, self.cells)


@dataclass(frozen=True, eq=False)
class Fit:
    """The equations by which rows are moved to controls, and the variances that the controls were drawn with."""

    joined: Joined
    normal: Normal
    drawn: Floats

    def pulls(self, gaps: Floats) -> Floats:
        """How far each joint cell is moved to close gaps of the controls, a unit of variance."""
        return self.joined.spread(self.normal.solve(gaps))

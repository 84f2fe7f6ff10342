"""Joint cells: groupings of rows brought together on the coarsest cells that tell all of them apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.release.uncertainties.normal import Cells, Floats, Places, Sets, gram_of
from sfumato.schema import Grouping
from sfumato.schema.frame import crossed


@dataclass(frozen=True, eq=False)
class Joined(Sets):
    """Some groupings as tables of totals over joint cells: the joint cell of every row, and the group of every cell."""

    place: NDArray[np.int32]
    cells: int
    ups: tuple[Places, ...]
    groups: tuple[int, ...]

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
        return cls(place, size, tuple(ups), tuple(one.size for one in groupings))

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.groups

    def sums(self, column: Floats) -> Floats:
        """From rows to the joint cells."""
        return np.asarray(np.bincount(self.place, column, self.cells), dtype=np.float64)

    def table(self, place: int, cells: Cells) -> Floats:
        return np.asarray(np.bincount(self.ups[place], cells, self.sizes[place]), dtype=np.float64)

    def spread(self, totals: Floats) -> Floats:
        found = np.zeros(self.cells)
        for part, up in zip(self.parts(totals), self.ups, strict=True):
            found += part[up]
        return found

    def gram(self, cells: Cells) -> Floats:
        return gram_of(self.ups, self.sizes, cells)

    def nests(self, fine: int, coarse: int) -> bool:
        return np.array_equal(self.up(fine, coarse)[self.ups[fine]], self.ups[coarse])

    def up(self, fine: int, coarse: int) -> Places:
        found = np.zeros(self.sizes[fine], dtype=np.int64)
        found[self.ups[fine]] = self.ups[coarse]
        return found

"""Products that do not answer everything: one holds only two-way tables, one holds no number in some cells."""

from dataclasses import dataclass

import numpy as np

from sfumato.release import Cube, NoNumber, Statuses
from sfumato.schema import Box, Grid

FEW = NoNumber("fewer than 3 firms stand behind it", "s", "Q")
UNFIT = NoNumber("the regression has no solution", "⊥", "M")


@dataclass(frozen=True, eq=False)
class TwoWay(Cube):
    """Tables of at most two attributes."""

    def refuses(self, names: frozenset[str]) -> str:
        if len(names) <= 2:
            return ""
        return f"Only tables of two variables were published; {', '.join(sorted(names))} are {len(names)}."


@dataclass(frozen=True, eq=False)
class Holey(Cube):
    """A cube of which some cells hold no number: 1 where too few stand behind it, 2 where nothing can be computed.

    A sum that would need such a cell holds none either, for the same reason.
    """

    holes: np.ndarray = None

    def missing(self, grid: Grid) -> Statuses | None:
        found = np.array([self._worst(box) for box in grid.boxes()]).reshape(grid.shape)
        return Statuses((FEW, UNFIT), found) if found.any() else None

    def _worst(self, box: Box) -> int:
        inside = self.holes
        for place, attribute in enumerate(self.attributes):
            inside = np.compress(box.mask(attribute), inside, axis=place)
        return int(inside.max(initial=0))

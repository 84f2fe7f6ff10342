"""Witnesses: other tables that the published numbers allow, and how far off they show each cell to be possible."""

from dataclasses import dataclass

import numpy as np

from sfumato.suppression import Flags, Floats, Integers

TINY = 1e-7
"""What of the largest change of a witness counts as none."""


@dataclass(frozen=True, eq=False)
class Witness:
    """Changes of cells that leave every equation true, up to `stretch` times what they are, or backwards `reverse`."""

    cells: Integers
    changes: Floats
    stretch: float
    reverse: float

    @classmethod
    def of(cls, change: Floats, up: Floats, down: Floats) -> "Witness":
        """A solution, with the farthest that it may be scaled either way before a cell leaves its room."""
        cells = np.flatnonzero(np.abs(change) > TINY * np.abs(change).max(initial=0))
        changes = change[cells]
        forward = np.where(changes > 0, up[cells], down[cells]) / np.abs(changes)
        backward = np.where(changes > 0, down[cells], up[cells]) / np.abs(changes)
        return cls(cells, changes, float(forward.min(initial=np.inf)), float(backward.min(initial=np.inf)))

    def reach(self) -> tuple[Floats, Floats]:
        """How far above and below the truth it shows each of its cells to be possible."""
        rise, fall = np.maximum(self.changes, 0), np.maximum(-self.changes, 0)
        with np.errstate(invalid="ignore"):
            upper = np.fmax(rise * self.stretch, fall * self.reverse)
            lower = np.fmax(fall * self.stretch, rise * self.reverse)
        return upper, lower


class Witnesses:
    """Those found so far, and of each side of each cell the one that reaches farthest."""

    def __init__(self, size: int) -> None:
        self.found: list[Witness] = []
        self.reach = np.zeros((2, size))
        self.best = np.full((2, size), -1, dtype=np.int64)

    def add(self, witness: Witness) -> None:
        for side, reached in enumerate(witness.reach()):
            farther = reached > self.reach[side, witness.cells]
            cells = witness.cells[farther]
            self.reach[side, cells] = reached[farther]
            self.best[side, cells] = len(self.found)
        self.found.append(witness)

    def using(self, cell: int) -> Flags:
        """Which witnesses change a cell."""
        return np.array([cell in one.cells for one in self.found], dtype=bool)

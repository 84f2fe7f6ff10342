"""Witnesses: other tables that the published numbers allow, and how far off they show each cell to be possible."""

from dataclasses import dataclass

import numpy as np

from sfumato.suppression import TINY, Floats, Integers

FEW = 12
"""How many witnesses of a cell are looked at."""


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

    def scaled(self, members: tuple[int, ...], amount: float) -> Floats | None:
        """Its changes, scaled so that some cells together change by an amount; None where that is out of reach."""
        now = float(self.changes[np.isin(self.cells, members)].sum())
        if now == 0:
            return None
        factor = amount / now
        if factor > self.stretch * (1 + TINY) or -factor > self.reverse * (1 + TINY):
            return None
        return self.changes * factor


class Witnesses:
    """Those found so far, of each side of each cell the one that reaches farthest, and who uses which cell."""

    def __init__(self, upper: Floats, lower: Floats) -> None:
        self.found: list[Witness] = []
        self.asked = np.stack([upper > 0, lower > 0])
        self.reach = np.zeros((2, len(upper)))
        self.best = np.full((2, len(upper)), -1, dtype=np.int64)
        self.users: dict[int, list[int]] = {}
        self.dead: set[int] = set()

    def add(self, witness: Witness) -> None:
        for side, reached in enumerate(witness.reach()):
            farther = reached > self.reach[side, witness.cells]
            cells = witness.cells[farther]
            self.reach[side, cells] = reached[farther]
            self.best[side, cells] = len(self.found)
        for cell in witness.cells.tolist():
            self.users.setdefault(cell, []).append(len(self.found))
        self.found.append(witness)

    def using(self, cell: int) -> list[int]:
        """The living witnesses that change a cell."""
        return [number for number in self.users.get(cell, ()) if number not in self.dead]

    def newest(self, cell: int) -> list[int]:
        """The last few living witnesses that change a cell; to look at all of them takes longer than a new program."""
        return self.using(cell)[: -FEW - 1 : -1]

    def buried(self, numbers: set[int]) -> tuple[Floats, Integers]:
        """Take witnesses for none, as a cell of theirs is published; what `unbury` needs to undo it."""
        before = self.reach.copy(), self.best.copy()
        self.dead |= numbers
        for side in range(2):
            lost = np.flatnonzero(np.isin(self.best[side], list(numbers)) & self.asked[side])
            self.reach[side, lost], self.best[side, lost] = 0, -1
            for cell in lost.tolist():
                self._restore(side, cell)
        return before

    def unbury(self, numbers: set[int], before: tuple[Floats, Integers]) -> None:
        self.dead -= numbers
        farther = before[0] > self.reach
        self.reach[farther], self.best[farther] = before[0][farther], before[1][farther]

    def _restore(self, side: int, cell: int) -> None:
        for number in self.newest(cell):
            witness = self.found[number]
            reached = float(witness.reach()[side][np.searchsorted(witness.cells, cell)])
            if reached > self.reach[side, cell]:
                self.reach[side, cell], self.best[side, cell] = reached, number

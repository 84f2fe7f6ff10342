"""Insiders: what contributors to suppressed cells know that others do not."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.suppression.equations import Flags, Floats, Integers


@dataclass(frozen=True, eq=False, repr=False)
class Insiders:
    """Who knows which part of which cells: each holding knows its own, so a cell of no losses is no less than that.

    One who is alone in a cell knows the cell. The entries stand in the order of cells, then of holdings.
    """

    cells: Integers
    holdings: Integers
    amounts: Floats
    alone: Flags
    first: Floats
    """The largest contribution of each cell, which must not be known; infinite where that holding has agreed to it."""
    second: Floats
    """The largest of the others: where the largest has agreed its own, from which the next is protected."""
    sizes: Floats
    """What the contributions of each cell add up to."""
    upper: Floats
    """How far each cell must be uncertain to its second largest holding."""
    others: Floats
    """How far to all but its two largest, by rules that ask no less of these: too few holdings, or dominance."""
    least: Floats | None = None
    """What each entry's cell is at least to its holding, where parts that are not empty add to what it has itself."""

    def __repr__(self) -> str:
        return f"<Insiders of {len(self.sizes):,} cells: confidential>"

    @cached_property
    def starts(self) -> Integers:
        return np.searchsorted(self.cells, np.arange(len(self.sizes) + 1))

    @cached_property
    def _by_holding(self) -> tuple[Integers, Integers]:
        order = np.argsort(self.holdings, kind="stable")
        return order, self.holdings[order]

    def at(self, place: Integers, first: Integers, size: int) -> "Insiders":
        """The same where cells that are equal have become one; `first` is the first cell of each."""
        pairs = np.stack([place[self.cells], self.holdings])
        _, kept = np.unique(pairs, axis=1, return_index=True)
        upper, others = np.zeros(size), np.zeros(size)
        np.maximum.at(upper, place, self.upper)
        np.maximum.at(others, place, self.others)
        return Insiders(
            pairs[0, kept], self.holdings[kept], self.amounts[kept], self.alone[kept],
            self.first[first], self.second[first], self.sizes[first], upper, others,
            None if self.least is None else self.least[kept],
        )  # fmt: skip

    def within(self, cells: Integers) -> Integers:
        """The entries of some cells."""
        counts = self.starts[cells + 1] - self.starts[cells]
        offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.asarray(np.repeat(self.starts[cells], counts) + offset, dtype=np.int64)

    def of(self, holding: int) -> Integers:
        """The entries of a holding."""
        order, named = self._by_holding
        return np.sort(order[slice(*np.searchsorted(named, [holding, holding + 1]))])

    def asked(self, cell: int, way: int, holdings: Integers, most: float, floor: float) -> Floats:
        """How far a cell must be uncertain one way to each of some holdings: no farther than `most`, 0 for nothing.

        Downwards, way 1, as far as it may fall to who knows its own part: from `floor`, inf where losses may be.
        """
        need = np.clip(self.need(cell, holdings), 0, most)
        if way == 0:
            return need
        known = self._of(cell, holdings, self.amounts if self.least is None else self.least)[0]
        return np.minimum(need, np.maximum(floor - known, 0))

    def need(self, cell: int, holdings: Integers) -> Floats:
        """How far a cell must be uncertain to each of some holdings; 0 or less where nothing is asked.

        Holding h, who adds x_h, must not know the largest, X1, to within what the second, who adds X2, must not: it is
        short of what the second knows by X2 - x_h. The largest itself must not know the second. Who is not among the
        two largest of a cell of few holdings, or of a dominated one, must not know it as nobody must: whoever is in it
        knows more than others do.
        """
        top, second = float(self.first[cell]), float(self.second[cell])
        amounts, inside = self._of(cell, holdings, self.amounts)
        own = np.abs(amounts)
        rest = float(self.sizes[cell]) - top - second
        to_largest = (self.upper[cell] + rest) * second / top - rest if 0 < top < np.inf else 0.0
        lessened = np.where(inside & (own >= top * (1 - 1e-9)), to_largest, self.upper[cell] - second + own)
        leading = inside & (own >= second * (1 - 1e-9))
        return np.where(leading, lessened, np.maximum(lessened, self.others[cell]))

    def _of(self, cell: int, holdings: Integers, amounts: Floats) -> tuple[Floats, Flags]:
        """An amount of each of some holdings in a cell, 0 where it is not in it, and whether it is."""
        at = slice(int(self.starts[cell]), int(self.starts[cell + 1]))
        mine = self.holdings[at]
        if not len(mine):
            return np.zeros(len(holdings)), np.zeros(len(holdings), dtype=bool)
        place = np.minimum(np.searchsorted(mine, holdings), len(mine) - 1)
        inside = mine[place] == holdings
        return np.where(inside, amounts[at][place], 0.0), inside

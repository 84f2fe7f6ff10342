"""LinkedTables: the cells of linked tables and every sum between them, as one system of equations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from sfumato.errors import PlanError, nearest
from sfumato.suppression.equations import Equations, Flags, Floats, Integers, first_of_each, joined, together
from sfumato.suppression.nesting import WHOLE, Nesting
from sfumato.suppression.numbering import Numbering


@dataclass(frozen=True, eq=False)
class LinkedTables:
    """Tables that share cells: a cell is what it is classified by, so one that stands in two tables is one variable.

    >>> trade, place = Nesting.under("trade", {"a": "", "b": ""}), Nesting.under("place", {"x": "", "y": ""})
    >>> both = LinkedTables.of([[trade], [trade, place]])
    >>> both.size, both.equations.count, both.named(both.find({"trade": "a"}))
    (9, 6, {'trade': 'a'})
    """

    attributes: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    keys: Integers
    """Of every cell the number of its code of each attribute; 0 where it is the total over it."""
    equations: Equations
    tables: tuple[tuple[Nesting, ...], ...]
    """The classifications of each table."""

    @classmethod
    def of(cls, tables: Sequence[Sequence[Nesting]]) -> "LinkedTables":
        """All cells of some tables, each the product of its classifications, and all sums in them."""
        nestings: dict[str, list[Nesting]] = {}
        for nesting in (one for table in tables for one in table):
            nesting.refuse_circle()
            nestings.setdefault(nesting.name, []).append(nesting)
        codes = tuple(
            (WHOLE, *sorted({code for one in found for code in one.codes} - {WHOLE})) for found in nestings.values()
        )
        frame = Numbering(tuple(nestings), codes)
        cells = np.unique(np.concatenate([frame.cells(table) for table in tables]))
        equations = joined([found for table in tables for found in frame.sums(table)], cells)
        return cls(frame.names, codes, frame.keys(cells), equations, tuple(tuple(table) for table in tables))

    @property
    def size(self) -> int:
        return len(self.keys)

    @cached_property
    def _numbers(self) -> tuple["Numbering", Integers]:
        frame = Numbering(self.attributes, self.codes)
        return frame, (self.keys * frame.strides).sum(axis=1)

    def places(self, columns: Mapping[str, Sequence[str]]) -> Integers:
        """The cell of each row of codes, -1 where there is none; an attribute that is left out is its whole."""
        frame, known = self._numbers
        wanted = frame.numbers(columns)
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where((wanted >= 0) & (known[at] == wanted), at, -1)

    def numbers(self, name: str, codes: Sequence[str]) -> Integers:
        """What codes of an attribute add to the number of a cell; `at` finds cells by their numbers."""
        place = self.attributes.index(name)
        frame, _ = self._numbers
        found = np.array([frame.place[place][code] for code in codes], dtype=np.int64)
        return np.asarray(found * frame.strides[place], dtype=np.int64)

    def at(self, numbers: Integers) -> Integers:
        """The cells that have these numbers; all of them are there."""
        return np.searchsorted(self._numbers[1], numbers)

    def find(self, where: Mapping[str, str]) -> int:
        """The cell of some codes."""
        for name in where:
            if name not in self.attributes:
                raise PlanError(f"There is no attribute '{name}' in these tables; {nearest(name, self.attributes)}")
        (place,) = self.places({name: [code] for name, code in where.items()})
        if place < 0:
            raise PlanError(f"There is no cell {_words(where)} in these tables; its codes must stand in one of them.")
        return int(place)

    def named(self, cell: int) -> dict[str, str]:
        """The codes of a cell, of the attributes that it is not the total over."""
        told = zip(self.attributes, self.codes, self.keys[cell], strict=True)
        return {name: codes[number] for name, codes, number in told if number}

    def words(self, cell: int) -> str:
        """A cell as a reader names it."""
        return _words(self.named(cell)) or "the total of all"

    def column(self, name: str) -> list[str]:
        """The code of an attribute in every cell; empty where a cell is the total over it."""
        place = self.attributes.index(name)
        return [self.codes[place][number] for number in self.keys[:, place]]

    def above(self, name: str) -> dict[str, tuple[str, ...]]:
        """Each code of an attribute, of whichever table, with every code that it is a part of in any of them."""
        own = [one for table in self.tables for one in table if one.name == name]
        return reduce(Nesting.also, own).above

    def branches(self, place: int) -> Integers:
        """Of every cell the number of the topmost code, below the whole, that its code of an attribute is a part of.

        >>> trade = Nesting.under("trade", {"a": "", "b": "", "a1": "a"})
        >>> LinkedTables.of([[trade]]).branches(0).tolist()  # of the whole, a, a1 and b
        [0, 1, 1, 3]
        """
        codes, above = self.codes[place], {WHOLE: (WHOLE,)} | self.above(self.attributes[place])
        tops = [[up for up in above[code] if up != WHOLE] for code in codes]
        numbers = np.array([codes.index(top[-1]) if top else 0 for top in tops], dtype=np.int64)
        return numbers[self.keys[:, place]]

    def only(self, kept: Flags) -> "LinkedTables":
        """The system of some cells, where the others are empty: they add nothing, and a sum without parts goes."""
        place = np.cumsum(kept) - 1
        entries = kept[self.equations.cells]
        rows, signs = self.equations.rows[entries], self.equations.signs[entries]
        some = Equations(rows, self.equations.cells[entries], signs, self.equations.count)
        totals = np.bincount(rows, signs < 0, some.count)
        parts = np.bincount(rows, signs > 0, some.count)
        if np.any((totals == 0) & (parts > 0)):
            raise PlanError("A total was left out as empty although parts of it are there; keep it, or leave them out.")
        equations = some.kept((totals > 0) & (parts > 0), place)
        return LinkedTables(self.attributes, self.codes, self.keys[kept], equations, self.tables)

    def merged(self) -> "tuple[LinkedTables, Integers]":
        """The same with equal cells taken for one, a total of one part alone and that part; and which is which."""
        entries = self.equations
        only = np.bincount(entries.rows, minlength=entries.count) == 2
        equal = only[entries.rows]
        label = together(entries.rows[equal], entries.cells[equal], np.arange(self.size))
        kept, place = np.unique(label, return_inverse=True)
        rest = ~only[entries.rows]
        _, rows = np.unique(entries.rows[rest], return_inverse=True)
        some = Equations(rows, place[entries.cells[rest]], entries.signs[rest], int(rows.max(initial=-1)) + 1)
        order = np.lexsort((some.cells, some.rows))
        some = Equations(some.rows[order], some.cells[order], some.signs[order], some.count)
        equations = some.kept(first_of_each(some, len(kept)), np.arange(len(kept)))
        return LinkedTables(self.attributes, self.codes, self.keys[kept], equations, self.tables), place

    def faults(self, values: Floats, tolerance: float = 0.0) -> Integers:
        """The equations whose values are all told and do not add up, to within a tolerance of rounding a cell."""
        told = np.bincount(self.equations.rows, np.isnan(values)[self.equations.cells], self.equations.count) == 0
        sizes = np.bincount(self.equations.rows, np.abs(values)[self.equations.cells], self.equations.count)
        members = np.bincount(self.equations.rows, minlength=self.equations.count)
        off = np.abs(self.equations.sums(values)) > tolerance * members + 1e-9 * sizes
        return np.flatnonzero(told & off)


def _words(where: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {code}" for name, code in where.items())

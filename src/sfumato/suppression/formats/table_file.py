"""TableFile: a table that somebody has made, with its flags, as linked cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.errors import DataError, how_many
from sfumato.suppression.equations import Flags, Floats, Integers
from sfumato.suppression.linked_tables import LinkedTables
from sfumato.suppression.nesting import WHOLE, Nesting
from sfumato.suppression.published import Published

TOTAL = "Total"
"""The code of a total, unless a file or its reader says otherwise."""


@dataclass(frozen=True, eq=False, repr=False)
class TableFile:
    """The cells of a file: a value or NaN, whether it says that the cell is suppressed, and its other numbers by name.

    A cell that the file does not have holds nobody, and is left out; one that it leaves out although parts of it are
    there is unpublished: nobody said what it is.
    """

    linked: LinkedTables
    values: Floats
    suppressed: Flags
    rows: Integers
    """The row of the file that each cell stands in, -1 where in none."""
    numbers: Mapping[str, Floats] = field(default_factory=dict)
    held: Flags | None = None
    """Which cells the file says must be published, if it says so."""
    totals: Mapping[str, str] = field(default_factory=dict)
    """The code that the file has for the total of an attribute, where it is not Total."""

    def codes(self, name: str) -> list[str]:
        """The code of an attribute in every cell, as the file writes it."""
        return [code or self.totals.get(name, TOTAL) for code in self.linked.column(name)]

    def __repr__(self) -> str:
        return f"<TableFile of {self.linked.size:,} cells, {int(self.suppressed.sum()):,} suppressed>"

    def published(self, *, negative: bool = False, rounding: float = 0.0, least: float = 0.0) -> Published:
        """As anybody reads it; numbers that are all whole, and not rounded, everybody knows to be whole."""
        values = np.where(self.suppressed, np.nan, self.values)
        told = values[~np.isnan(values)]
        whole = not rounding and bool((told == np.rint(told)).all())
        return Published.of(self.linked, values, negative=negative, rounding=rounding, least=least, whole=whole)

    def known(self, ends: Sequence[str], rounding: float = 0.0) -> tuple[Floats, Floats]:
        """The least and the most that everybody knows each cell to be, by two columns; no bound where one is empty."""
        least, most = (self.numbers[name] for name in ends)
        low, high = np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most)
        slack = rounding + 1e-9 * np.abs(np.nan_to_num(self.values))
        wrong = np.flatnonzero((low > high) | (self.values < low - slack) | (self.values > high + slack))
        if len(wrong):
            raise DataError(
                f"What '{ends[0]}' and '{ends[1]}' say is known of a cell cannot be, of {len(wrong):,}, the first "
                f"{self.linked.words(int(wrong[0]))}: the least is above the most, or the value is outside of them."
            )
        return low, high

    @classmethod
    def of(
        cls,
        tables: Sequence[Sequence[Nesting]],
        columns: Mapping[str, Sequence[str]],
        values: Floats,
        suppressed: Flags,
        numbers: Mapping[str, Floats] | None = None,
        held: Flags | None = None,
    ) -> "TableFile":
        """Rows of codes laid out over the cells of some tables; a code that no table has is refused."""
        every = LinkedTables.of(tables)
        place = _placed(every, columns)
        kept = _with_totals(every, place)
        linked, number = every.only(kept), np.cumsum(kept)[place] - 1
        rows, told = np.full(linked.size, -1, dtype=np.int64), np.full(linked.size, np.nan)
        flags, kept_public = np.zeros(linked.size, dtype=bool), np.zeros(linked.size, dtype=bool)
        rows[number], told[number], flags[number] = np.arange(len(place)), values, suppressed
        kept_public[number] = False if held is None else held
        others = {}
        for name, column in (numbers or {}).items():
            others[name] = np.full(linked.size, np.nan)
            others[name][number] = column
        return cls(linked, told, flags, rows, others, kept_public)


def _placed(every: LinkedTables, columns: Mapping[str, Sequence[str]]) -> Integers:
    """The cell that each row stands in, no two in the same."""
    place = every.places(columns)
    if np.any(place < 0):
        first = int(np.flatnonzero(place < 0)[0])
        codes = ", ".join(f"{name} {column[first] or 'total'}" for name, column in columns.items())
        raise DataError(
            f"{how_many(int((place < 0).sum()), 'row', 'stands', 'stand')} in no table that the hierarchies make, the "
            f"first at {codes}; complete the hierarchy, or name the code of the total."
        )
    if len(np.unique(place)) < len(place):
        twice = every.words(int(np.flatnonzero(np.bincount(place) > 1)[0]))
        raise DataError(f"The cell {twice} stands in several rows; a file has each cell once.")
    return place


def _with_totals(every: LinkedTables, place: Integers) -> Flags:
    """The cells of some rows, and every total above them that the tables have."""
    entries, kept = every.equations, np.zeros(every.size, dtype=bool)
    kept[place] = True
    while True:
        reached = np.bincount(entries.rows, kept[entries.cells] & (entries.signs > 0), entries.count) > 0
        more = kept.copy()
        more[entries.parents[reached]] = True
        if np.array_equal(more, kept):
            return kept
        kept = more


def whole_of(codes: Sequence[str], total: str | None) -> list[str]:
    """Codes with that of the total written as no code."""
    return [WHOLE if code == total else code for code in codes]

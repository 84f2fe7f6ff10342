"""Suppressed: linked tables of true numbers with all of their margins, some of which are withheld; nothing is noise.

A number is answered from the cell that was published for it, however large: totals are not summed of their parts, as
parts may be withheld where the total is not. What is the sum of several cells is a number if all of them are. Readers
are told that a cell is withheld, and not by which rule: whoever knew which cells are sensitive by themselves would know
something of those, and something else of the others.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.release.lattice import WRAPS, wraps
from sfumato.release.manifest import ProductLine
from sfumato.release.noisy import Integers
from sfumato.release.products.product import Held, ProductFile, Subject
from sfumato.release.products.tables import described, family_of
from sfumato.release.statuses import NoNumber, Statuses
from sfumato.release.uncertainties import Independent, Uncertainty
from sfumato.schema import Attribute, Box, CellKeys, Family, Grid, Levels, Schema, UpTo
from sfumato.schema.cell_keys import Keys

WITHHELD = NoNumber(
    "Withheld, so that nobody can work out what a single contributor reported; the totals it is in count it.", "D", "Q"
)
NEEDS = NoNumber("It would be a sum of which some parts are withheld, and was not published as one number.", "D+", "Q")
UNHELD = NoNumber("These variables were published together at coarser levels only; ask for a level above.", "…", "L")
KINDS = (WITHHELD, NEEDS, UNHELD)
EXACT = Independent(0.0)
"""Numbers that are published are the true ones: noise gives them no error."""
MOST_NAMED = 4
"""How many tables are named to a reader."""


@dataclass(frozen=True, eq=False)
class Suppressed(Held):
    """The cells that are withheld, or whose number is not 0, by their keys, rising; all other cells are published as 0.

    A cell that is withheld has a value of 0 here and no value in its file.
    """

    kind: ClassVar[str] = "suppressed"
    exact: ClassVar[bool] = True
    subject: Subject
    domain: Family
    values: Integers
    keys: Keys
    withheld: NDArray[np.bool_]
    uncertainty: Uncertainty = EXACT

    def __post_init__(self) -> None:
        if len(self.values) != len(self.keys) or len(self.withheld) != len(self.keys):
            raise ValueError("it does not say of every cell whether it is withheld")
        if (self.keys[1:] <= self.keys[:-1]).any() or not self.linked.held(self.linked.of(self.keys)).all():
            raise ValueError("its cells are not listed in their order, each once, or are in none of its tables")
        if self.values[self.withheld].any():
            raise ValueError("it has a number for a cell that is withheld")

    @classmethod
    def listed(
        cls, subject: Subject, family: Family, keys: Keys, values: Integers, withheld: NDArray[np.bool_]
    ) -> "Suppressed":
        """Cells in any order; the numbers of those that are withheld are forgotten."""
        order = np.argsort(keys, kind="stable")
        order = order[(values[order] != 0) | withheld[order]]
        kept = np.where(withheld[order], 0, values[order]).astype(np.int64)
        return cls(subject, family, kept, keys[order], withheld[order])

    @cached_property
    def linked(self) -> CellKeys:
        return CellKeys(self.domain)

    @classmethod
    def read(cls, opened: ProductFile) -> "Suppressed":
        from sfumato.release.withheld_cells import agree, read_linked

        family = family_of(opened)
        linked = CellKeys(family)
        keys, values, withheld = read_linked(opened.path, linked)
        product = cls(Subject.read(opened.line), family, values, keys, withheld, opened.uncertainty(_no_column))
        if product.uncertainty != EXACT:
            raise ValueError("it states an error of noise, and has none")
        if wraps(values):
            raise ValueError(WRAPS)
        if not agree(linked, keys, values, withheld):
            raise ValueError("its published totals are not the sums of their parts")
        return product

    def write(self, folder: Path) -> ProductLine:
        return super().write(folder).model_copy(update={"family": described(self.domain)})

    def store(self, folder: Path, file: str) -> None:
        from sfumato.release.withheld_cells import write_linked

        write_linked(folder / file, self.linked, self.keys, self.values, self.withheld)

    def refuses(self, names: frozenset[str]) -> str:
        if self.domain.holds(names):
            return ""
        labels = [one.label for one in self.attributes if one.name in names]
        return f"{self._reach}; {' × '.join(labels)} are not together in any. Leave one out."

    @property
    def together(self) -> str:
        return "" if self.domain.holds(frozenset(self.domain.names)) else f"{self._reach}."

    @cached_property
    def _reach(self) -> str:
        """Which variables are together in its tables."""
        labels = {one.name: one.label for one in self.attributes}
        tables = [[level.name for level in table.by] for table in self.domain.members]
        said = list(dict.fromkeys(" × ".join(labels[name] for name in table) for table in tables))
        more = f", and {len(said) - MOST_NAMED:,} more" if len(said) > MOST_NAMED else ""
        return f"This release has tables of {', of '.join(said[:MOST_NAMED])}{more}"

    def missing(self, grid: Grid) -> Statuses | None:
        asked, size = self.linked.asked(grid), int(np.prod(grid.shape, dtype=np.int64))
        parts = np.bincount(asked.box, minlength=size)
        hidden = np.bincount(asked.box, self.told(asked.keys)[1], size) > 0
        unheld = np.bincount(asked.box, ~asked.held, size) > 0
        which = np.where(unheld, 3, np.where(hidden, np.where(parts == 1, 1, 2), 0))
        return Statuses(KINDS, which.reshape(grid.shape)) if which.any() else None

    def totals(self, grid: Grid) -> Integers:
        asked = self.linked.asked(grid)
        found = np.zeros(int(np.prod(grid.shape, dtype=np.int64)), dtype=np.int64)
        np.add.at(found, asked.box, self.told(asked.keys)[0])
        return found.reshape(grid.shape)

    def cells(self, box: Box) -> int:
        return int(self.cell_counts(Grid((), box)))

    def cell_counts(self, grid: Grid) -> Integers:
        """How many published cells a number is the sum of: one where it was published itself."""
        size = int(np.prod(grid.shape, dtype=np.int64))
        return np.bincount(self.linked.asked(grid).box, minlength=size).reshape(grid.shape)

    def told(self, keys: Keys) -> tuple[Integers, NDArray[np.bool_]]:
        """The numbers of cells, 0 of those without one, and which are withheld."""
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        there = self.keys[place] == keys
        return np.where(there, self.values[place], 0), there & self.withheld[place]


def _no_column(name: str) -> Any:
    raise ValueError(f"its tables have no column '{name}'")


_TRADE = Levels.of(["1", "2", *({"code": f"1{letter}", "parent": "1"} for letter in "abc")])
_FAMILY = UpTo(2, ("trade", "size")).family(Schema((Attribute("trade", _TRADE), Attribute("size", Levels.of("sl")))))
_CELLS = [(trade, size) for trade in (None, "1", "2", "1a", "1b", "1c") for size in (None, "s", "l")]
_PAY = np.array([38, 21, 17, 26, 17, 9, 12, 4, 8, 7, 5, 2, 9, 3, 6, 10, 9, 1])
EXAMPLE = Suppressed.listed(
    Subject("pay", "total", "Pay", "dollars", Fraction(1)),
    _FAMILY,
    CellKeys(_FAMILY).coded(_CELLS),
    _PAY,
    np.array([trade in {"1a", "1b"} and size is not None for trade, size in _CELLS]),
)

"""Tidy tables: one row a cell, its codes, its value, and, if wanted, a flag and numbers of its contributors."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path

import numpy as np

from sfumato.errors import DataError
from sfumato.suppression.equations import Flags
from sfumato.suppression.formats.file_rows import Rows, column_of, number_of, read_rows
from sfumato.suppression.formats.hierarchies import read_hierarchy
from sfumato.suppression.formats.table_file import TOTAL, TableFile, whole_of
from sfumato.suppression.nesting import WHOLE, Nesting

MOST_NAMED = 3
"""How many cells that stand in several rows are named."""


@dataclass(frozen=True)
class Tidy:
    """How a tidy table is read: what its columns are.

    A code of an attribute without a hierarchy is a part of its total. Where a flag column is named, the cells that have
    one of the `hidden` flags are suppressed, besides those without a value; some cell must have one.
    """

    by: tuple[str, ...]
    value: str
    flag: str = ""
    hidden: tuple[str, ...] = ()
    hierarchies: Mapping[str, Path | Sequence[Path]] = field(default_factory=dict)
    """The file of the hierarchy of an attribute, or several: a code may be a part of one sum in each."""
    totals: Mapping[str, str] = field(default_factory=dict)
    total: str = TOTAL
    numbers: tuple[str, ...] = ()
    """Further columns of numbers that are wanted: how many contribute, the largest contribution, needs."""
    separator: str = ","
    lead: str = "@"

    def read(self, paths: Sequence[Path]) -> TableFile:
        """One file, or several that share cells: linked tables, where an attribute that a file lacks is its total."""
        files, tables, rows = [(path, read_rows(path, self.separator)) for path in paths], [], []
        for name in self.by if len(paths) > 1 else ():
            if not any(some and name in some[0] for _, some in files):
                raise DataError(f"No file has a column '{name}', which --by names; leave it out, or correct it.")
        for path, some in files:
            by = [name for name in self.by if some and name in some[0]] if len(paths) > 1 else list(self.by)
            tables.append(
                [self._nesting(name, whole_of(column_of(some, name, path), self._total(name))) for name in by]
            )
            told = [dict.fromkeys(self.by, "") | self._told(row, by) for row in some]
            self._refuse_repeated(told, path)
            rows += told
        return self.laid_out(self._once(rows), tables, paths[0])

    def _told(self, row: dict[str, str], by: Sequence[str]) -> dict[str, str]:
        codes = {name: WHOLE if row[name].strip() == self._total(name) else row[name].strip() for name in by}
        return row | codes

    def _total(self, name: str) -> str:
        return self.totals.get(name, self.total)

    def _nesting(self, name: str, codes: Sequence[str]) -> Nesting:
        present = sorted(set(codes))
        if WHOLE not in present and name not in self.totals:
            raise DataError(
                f"No cell has the total of '{name}', which would be '{self.total}'; without totals nothing can be "
                f"worked out of a table, and nothing audited. Name its code: --total {name}=CODE, or {name}=none "
                "where no total was published."
            )
        if name not in self.hierarchies:
            return Nesting.under(name, {code: WHOLE for code in present if code != WHOLE}, whole=WHOLE in present)
        paths = self.hierarchies[name]
        several = [paths] if isinstance(paths, Path) else paths
        trees = [read_hierarchy(name, path, self.lead, self._total(name)) for path in several]
        return reduce(Nesting.also, trees).within(present)

    def _refuse_repeated(self, rows: Rows, path: Path) -> None:
        """A file that has a cell twice does not say which of the two is right."""
        seen = Counter(tuple(row[name] for name in self.by) for row in rows)
        twice = [cell for cell, times in seen.items() if times > 1]
        if twice:
            named = "; ".join(self._words(cell) for cell in twice[:MOST_NAMED])
            more = f", and {len(twice) - MOST_NAMED:,} more" if len(twice) > MOST_NAMED else ""
            raise DataError(
                f"{path} has several rows of a cell: {named}{more}. A cell stands in one row: leave the others out, or "
                "name the column that tells them apart in --by."
            )

    def _once(self, rows: Rows) -> Rows:
        """A cell that stands in several files, told once; what they say of it must be the same."""
        found: dict[tuple[str, ...], dict[str, str]] = {}
        for row in rows:
            cell = tuple(row[name] for name in self.by)
            first = found.setdefault(cell, row)
            wanted = [self.value, *([self.flag] if self.flag else []), *self.numbers]
            if any(_plain(first.get(name, "")) != _plain(row.get(name, "")) for name in wanted):
                raise DataError(
                    f"Two files do not say the same of {self._words(cell)}. Linked tables share a cell, so that one "
                    "which is suppressed in one of them and published in the other is published: make them agree."
                )
        return list(found.values())

    def _words(self, cell: Sequence[str]) -> str:
        told = zip(self.by, cell, strict=True)
        return ", ".join(f"{name} {code}" for name, code in told if code != WHOLE) or "the total of all"

    def laid_out(self, rows: Rows, tables: Sequence[Sequence[Nesting]], path: Path) -> TableFile:
        values = number_of(column_of(rows, self.value, path), self.value)
        flags = self._flagged(column_of(rows, self.flag, path)) if self.flag else np.isnan(values)
        columns = {name: [row[name] for row in rows] for name in self.by}
        numbers = {name: number_of(column_of(rows, name, path), name) for name in self.numbers}
        table = TableFile.of(tables, columns, values, flags | np.isnan(values), numbers)
        return replace(table, totals={name: self._total(name) for name in self.by})

    def _flagged(self, told: Sequence[str]) -> Flags:
        """Which cells have a flag of suppressed ones; where none has, nothing would be audited, and all called safe."""
        flags = np.isin(told, self.hidden)
        if not flags.any():
            seen = ", ".join(f"'{one}'" for one in sorted(set(told))[:MOST_NAMED])
            raise DataError(
                f"No cell has a flag of suppressed ones, {', '.join(self.hidden) or 'of which none is named'}, in the "
                f"column '{self.flag}', which holds {seen}; name the flags that stand for suppressed cells: --hidden."
            )
        return np.asarray(flags, dtype=bool)


def _plain(text: str) -> str | float:
    """What a field says, however it is written: 40 is 40.0, and nan is nothing."""
    try:
        number = float(text)
    except ValueError:
        return text.strip()
    return "" if math.isnan(number) else number

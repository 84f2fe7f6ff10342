"""Tidy tables: one row a cell, its codes, its value, and, if wanted, a flag and numbers of its contributors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sfumato.errors import DataError
from sfumato.suppression.formats.hierarchies import read_hierarchy
from sfumato.suppression.formats.table_file import Rows, TableFile, column_of, number_of, read_rows, whole_of
from sfumato.suppression.nesting import WHOLE, Nesting


@dataclass(frozen=True)
class Tidy:
    """How a tidy table is read: what its columns are.

    A code of an attribute without a hierarchy is a part of its total. Where a flag column is named, the cells that have
    one of the `hidden` flags are suppressed; else those without a value.
    """

    by: tuple[str, ...]
    value: str
    flag: str = ""
    hidden: tuple[str, ...] = ()
    hierarchies: Mapping[str, Path] = field(default_factory=dict)
    totals: Mapping[str, str] = field(default_factory=dict)
    total: str = "Total"
    numbers: tuple[str, ...] = ()
    """Further columns of numbers that are wanted: how many contribute, the largest contribution, needs."""
    separator: str = ","
    lead: str = "@"

    def read(self, paths: Sequence[Path]) -> TableFile:
        """One file, or several that share cells: linked tables, where an attribute that a file lacks is its total."""
        tables, rows = [], []
        for path in paths:
            some = read_rows(path, self.separator)
            by = [name for name in self.by if some and name in some[0]] if len(paths) > 1 else list(self.by)
            tables.append(
                [self._nesting(name, whole_of(column_of(some, name, path), self._total(name))) for name in by]
            )
            rows += [dict.fromkeys(self.by, "") | self._told(row, by) for row in some]
        return self.laid_out(_once(rows, self.by), tables, paths[0])

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
        return read_hierarchy(name, self.hierarchies[name], self.lead).within(present)

    def laid_out(self, rows: Rows, tables: Sequence[Sequence[Nesting]], path: Path) -> TableFile:
        values = number_of(column_of(rows, self.value, path), self.value)
        told = column_of(rows, self.flag, path) if self.flag else []
        flags = np.isin(told, self.hidden or ("",)) if self.flag else np.isnan(values)
        columns = {name: [row[name] for row in rows] for name in self.by}
        numbers = {name: number_of(column_of(rows, name, path), name) for name in self.numbers}
        return TableFile.of(tables, columns, values, flags | np.isnan(values), numbers)


def _once(rows: Rows, by: Sequence[str]) -> Rows:
    """A cell that stands in several files, told once."""
    return list({tuple(row[name] for name in by): row for row in rows}.values())

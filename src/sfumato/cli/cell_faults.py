"""Faults of cells and options for which neither an audit nor a pattern could be trusted."""

import math
from typing import TYPE_CHECKING

from sfumato.cli.output import note
from sfumato.errors import DataError, how_many

if TYPE_CHECKING:
    from sfumato.confidential.suppress import Contributions
    from sfumato.suppression.formats.table_file import TableFile


def refuse_below(**given: float) -> None:
    """Shares, roundings and numbers of lines that cannot be would be taken for none, and an audit for passed."""
    for name, number in given.items():
        if not (math.isfinite(number) and number >= 0):
            raise DataError(f"--{name} is {number:g}; it is a number from 0 on.")


def note_circle(read: "TableFile") -> None:
    """Say so where linked tables bound each other's cells beyond their sums, which nothing here looks at."""
    from sfumato.suppression import circle

    left = circle([[nesting.name for nesting in table] for table in read.linked.tables])
    if left:
        tables = ", ".join(" × ".join(sorted(table)) for table in left)
        note(f"The tables {tables} are in a circle: together they tell more than their sums, which was not looked at.")


def public_least(
    read: "TableFile", least: float | None, rounding: float, cells: "Contributions | None" = None
) -> float:
    """What everybody knows a suppressed cell to have at least: 1 of whole numbers, as empty cells are published.

    Where records show that a suppressed cell has less, and numbers that are rounded, it is 0.
    """
    import numpy as np

    if least is not None or rounding:
        return least or 0.0
    told = read.values[~read.suppressed & ~np.isnan(read.values)]
    fewer = cells is not None and bool((cells.totals[read.suppressed & (cells.counts > 0)] < 1).any())
    return float(bool((told == np.rint(told)).all()) and not fewer)


def refuse_unsummed(read: "TableFile", rounding: float) -> None:
    faults = read.linked.faults(read.published().values, rounding)
    if len(faults):
        where = read.linked.words(int(read.linked.equations.parents[faults[0]]))
        raise DataError(
            f"{how_many(len(faults), 'total')} published with all parts {'is' if len(faults) == 1 else 'are'} not "
            f"their sum, the first {where}; check the hierarchy, or allow for --rounding."
        )

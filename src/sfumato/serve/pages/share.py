"""Figures: the numbers of a table as they stand or as percentages, each still with its error."""

from collections.abc import Callable

from sfumato.query import Crosstab, Shares
from sfumato.serve.pages.cell import Cell, cell
from sfumato.serve.pages.layout import Layout

Name = Callable[[tuple[str, ...]], str]
"""From the codes of a cell to the name that it has in an address."""


def figures(table: Crosstab, layout: Layout, name: Name, *, whole: bool = False) -> list[Cell]:
    """The cells of a table; totals beside a table of percentages stay the numbers that the percentages are of."""
    numbers = table if whole else asked(table, layout)
    look, largest = layout.look, layout.sheet.edition.release.manifest.largest_cv
    return [cell(one, look, name(codes), largest) for codes, one in numbers.items()]


def asked(table: Crosstab, layout: Layout) -> Crosstab | Shares:
    """The table as numbers, or as the percentages that the reader asked for; without columns a row is the whole."""
    share = layout.look.share
    if not share:
        return table
    return table.shares(share if layout.column else "whole")

"""The tables of a report with their pictures: lines along a variable that runs on, else a mark a row or a cell."""

from collections.abc import Iterator
from typing import Protocol

from sfumato.query.portable import Portable
from sfumato.schema import Attribute

MOST_SERIES, MOST_MARKS = 6, 60
"""The most levels that a picture tells apart, and the most cells of a picture of each."""


class TableAsked(Protocol):
    """A question that lacks only its rows and its columns."""

    def __call__(self, rows: str, cols: str | None) -> Portable: ...


def table_and_picture(asked: TableAsked, row: Attribute, column: Attribute | None) -> Iterator[str]:
    """A table by one or two variables, and its picture: lines along a column that runs on, else the rows' totals."""
    yield asked(row.name, column.name if column else None)._repr_html_()  # as notebooks show it
    if column and runs_on(column) and len(row.levels.leaves) <= MOST_SERIES:
        yield asked(column.name, row.name).plot("line")._repr_html_()
    else:
        yield asked(row.name, None).plot()._repr_html_()


def picture_of_cells(asked: TableAsked, row: Attribute, column: Attribute | None) -> Iterator[str]:
    """A picture of every cell, series being the variable of fewer levels; none where there are too many."""
    if column is None:
        if len(row.levels.leaves) <= MOST_MARKS:
            yield asked(row.name, None).plot()._repr_html_()
        return
    series, along = sorted((row, column), key=lambda one: (runs_on(one), len(one.levels.leaves)))
    if len(series.levels.leaves) <= MOST_SERIES and len(along.levels.leaves) * len(series.levels.leaves) <= MOST_MARKS:
        yield asked(along.name, series.name).plot("line" if runs_on(along) else "dot")._repr_html_()


def runs_on(attribute: Attribute) -> bool:
    """Whether levels follow each other as years and bands do, so that a line may join them.

    Their labels begin with a number, but for the first and the last, as in "under 20".

    >>> from sfumato.schema import Levels
    >>> [runs_on(Attribute("some", Levels.of(list(codes)))) for codes in ("123", "abc")]
    [True, False]
    """
    labels = [attribute.levels.label(code) for code in attribute.levels.leaves]
    return len(labels) > 2 and all(label[:1].isdecimal() for label in labels[1:-1])

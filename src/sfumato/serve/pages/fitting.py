"""Fitting: whether a table can be shown as the picture that is asked for, known before any number is computed.

Whoever chooses another column under a chart may choose too many for it: the page then shows the table, and says why.
"""

from dataclasses import replace

from sfumato.errors import QueryError
from sfumato.pictures.mark import MOST_MARKS, MOST_SERIES, too_many_marks, too_many_series
from sfumato.query import Crosstab
from sfumato.serve.pages.charts import chart_of, line_names
from sfumato.serve.pages.layout import Layout
from sfumato.serve.pages.map import refuse_unmapped
from sfumato.serve.pages.view import wrapped_axis

MOST_PICTURES = 12


def fitting(layout: Layout) -> tuple[Layout, str]:
    """The layout as a table where its picture cannot be drawn, and why."""
    problem = picture_problem(layout)
    return (as_table(layout), problem) if problem else (layout, "")


def as_table(layout: Layout) -> Layout:
    return replace(layout, look=layout.look.but(view="table"))


def can_be(layout: Layout, view: str) -> bool:
    """Whether a table can be shown in a view."""
    return not picture_problem(replace(layout, look=layout.look.but(view=view)))


def picture_problem(layout: Layout) -> str:
    """Why there is no such picture of a table; '' where there is one, and of the table itself."""
    try:
        refuse_unpictured(layout)
    except QueryError as error:
        return layout.sheet.product.says(str(error))
    return ""


def refuse_unpictured(layout: Layout) -> None:
    """Stop where a picture is asked for that the table is too large or not made for."""
    if layout.look.view == "table":
        return
    if layout.look.view == "map":
        refuse_unmapped(layout)
    elif chart_of(layout) == "line":
        _refuse_unlined(layout)
    else:
        _refuse_many(layout)
    if layout.wrap:
        count = len(wrapped_axis(layout, layout.question, layout.wrap).codes)
        if count > MOST_PICTURES:
            raise QueryError(f"{count} pictures were asked for; a page shows {MOST_PICTURES}: choose fewer codes.")


def _refuse_unlined(layout: Layout) -> None:
    if layout.look.change or layout.wrap == layout.sheet.time:
        raise QueryError("Lines run along the periods: put another variable in the rows, and show numbers.")
    if line_names(layout) is None:
        raise QueryError("Lines are of one row variable; leave the second out.")


def _refuse_many(layout: Layout) -> None:
    """A chart has as many series as its table has columns, and as many marks as that has numbers."""
    table = layout.question.table(layout.rows, layout.column)
    series = len(table.axes[-1].codes) if layout.column else 1
    if series <= MOST_SERIES and (table.size <= MOST_MARKS or layout.wrap):
        return
    # Cells without a number have no mark; how many there are is known only where some are withheld.
    if isinstance(table, Crosstab) and table.product.missing(table.grid) is not None:
        return
    raise QueryError(too_many_series(series) if series > MOST_SERIES else too_many_marks(table.size))

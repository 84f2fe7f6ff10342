"""The map of a table: one number an area, the other variables summed over, or one column of them."""

from collections.abc import Callable
from dataclasses import replace

from sfumato.errors import QueryError
from sfumato.foreign_text import joined
from sfumato.geography import Shapes
from sfumato.pictures import Caption, Picture
from sfumato.pictures.map import map_of
from sfumato.pictures.map_sheet import MapWords
from sfumato.pictures.overlay import overlay
from sfumato.query import Figures
from sfumato.query.map import style_of, titled, told_jointly
from sfumato.query.plot import Plot, in_language, plot_of
from sfumato.serve.drawn import apart
from sfumato.serve.pages.cell import address
from sfumato.serve.pages.layout import Layout
from sfumato.serve.pages.link_room import has_room
from sfumato.serve.question import Question

Captioned = Callable[[Figures, Plot], Caption]
MOST_LINKED = 400
"""With more areas than this, the ways to their cells would be most of the page; the table beside it has them."""


def shapes_of(layout: Layout) -> Shapes | None:
    """The shapes of the one row variable, if the release has some."""
    return layout.sheet.edition.release.shapes.get(layout.rows[0]) if len(layout.rows) == 1 else None


def refuse_unmapped(layout: Layout) -> Shapes:
    """The shapes of a map, or why there is none."""
    shapes = shapes_of(layout)
    if layout.look.change:
        raise QueryError("A map is of numbers; show changes as a table or a chart.")
    if shapes is None:
        raise QueryError("There are no shapes for these rows; choose one row variable that has a map.")
    return shapes


def mapped(layout: Layout, question: Question, captioned: Captioned, width: float, *, linked: bool = True) -> Picture:
    """Dots in proportion to numbers that add up, or areas shaded by others, unless the reader chose otherwise."""
    shapes = refuse_unmapped(layout)
    listed, drawings = apart(layout.of(layout.rows[0]))
    table, plot = _numbers(layout, replace(question, groups={**question.groups, layout.rows[0]: tuple(listed)}))
    told = told_jointly(table, plot.marks, mapped_column(layout))
    said = [replace(in_language(mark, layout.look.words.figure), series="") for mark in told]
    leads = linked and not layout.wrap and len(said) <= MOST_LINKED and has_room(layout, len(said))
    marks = [replace(mark, href=_cell(layout, mark.code)) for mark in said] if leads else said
    known = table.axes[0].attribute.levels.codes
    style = replace(
        style_of(table, plot, shapes, layout.look.map),
        overlay=overlay(layout.look.own, known) if layout.look.own else None,
        drawn=drawings[-1] if drawings else layout.missed,
        words=MapWords(**layout.look.words.listed("map_words")),
    )
    caption = titled(captioned(table, plot), table, mapped_column(layout))
    return map_of(shapes, marks, caption, style, width)


def _cell(layout: Layout, code: str) -> str:
    """The same page with the cell of an area in detail."""
    codes = (code, *((mapped_column(layout),) if layout.column else ()))
    return f"?{layout.address(layout.look.but(cell=address(codes)))}#detail"


def own_problem(layout: Layout) -> str:
    """Why numbers that a reader brought cannot be laid over the map; '' where they can, and where there are none."""
    if layout.look.view != "map" or not layout.look.own:
        return ""
    try:
        overlay(layout.look.own, layout.sheet.attribute(layout.rows[0]).levels.codes)
    except QueryError as error:
        return layout.sheet.product.says(str(error))
    return ""


def own_left_out(layout: Layout) -> str:
    """Which of a reader's own numbers are not drawn, as their codes have no shape; the others are."""
    if layout.look.view != "map" or not layout.look.own:
        return ""
    found = overlay(layout.look.own, layout.sheet.attribute(layout.rows[0]).levels.codes)
    if not found.unknown:
        return ""
    words, first = layout.look.words, layout.sheet.product.says(found.first_unknown)
    return joined(" ", [words("chart.own_left_out", count=words.figure(f"{found.unknown:,}")), first])


def _numbers(layout: Layout, question: Question) -> tuple[Figures, Plot]:
    """The numbers of the areas: of all columns together, or of the one that the address names."""
    share, shown = layout.look.share, mapped_column(layout)
    if not shown:
        alone = question.table(layout.rows)
        numbers = alone.shares("whole") if share else alone
        return numbers, plot_of(numbers)
    body = question.table(layout.rows, layout.column)
    table = body.shares(share) if share else body
    return table, plot_of(table, only=shown)


def mapped_column(layout: Layout) -> str:
    """The code of the column that a map shows; '' where it shows all of them together.

    Rows have no share of all columns, so that it is then the first column; numbers that may not be summed have no
    whole, and it is the column of which most areas have a number.
    """
    if not layout.column:
        return ""
    codes = layout.question.table(layout.rows, layout.column).axes[-1].codes
    if layout.look.of in codes:
        return layout.look.of
    if not layout.sheet.product.subject.additive:
        return layout.sheet.fullest(layout.column, codes)
    return codes[0] if layout.look.share == "row" else ""

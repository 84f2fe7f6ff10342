"""The map of a table: one number an area, the other variables summed over, or one column of them."""

from collections.abc import Callable
from dataclasses import replace

from sfumato.errors import QueryError
from sfumato.geography import Shapes
from sfumato.pictures import Caption, Picture
from sfumato.pictures.map import map_of
from sfumato.pictures.map_sheet import MapStyle, MapWords
from sfumato.pictures.overlay import overlay
from sfumato.query import Axis, Figures
from sfumato.query.plot import Plot, plot_of
from sfumato.serve.pages.layout import Layout
from sfumato.serve.question import Question

Captioned = Callable[[Figures, Plot], Caption]


def shapes_of(layout: Layout) -> Shapes | None:
    """The shapes of the one row variable, if the release has some."""
    return layout.sheet.edition.release.shapes.get(layout.rows[0]) if len(layout.rows) == 1 else None


def mapped(layout: Layout, question: Question, captioned: Captioned, width: float) -> Picture:
    """Areas shaded by percentages, or dots in proportion to numbers, unless the reader chose otherwise."""
    shapes = shapes_of(layout)
    if shapes is None:
        raise QueryError("There are no shapes for these rows; choose one row variable that has a map.")
    table, plot = _numbers(layout, question)
    figure = layout.look.words.figure
    marks = [replace(mark, shown=figure(mark.shown), series="") for mark in plot.marks]
    axis = table.axes[0]
    style = MapStyle(
        kind=layout.look.map or ("areas" if layout.look.share else "dots"),
        overlay=overlay(layout.look.own, axis.attribute.levels.codes) if layout.look.own else None,
        missing={one.code: one.said for one in plot.left_out},
        blank=_blank(axis, shapes),
        words=MapWords(**layout.look.words.listed("map_words")),
    )
    return map_of(shapes, marks, captioned(table, plot), style, width)


def _numbers(layout: Layout, question: Question) -> tuple[Figures, Plot]:
    """The numbers of the areas: of all columns together, or of the one that the address names."""
    wanted, share = layout.look.of, layout.look.share
    if not layout.column or (not wanted and share != "row"):
        alone = question.table(layout.rows)
        numbers = alone.shares("whole") if share else alone
        return numbers, plot_of(numbers)
    body = question.table(layout.rows, layout.column)
    table = body.shares(share) if share else body
    columns = body.axes[-1]
    label = columns.labels[columns.place(wanted) if wanted else 0]
    plot = plot_of(table)
    undrawn = tuple(one for one in plot.left_out if one.series == label)
    return table, Plot(tuple(mark for mark in plot.marks if mark.series == label), undrawn)


def _blank(axis: Axis, shapes: Shapes) -> dict[str, str]:
    """The other areas of the same level, so that the country is whole."""
    levels = axis.attribute.levels
    depths = {levels.depths[code] for code in axis.codes if code in levels.depths}
    deepest = max(depths, default=0)
    return {code: levels.label(code) for code in levels.at(deepest) if code in shapes and code not in axis.codes}

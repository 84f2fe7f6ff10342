"""Map: the rows of a table as areas, one column of it, hatched where a number is rough; pages draw it alike."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.errors import QueryError, nearest
from sfumato.foreign_text import joined
from sfumato.geography import Shapes
from sfumato.pictures import Caption, Picture
from sfumato.pictures.map import map_of
from sfumato.pictures.map_sheet import MapStyle, MapWords
from sfumato.pictures.mark import Mark
from sfumato.query.axis import Axis
from sfumato.query.figures import Figures
from sfumato.query.plot import Plot, caption_of, in_language, plot_of
from sfumato.query.wording import words


def mapped(table: Figures, column: str = "", kind: str = "", level: float = 0.90, width: float = 720) -> Picture:
    """The map of a table by one variable that has shapes, or of one column of it."""
    shapes, shown = _shapes(table), _column(table, column)
    plot, figure = plot_of(table, level, only=shown, language=table.language), words(table.language).figure
    told = told_jointly(table, plot.marks, shown, level)
    marks = [replace(in_language(mark, figure), series="") for mark in told]
    caption = titled(caption_of(table, replace(plot, left_out=()), level), table, shown)
    return map_of(shapes, marks, caption, style_of(table, plot, shapes, kind), width)


def told_jointly(table: Figures, marks: Sequence[Mark], column: str = "", level: float = 0.90) -> list[Mark]:
    """The marks of the rows, or of one column, with intervals that all hold at once at a level (Bonferroni).

    Shades are told apart by these: of forty areas that are all alike, intervals that hold one by one would part some in
    most releases.
    """
    stated = sum(mark.stated for mark in marks)
    if not stated:
        return list(marks)
    low, high = table.columns().ends(1 - (1 - level) / stated)
    places = np.arange(low.size).reshape(len(table.axes[0].codes), -1)[:, table.axes[-1].place(column) if column else 0]
    at = dict(zip(table.axes[0].codes, places.tolist(), strict=True))
    return [replace(mark, joint=_joined(low[at[mark.code]], high[at[mark.code]])) for mark in marks]


def _joined(low: float, high: float) -> tuple[float, float]:
    """An interval as it was found, or everything where there is none."""
    return (float(low), float(high)) if math.isfinite(low) and math.isfinite(high) else (-math.inf, math.inf)


def style_of(table: Figures, plot: Plot, shapes: Shapes, kind: str = "") -> MapStyle:
    """Areas have dots in proportion to numbers that add up and are shaded by all others, unless a kind is named."""
    missing = {one.code: one.said for one in plot.left_out}
    chosen = kind or ("dots" if table.adds_up else "areas")
    said = MapWords(**words(table.language).listed("map_words"))
    return MapStyle(kind=chosen, missing=missing, blank=_blank(table.axes[0], shapes), words=said)


def titled(caption: Caption, table: Figures, shown: str) -> Caption:
    """The caption with the one column that is shown."""
    if not shown:
        return caption
    columns = table.axes[-1]
    return replace(caption, title=joined("", [caption.title, ": ", columns.attribute.label, " ", columns.label(shown)]))


def _shapes(table: Figures) -> Shapes:
    rows = table.row_axes
    drawn = {name for release in table.releases for name in release.shapes}
    if len(rows) != 1 or rows[0].attribute.name not in drawn:
        known = f"variables that have some: {', '.join(sorted(drawn))}" if drawn else "the release has none"
        raise QueryError(f"A map is of one row variable that has shapes, and of one release; {known}.")
    if len(table.releases) != 1:
        raise QueryError("A map is of one release; ask one of them for its table.")
    return table.releases[0].shapes[rows[0].attribute.name]


def _column(table: Figures, column: str) -> str:
    """The code of the column that is shown; a table without columns has none."""
    if not table.has_columns:
        if column:
            raise QueryError(f"The table has no columns, and '{column}' was asked for; leave it out.")
        return ""
    axis = table.axes[-1]
    if not column:
        raise QueryError(f"A map shows one number an area; name one column; {nearest('', axis.codes)}")
    return axis.codes[axis.place(column)]


def _blank(axis: Axis, shapes: Shapes) -> dict[str, str]:
    """The other areas of the same level, so that the country is whole."""
    levels, shown = axis.attribute.levels, set(axis.codes)
    deepest = max((levels.depths[code] for code in axis.codes if code in levels.depths), default=0)
    return {code: levels.label(code) for code in levels.at(deepest) if code in shapes and code not in shown}

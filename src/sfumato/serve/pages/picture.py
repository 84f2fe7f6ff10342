"""Pictures of a table: dots or bars with whiskers, lines over periods, a map; on the page and as files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sfumato.errors import QueryError
from sfumato.foreign_text import joined
from sfumato.pictures import KINDS, Caption, Mark, Picture, PictureWords, lines
from sfumato.pictures.mark import MOST_MARKS
from sfumato.query import Crosstab, Figure, Figures
from sfumato.query.estimate import IMPOSSIBLE
from sfumato.query.plot import Plot, caption_of, in_language, plot_of
from sfumato.query.portable import Portable
from sfumato.release import NoNumber
from sfumato.serve.pages.cell import address
from sfumato.serve.pages.charts import chart_of, line_names
from sfumato.serve.pages.fitting import can_be, refuse_unpictured
from sfumato.serve.pages.form import Option
from sfumato.serve.pages.headline import headline, named_apart, titled, universe_named
from sfumato.serve.pages.layout import Layout
from sfumato.serve.pages.line_history import LineHistory
from sfumato.serve.pages.link_room import has_room
from sfumato.serve.pages.map import mapped
from sfumato.serve.pages.order import asked, order_of
from sfumato.serve.pages.view import Head, questions_of
from sfumato.serve.question import Question


@dataclass(frozen=True)
class PictureSize:
    """How wide a picture is drawn, whether what it found stands over it, as it must without a page, and if it leads."""

    width: float
    headed: bool = False
    linked: bool = True


WIDE, NARROW, FILE = PictureSize(900), PictureSize(350), PictureSize(720, headed=True)
MOST_LINES = 6
MOST_FAINT = 120
"""The most rows that are drawn faint behind the lines that were chosen."""


def views_of(layout: Layout) -> tuple[str, ...]:
    """The views that the table can be shown in."""
    return ("table", *(view for view in ("chart", "map") if can_be(layout, view)))


def pictures_of(layout: Layout, frame: PictureSize = FILE) -> list[tuple[Head | None, Picture]]:
    """The pictures of a page, one for each table on it."""
    return [(head, picture) for head, (picture,) in pictures_by_width(layout, [frame])]


def pictures_by_width(layout: Layout, frames: Sequence[PictureSize]) -> Iterator[tuple[Head | None, list[Picture]]]:
    """Each table of a page as pictures of several widths, of numbers that are computed once."""
    refuse_unpictured(layout)
    for question, head in questions_of(layout):
        if layout.look.view != "map" and chart_of(layout) != "line":
            plotted = PlottedRows.of(layout, question)
            yield head, [_rows(layout, plotted, frame) for frame in frames]
        else:
            yield head, [_picture(layout, question, frame) for frame in frames]


def in_both_widths(layout: Layout) -> list[tuple[Head | None, tuple[Picture, Picture]]]:
    """The pictures of a page as a wide window shows them, and as a phone does."""
    return [(head, (wide, narrow)) for head, (wide, narrow) in pictures_by_width(layout, [WIDE, NARROW])]


def _picture(layout: Layout, question: Question, frame: PictureSize) -> Picture:
    if layout.look.view == "map":
        captioned = partial(_caption, layout, frame=frame)
        return mapped(layout, question, captioned, frame.width, linked=frame.linked)
    return _lines(layout, question, frame)


def _undrawn(figure: Figure, *, gaps: bool) -> bool:
    """Whether a cell has no mark: what cannot exist, and what holds no number where there is no room to say why."""
    return figure == IMPOSSIBLE or (isinstance(figure, NoNumber) and not gaps)


@dataclass(frozen=True)
class PlottedRows:
    """The rows of a table as marks, in the order of the table, each with the codes of its cell."""

    numbers: Portable
    plot: Plot
    ordered: Sequence[tuple[Mark, tuple[str, ...]]]

    @classmethod
    def of(cls, layout: Layout, question: Question) -> "PlottedRows":
        body = question.table(layout.rows, layout.column)
        summed = layout.sheet.product.subject.additive and layout.column != layout.sheet.time
        beside = question.table(layout.rows) if layout.column and summed else None
        numbers = asked(body, layout)
        gaps = numbers.size <= MOST_MARKS
        plot = plot_of(numbers, language=layout.look.language, gaps=gaps)
        places = order_of(layout, body, beside).places
        width = len(body.axes[-1].codes) if layout.column else 1
        standing = {place: at for at, place in enumerate(places)}
        every = enumerate(numbers.items())
        stated = [(at, codes) for at, (codes, one) in every if not _undrawn(one, gaps=gaps)]
        drawn = zip(plot.marks, stated, strict=True)
        ordered = sorted(drawn, key=lambda one: standing[one[1][0] // width])
        return cls(numbers, plot, [(mark, codes) for mark, (_, codes) in ordered])


def _rows(layout: Layout, plotted: PlottedRows, frame: PictureSize) -> Picture:
    """The table's rows down the page, in the order of the table, its columns as series."""
    leads = frame.linked and not layout.wrap and has_room(layout, len(plotted.ordered))
    marks = []
    for mark, codes in plotted.ordered:
        # The same page with one cell in detail.
        href = f"?{layout.address(layout.look.but(cell=address(codes)))}#detail" if leads else ""
        marks.append(_said(layout, replace(mark, href=href)))
    return KINDS[chart_of(layout)](marks, _caption(layout, plotted.numbers, plotted.plot, frame), frame.width)


def rows_drawn(layout: Layout) -> list[Option]:
    """The rows of a picture of lines and which of them are drawn; none where all are, as nobody chose among them."""
    body = layout.question.crosstab(line_names(layout) or ())
    if not body.axes or (not layout.look.line and body.size <= MOST_LINES):
        return []
    drawn, axis = _drawn(layout, body), body.axes[0]
    return [Option(code, axis.label(code), place in drawn) for place, code in enumerate(axis.codes)]


def _drawn(layout: Layout, body: Crosstab) -> list[int]:
    """The places of the rows that lines are drawn of: those that the reader named, else the first as they stand."""
    if not body.axes:
        return [0]
    codes = body.axes[0].codes
    places = order_of(replace(layout, rows=(body.axes[0].attribute.name,), column=None), body, None).places
    named = [place for place in places if codes[place] in layout.look.line]
    return [*(named or places)][:MOST_LINES]


def _lines(layout: Layout, question: Question, frame: PictureSize) -> Picture:
    """Rows of the table over the periods of the series, each period from the release that stands for it."""
    names = line_names(layout)
    if names is None:
        raise QueryError("Lines are of one row variable; leave the second out.")
    body = question.crosstab(names)
    drawn = _drawn(layout, body)
    linked = (MOST_LINES + min(body.size, MOST_FAINT)) * len(layout.sheet.timeline.periods)
    history = LineHistory.of(layout, question, names, linked=frame.linked and has_room(layout, linked))
    marks = [mark for place in drawn for mark in history.marks(place)]
    others = [place for place in range(body.size) if place not in drawn] if body.size <= MOST_FAINT else []
    lined = replace(layout, rows=names, column=layout.sheet.time if layout.timed else None)
    found = headline(layout if layout.timed else lined)
    caption = replace(_caption(lined, history.last, Plot(tuple(marks)), frame, history), headline=found)
    if len(drawn) < body.size:
        some = layout.look.words.counted("chart.some", len(drawn), all=body.size)
        caption = replace(caption, source=joined(" ", [some, caption.source]))
    behind = [mark for place in others for mark in history.behind(place, drawn[: MOST_LINES - 1])]
    return lines(marks, caption, frame.width, behind)


def _said(layout: Layout, mark: Mark) -> Mark:
    return in_language(mark, layout.look.words.figure)


def _caption(
    layout: Layout, table: Figures, plot: Plot, frame: PictureSize, history: LineHistory | None = None
) -> Caption:
    """What stands round a picture; of lines the releases of all their periods are cited, and the span is named."""
    words = PictureWords(**layout.look.words.listed("picture"))
    caption = caption_of(table, plot, releases=history.releases if history else ())
    if layout.look.change:
        words = replace(words, hollow=layout.look.words("chart.hollow"))
    if layout.share:
        of = layout.look.words(f"build.share_{layout.share}")
        axis = layout.look.words("table.percent", of=of, unit=layout.sheet.product.subject.unit)
        caption = replace(caption, axis=axis)
    parts = [titled(layout), *named_apart(layout), *universe_named(layout)]
    title = joined(" · ", [*parts, *([history.span] if history else _period(layout, table))])
    return replace(
        caption,
        headed=frame.headed,
        titled=True,
        words=words,
        title=title,
        headline=headline(layout),
        figure=layout.look.words.figure,
    )


def _period(layout: Layout, table: Figures) -> list[str]:
    """The period of a picture of one release; where periods are drawn, or compared, they are named there."""
    periods = {release.manifest.period for release in table.releases}
    return [*periods] if len(periods) == 1 and not layout.look.change and periods != {""} else []


def file_of(pictures: Sequence[tuple[Head | None, Picture]], form: str) -> bytes:
    """The one picture of a page as a file."""
    if len(pictures) != 1:
        raise QueryError(
            f"{len(pictures)} pictures are on this page; a file holds one: leave out the wrapping variable."
        )
    picture = pictures[0][1]
    if form == "png":
        return picture.to_png()
    return (picture.to_vega() if form == "json" else picture.to_svg()).encode()

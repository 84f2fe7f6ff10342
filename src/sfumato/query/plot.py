"""Plot: a table as a picture, its rows down the page or along the periods, its columns as series."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from sfumato.errors import QueryError, nearest
from sfumato.foreign_text import joined
from sfumato.pictures import KINDS, Caption, Mark, Picture, PictureWords
from sfumato.pictures.mark import MOST_MARKS
from sfumato.query.answer import Answer
from sfumato.query.change import NONE, Change
from sfumato.query.digits import Digits
from sfumato.query.downloads.tidy import records
from sfumato.query.estimate import IMPOSSIBLE, Estimate
from sfumato.query.figures import Figures
from sfumato.query.layout import signed
from sfumato.query.notices import cited_together, notices_of
from sfumato.query.untold import untold
from sfumato.query.wording import words
from sfumato.release import NoNumber, Release, Withheld


@dataclass(frozen=True)
class Undrawn:
    """A cell that holds no number, and what is said of it."""

    code: str
    series: str
    said: str


@dataclass(frozen=True)
class Plot:
    """The marks of a table, and the cells that have none."""

    marks: tuple[Mark, ...]
    left_out: tuple[Undrawn, ...] = ()


def plot_of(table: Figures, level: float = 0.90, only: str = "", language: str = "en", *, gaps: bool = False) -> Plot:
    """One mark a cell: its row is its label, its column its series, and all of its errors go with it.

    With `only`, the code of a column, the cells of that column alone. With `gaps` cells that hold no number have a mark
    too, which says why; what cannot exist has none.
    """
    marks, left_out = [], []
    every = product(*(axis.codes for axis in table.axes))
    for flat, (codes, record) in enumerate(zip(every, records(Answer(table)), strict=True)):
        if only and codes[-1] != only:
            continue
        number = table.figure(flat)
        named = [axis.label(code) for axis, code in zip(table.axes, codes, strict=True)]
        rows = named[:-1] if table.has_columns else named
        label, series = joined(" · ", rows) or table.statistic, named[-1] if table.has_columns else ""
        code = " · ".join(codes[:-1] if table.has_columns else codes)
        if isinstance(number, NoNumber):
            left_out.append(Undrawn(code, series, joined(": ", [joined(", ", named), number.reason])))
            if gaps and number != IMPOSSIBLE:
                absent = Mark(label, 0.0, None, None, series=series, code=code, shown=number.code, carried=record)
                marks.append(replace(absent, absent=number.reason))
            continue
        marks.append(replace(mark_of(number, label, level, language), series=series, code=code, carried=record))
    return Plot(tuple(marks), tuple(left_out))


def mark_of(estimate: Estimate, label: str, level: float = 0.90, language: str = "en") -> Mark:
    """The mark of one estimate; an error that is withheld stays withheld, and a change has its verdict in words."""
    digits, margin = Digits.of(estimate), estimate.moe(level)
    sign = "%" if digits.percent else ""
    value = f"{digits.number(estimate.value)}{sign}"
    mark = Mark(label, float(estimate.value), None, None, estimate.grade)
    if isinstance(estimate, Change):
        verdict, value = estimate.verdict(), signed(value, estimate)
        mark = replace(mark, sign=verdict != NONE, verdict=words(language)(f"verdict.{verdict}"))
    if isinstance(margin, Withheld):
        return replace(
            mark,
            withheld=untold(margin, {estimate.as_measured}, language),
            shown=f"{value} ± {words(language)('text.withheld')}",
        )
    low, high = estimate.interval(level)
    least, most = digits.ends(low, high)
    mark = replace(mark, shown=f"{value} ± {digits.margin(margin)}", ends_shown=(f"{least}{sign}", f"{most}{sign}"))
    return replace(mark, low=low, high=high, noise_share=estimate.noise_share)


def in_language(mark: Mark, figure: Callable[[str], str]) -> Mark:
    """The mark with its numbers as a language writes them."""
    low, high = map(figure, mark.ends_shown)
    return replace(mark, shown=figure(mark.shown), ends_shown=(low, high))


def plotted(table: Figures, kind: str = "dot", level: float = 0.90, width: float = 720) -> Picture:
    """The picture of a table; a release that is withdrawn or not to be published says so across it."""
    if kind not in KINDS:
        raise QueryError(f"A picture of kind '{kind}' was asked for; {nearest(kind, KINDS)}")
    gaps, figure = kind != "line" and table.size <= MOST_MARKS, words(table.language).figure
    plot = plot_of(table, level, language=table.language, gaps=gaps)
    marks = tuple(in_language(mark, figure) for mark in plot.marks)
    caption = caption_of(table, plot, level)
    if kind == "line" and table.has_columns and not table.time:
        caption = replace(caption, headline=_said_of(table.margin([table.axes[-1].attribute.name])))  # of the lines
    return KINDS[kind](marks, caption, width)


def _said_of(table: Figures | None) -> str:
    """What a table found, in its language; '' where nothing is said of it."""
    found = table.headline() if table else None
    return found.said(words(table.language)) if table and found else ""


def caption_of(table: Figures, plot: Plot, level: float = 0.90, releases: Sequence[Release] = ()) -> Caption:
    """The title, unit, citation and warnings of a table, what its numbers leave out, and why some are missing.

    Cited are the releases of the table, or those that are named.
    """
    said, releases = words(table.language), releases or table.releases
    missing = [said("text.not_drawn", count=len(plot.left_out)), plot.left_out[0].said] if plot.left_out else []
    caveat = filter(None, [table.caveats.sentence(table.language)])
    own = said.listed("picture") | {"interval": said("text.level_interval", level=said.figure(f"{level:.0%}"))}
    return Caption(
        table.title,
        table.unit,
        source=joined(" ", [*caveat, *missing, cited_together(releases)]),
        banner=" ".join(notice.warning for release in releases for notice in notices_of(release) if notice.grave),
        percent=table.unit == "share",
        headline=_said_of(table),
        words=PictureWords(**{**own, **_hollow(table)}),
        figure=said.figure,
    )


def _hollow(table: Figures) -> dict[str, str]:
    """What a hollow mark says of a change."""
    said = words(table.language)
    return {"hollow": said("text.hollow_change", what=said("verdict.none"))} if table.columns().more else {}

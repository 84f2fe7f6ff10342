"""Plot: a table as a picture, its rows down the page or along the periods, its columns as series."""

from dataclasses import dataclass, replace

from sfumato.errors import QueryError, nearest
from sfumato.pictures import KINDS, Caption, Mark, Picture, PictureWords
from sfumato.query.answer import Answer
from sfumato.query.downloads.tidy import records
from sfumato.query.estimate import Estimate
from sfumato.query.figures import Figures
from sfumato.query.notices import cited, notices_of
from sfumato.release import NoNumber, Withheld
from sfumato.release.figures import like, number


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


def plot_of(table: Figures, level: float = 0.90) -> Plot:
    """One mark a cell: its row is its label, its column its series, and all of its errors go with it."""
    marks, left_out = [], []
    for (codes, figure), record in zip(table.items(), records(Answer(table)), strict=True):
        named = [axis.labels[axis.codes.index(code)] for axis, code in zip(table.axes, codes, strict=True)]
        rows = named[:-1] if table.has_columns else named
        label, series = " · ".join(rows) or table.product.subject.title, named[-1] if table.has_columns else ""
        code = " · ".join(codes[:-1] if table.has_columns else codes)
        if isinstance(figure, NoNumber):
            left_out.append(Undrawn(code, series, f"{', '.join(named)}: {figure.reason}"))
            continue
        marks.append(replace(mark_of(figure, label, level), series=series, code=code, carried=record))
    return Plot(tuple(marks), tuple(left_out))


def mark_of(estimate: Estimate, label: str, level: float = 0.90) -> Mark:
    """The mark of one estimate; an error that is withheld stays withheld."""
    share = estimate.unit == "share"
    figure = _percent(estimate.value) if share else number(estimate.value)
    margin, mark = estimate.moe(level), Mark(label, float(estimate.value), None, None, estimate.grade)
    if isinstance(margin, Withheld):
        return replace(mark, shown=f"{figure} ± withheld", withheld=margin.reason)
    low, high = estimate.interval(level)
    error = _percent(margin) if share else like(margin, estimate.value)
    return replace(mark, low=low, high=high, noise_share=estimate.noise_share, shown=f"{figure} ± {error}")


def plotted(table: Figures, kind: str = "dot", level: float = 0.90, width: float = 720) -> Picture:
    """The picture of a table; a release that is withdrawn or not to be published says so across it."""
    if kind not in KINDS:
        raise QueryError(f"A picture of kind '{kind}' was asked for; {nearest(kind, KINDS)}")
    plot = plot_of(table, level)
    return KINDS[kind](plot.marks, caption_of(table, plot, level), width)


def caption_of(table: Figures, plot: Plot, level: float = 0.90) -> Caption:
    """The title, the unit, the citation and the warnings of a table, and why cells are missing where some are."""
    missing = f"{len(plot.left_out)} not drawn. {plot.left_out[0].said} " if plot.left_out else ""
    return Caption(
        table.title,
        table.unit,
        source=f"{missing}{' '.join(map(cited, table.releases))}",
        banner=" ".join(notice.warning for release in table.releases for notice in notices_of(release) if notice.grave),
        percent=table.unit == "share",
        words=PictureWords(interval=f"{level:.0%} interval"),
    )


def _percent(share: float) -> str:
    """A share as people read it.

    >>> _percent(0.1234), _percent(-0.02)
    ('12.3%', '−2.0%')
    """
    return f"{share:.1%}".replace("-", "−")

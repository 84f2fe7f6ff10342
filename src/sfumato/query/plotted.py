"""Plotted: a table as a picture, its rows down the page or along the periods, its columns as series."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sfumato.errors import QueryError, nearest
from sfumato.pictures import KINDS, Caption, Mark, Picture, PictureWords
from sfumato.query.estimate import Estimate
from sfumato.query.ratio import Refused
from sfumato.release import Withheld
from sfumato.release.figures import like, number

if TYPE_CHECKING:
    from sfumato.query.crosstab import Crosstab
    from sfumato.query.shares import Shares


@dataclass(frozen=True)
class Plot:
    """The marks of a table and the reasons why some of its cells have none."""

    marks: tuple[Mark, ...]
    left_out: tuple[str, ...] = ()


def plot_of(table: "Crosstab | Shares", level: float = 0.90) -> Plot:
    """One mark a cell: its row is its label, its column its series, and all of its errors go with it."""
    base = _counts(table)
    marks, left_out = [], []
    for (codes, estimate), record in zip(table.items(), table.records(), strict=True):
        named = [axis.labels[axis.codes.index(code)] for axis, code in zip(table.axes, codes, strict=True)]
        rows = named[:-1] if base.has_columns else named
        label, series = " · ".join(rows) or base.product.subject.title, named[-1] if base.has_columns else ""
        if isinstance(estimate, Refused):
            left_out.append(f"{', '.join(named)}: {estimate.reason}")
            continue
        code = " · ".join(codes[:-1] if base.has_columns else codes)
        marks.append(replace(mark_of(estimate, label, level), series=series, code=code, carried=record))
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


def plotted(table: "Crosstab | Shares", kind: str = "dot", level: float = 0.90, width: float = 720) -> Picture:
    """The picture of a table; a release that is withdrawn or not to be published says so across it."""
    if kind not in KINDS:
        raise QueryError(f"A picture of kind '{kind}' was asked for; {nearest(kind, KINDS)}")
    plot = plot_of(table, level)
    return KINDS[kind](plot.marks, caption_of(table, plot, level), width)


def caption_of(table: "Crosstab | Shares", plot: Plot, level: float = 0.90) -> Caption:
    """The title, the unit, the citation and the warnings of a table, and why cells are missing where some are."""
    base = _counts(table)
    missing = f"{len(plot.left_out)} not drawn. {plot.left_out[0]} " if plot.left_out else ""
    shares = base is not table
    return Caption(
        table.title,
        "share" if shares else base.product.subject.unit,
        source=f"{missing}{base.engine.cite()}",
        banner=" ".join(base.engine.warnings()),
        percent=shares,
        words=PictureWords(interval=f"{level:.0%} interval"),
    )


def _counts(table: "Crosstab | Shares") -> "Crosstab":
    """The table that shares are shares of, or the table itself."""
    from sfumato.query.shares import Shares

    return table.table if isinstance(table, Shares) else table


def _percent(share: float) -> str:
    """A share as people read it.

    >>> _percent(0.1234), _percent(-0.02)
    ('12.3%', '−2.0%')
    """
    return f"{share:.1%}".replace("-", "−")

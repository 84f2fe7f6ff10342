"""Shares: every cell of a table within its row, its column or the whole, with the error of part and whole together."""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError, nearest
from sfumato.query.axis import Axis, box_at
from sfumato.query.caveats import Caveats
from sfumato.query.columns import Floats
from sfumato.query.detail import Detail, detail_of_share
from sfumato.query.estimate import Estimate, Figure
from sfumato.query.figures import Figures, Key
from sfumato.query.portable import Portable
from sfumato.query.ranks import ranks_of_intervals
from sfumato.query.ratio import ratio_of
from sfumato.query.ratio_columns import RatioColumns
from sfumato.query.share_comparison import PartOfWhole, ShareComparison, difference_of_shares
from sfumato.query.source import Source
from sfumato.query.wording import words
from sfumato.release import NoNumber, Withheld
from sfumato.schema import Box


class Shares(Portable):
    """The cells of a table, each as a share of the whole that some of its axes tell.

    `covariance` is that of each cell with its whole, in the unit of the table.
    """

    def __init__(
        self, table: Portable, whole: Figures, source: Source, covariance: Floats | Withheld, within: Box
    ) -> None:
        self.source, self.within = source, within
        self.table, self.whole, self.axes, self.where = table, whole, table.axes, table.where
        self.product, self.releases, self.has_columns = table.product, table.releases, table.has_columns
        self._covariance = covariance
        place = np.arange(whole.size).reshape([len(one.codes) if one in whole.axes else 1 for one in self.axes])
        self._place: NDArray[np.intp] = np.broadcast_to(place, table.shape).ravel()

    @property
    def title(self) -> str:
        by = ", ".join(axis.attribute.label for axis in self.whole.axes)
        said = words(self.language)
        return said("title.shares", title=self.table.title, of=by or said("sheet.share_whole"))

    @property
    def caveats(self) -> Caveats:
        return self.table.caveats.over(self.whole.caveats)

    def covers(self, axis: Axis) -> bool:
        return self.table.covers(axis)

    def margin(self, names: Sequence[str]) -> Figures | None:
        """Totals as shares of the same wholes: of its own row or column a total is 100%."""
        totals = self.table.margin(names)
        if not isinstance(totals, Portable):
            return None
        return totals.shares([axis.attribute.name for axis in self.whole.axes if axis.attribute.name in names])

    @property
    def unit(self) -> str:
        return "share"

    @property
    def adds_up(self) -> bool:
        return False

    @property
    def shares_of(self) -> tuple[str, ...]:
        return tuple(axis.attribute.label for axis in self.whole.axes)

    def figure(self, flat: int) -> Figure:
        over, under = self.table.figure(flat), self.whole.figure(int(self._place[flat]))
        if isinstance(over, NoNumber) or isinstance(under, NoNumber):
            return over if isinstance(over, NoNumber) else under
        shared = self._covariance if isinstance(self._covariance, Withheld) else float(self._covariance[flat])
        rest = over.noise_variance + under.noise_variance - 2 * shared
        sampled = self.source.sampling.share(float(over.value), float(under.value), over.noise_variance, rest)
        try:
            found = ratio_of(over, under, shared, "share", sampled, inside=True)
            return found.of_nonnegative(self.product.subject.nonnegative)
        except QueryError as error:
            return NoNumber(self.product.says(str(error)))

    @cached_property
    def _columns(self) -> RatioColumns:
        parts, wholes = self.table.columns(), self.whole.columns().at(self._place)
        over, under = (one.estimate.astype(np.float64) for one in (parts, wholes))
        shared = np.full(len(over), np.nan) if isinstance(self._covariance, Withheld) else self._covariance
        rest = parts.noise_variance + wholes.noise_variance - 2 * shared
        sampled = self.source.sampling.shares(over, under, parts.noise_variance, rest)
        above = self.product.subject.nonnegative
        shares = RatioColumns.of(parts, wholes, shared, sampled, apart=False, inside=True, nonnegative=above)
        return shares.with_reasons(self.product.says)

    def compare(self, one: Key, other: Key) -> ShareComparison:
        """Whether two shares really differ; the error counts what they have in common."""
        return difference_of_shares(self.source, *(self.part(self.place(key)) for key in (one, other)))

    def detail(self, key: Key) -> Detail:
        """What is to be known of a share: its own errors, and the numbers that it is of."""
        place = self.place(key)
        flat = int(np.ravel_multi_index(place, self.shape)) if self.shape else 0
        labels = tuple(axis.labels[index] for axis, index in zip(self.axes, place, strict=True))
        over, under = self.table.figure(flat), self.whole.figure(int(self._place[flat]))
        return detail_of_share(self.source, self.figure(flat), labels, over, under)

    def part(self, place: Sequence[int]) -> PartOfWhole:
        """The boxes of a cell and of its whole."""
        kept = [(axis, index) for axis, index in zip(self.axes, place, strict=True) if axis in self.whole.axes]
        whole = box_at([axis for axis, _ in kept], [index for _, index in kept], self.within)
        return PartOfWhole(box_at(self.axes, place, self.within), whole)

    def ranks(self, column: str | int | None = None, level: float = 0.90) -> dict[str, tuple[int, int]]:
        """For each row the ranks that hold its true one with this probability.

        Shares of one whole have the ranks of their parts. Else each true share lies in its interval at a level shared
        out over all rows (Bonferroni), and no more than that is needed for the ranks.
        """
        if self.axes and self.axes[0] not in self.whole.axes:
            return self.table.ranks(column, level)
        found = ranks_within([self.figure(int(flat)) for flat in self.rows_of(column)], level)
        return dict(zip(self.axes[0].codes, found, strict=True))


def ranks_within(figures: Sequence[Figure], level: float) -> list[tuple[int, int]]:
    """The ranks of ratios by their intervals, at a level shared out over all of them (Bonferroni)."""
    for one in figures:
        if isinstance(one, Estimate) and isinstance(one.variance, Withheld):
            raise QueryError(f"Ranks cannot be stated: {one.variance.reason}")
    each = 1 - (1 - level) / max(len(figures), 1)
    return [*ranks_of_intervals([_within(one, each) for one in figures])]


def _within(share: Figure, level: float) -> tuple[float, float]:
    """Where a true share lies at this level; anywhere where there is no number, as its whole may be 0."""
    if isinstance(share, NoNumber):
        return -math.inf, math.inf
    try:
        return share.interval(level)
    except QueryError:
        return -math.inf, math.inf


def kept_of(table: Figures, of: str | Sequence[str]) -> tuple[str, ...]:
    """The variables whose totals are the wholes: those of a row, of a column, none for the whole, or as named."""
    names = [axis.attribute.name for axis in table.axes]
    if of == "whole":
        return ()
    if of == "row":
        if not table.has_columns:
            raise QueryError("Shares of a row need columns; name the variable of the columns, or take another whole.")
        return tuple(names[:-1])
    if of == "column":
        return tuple(names[-1:]) if table.has_columns else ()
    asked = (of,) if isinstance(of, str) else tuple(of)
    for name in asked:
        if name not in names:
            raise QueryError(f"Shares of '{name}' were asked for; {nearest(name, ['row', 'column', 'whole', *names])}")
    return asked

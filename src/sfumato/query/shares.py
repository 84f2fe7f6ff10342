"""Shares: every cell of a table within its row, its column or the whole, with the error of part and whole together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product as combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError, nearest
from sfumato.query.columns import Columns, Floats
from sfumato.query.ratio import Ratio, Refused, ratio_of
from sfumato.query.shown import as_html, as_text
from sfumato.query.tails import z_score
from sfumato.query.tidy import Tidy
from sfumato.release import Withheld
from sfumato.schema import Grid

if TYPE_CHECKING:
    from sfumato.pictures import Picture
    from sfumato.query.crosstab import Crosstab, Key


@dataclass(frozen=True, eq=False)
class ShareColumns(Columns):
    """Shares as arrays, with the margins of Fieller; NaN where a share is refused or its error withheld."""

    over: Floats = None  # type: ignore[assignment]
    under: Floats = None  # type: ignore[assignment]
    over_variance: Floats = None  # type: ignore[assignment]
    under_variance: Floats = None  # type: ignore[assignment]
    covariance: Floats = None  # type: ignore[assignment]

    def moe(self, level: float = 0.90) -> Floats:
        """The longer side of each interval; NaN where the whole is within its noise of 0 at this level."""
        z_squared = z_score(level) ** 2
        a = self.under * self.under - z_squared * self.under_variance
        a = np.where(a > 0, a, np.nan)
        b = self.over * self.under - z_squared * self.covariance
        c = self.over * self.over - z_squared * self.over_variance
        reach = np.sqrt(np.maximum(b * b - a * c, 0.0))
        longer = np.maximum(self.estimate - (b - reach) / a, (b + reach) / a - self.estimate)
        found: Floats = np.hypot(longer, z_score(level) * self.se_sampling)
        return found


class Shares(Tidy):
    """The cells of a table, each as a share of the whole that some of its axes tell."""

    def __init__(self, table: "Crosstab", whole: "Crosstab", kept: tuple[str, ...]) -> None:
        self.table, self.whole, self.kept, self.axes = table, whole, kept, table.axes
        self.product, self.has_columns, self.where = table.product, table.has_columns, table.where
        place = np.arange(whole.totals.size).reshape([len(one.codes) if one in whole.axes else 1 for one in self.axes])
        self._place: NDArray[np.intp] = np.broadcast_to(place, table.shape).ravel()

    @property
    def title(self) -> str:
        by = ", ".join(axis.attribute.label for axis in self.whole.axes)
        return f"{self.table.title}, shares of {by or 'the whole'}"

    @cached_property
    def _covariance(self) -> Floats | Withheld:
        found = self.table.product.with_whole(self.table.grid, self.kept)
        return found if isinstance(found, Withheld) else found.ravel() * float(self.table.product.subject.step) ** 2

    def at(self, place: tuple[int, ...]) -> Ratio | Refused:
        """The share at a place counted from 0 on each axis, or why there is none."""
        return self._share(self.table.flat(place))

    def __getitem__(self, key: "Key") -> Ratio:
        found = self.at(self.table.place(key))
        if isinstance(found, Refused):
            raise QueryError(found.reason)
        return found

    def items(self) -> Iterator[tuple[tuple[str, ...], Ratio | Refused]]:
        """Every cell: its codes and its share, the last axis running fastest."""
        for flat, codes in enumerate(combinations(*(axis.codes for axis in self.axes))):
            yield codes, self._share(flat)

    def _share(self, flat: int) -> Ratio | Refused:
        over, under = self.table.estimate(flat), self.whole.estimate(int(self._place[flat]))
        sampled = self.table.engine.sampling(self.table.product).share(float(over.value), float(under.value))
        shared = self._covariance if isinstance(self._covariance, Withheld) else float(self._covariance[flat])
        try:
            return ratio_of(over, under, shared, "share", sampled)
        except QueryError as error:
            return Refused(str(error))

    def plot(self, kind: str = "dot", level: float = 0.90, width: float = 720) -> "Picture":
        """The shares as a picture, as the table they are shares of."""
        from sfumato.query.plotted import plotted

        return plotted(self, kind, level, width)

    @cached_property
    def _columns(self) -> ShareColumns:
        parts, wholes = self.table.columns(), self.whole.columns()
        over, under = parts.estimate.astype(np.float64), wholes.estimate.astype(np.float64)[self._place]
        noise_under = wholes.noise_variance[self._place]
        shared = np.full(len(over), np.nan) if isinstance(self._covariance, Withheld) else self._covariance
        refused = (under == 0) | (under * under <= z_score(0.95) ** 2 * noise_under)
        under = np.where(refused, np.nan, under)
        share = over / under
        noise = parts.noise_variance - 2 * share * shared + share * share * noise_under
        sampled = self.table.engine.sampling(self.table.product).shares(over, under)
        sampled = np.where(refused, np.nan, sampled)
        return ShareColumns(
            share,
            np.maximum(noise / (under * under), 0.0),
            sampled,
            parts.cells,
            parts.grades,
            over=over,
            under=under,
            over_variance=parts.noise_variance,
            under_variance=noise_under,
            covariance=shared,
        )

    def columns(self) -> ShareColumns:
        """Every share at once, as arrays; NaN where one is refused or its error withheld."""
        return self._columns

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def cite(self) -> str:
        return f"{self.title}. {self.table.engine.cite()}"


def shares_of(table: "Crosstab", of: str | Sequence[str]) -> Shares:
    """The table as shares of its rows, columns, the whole, or of the totals that some of its variables tell."""
    from sfumato.query.crosstab import Crosstab

    kept = _kept(table, of)
    if not table.product.subject.additive:
        raise QueryError(f"{table.product.subject.title} may not be summed, so no cell is a share of a whole.")
    axes = tuple(axis for axis in table.axes if axis.attribute.name in kept)
    grid = Grid(tuple(axis for axis in table.grid.axes if axis[0] in kept), table.grid.within)
    return Shares(table, Crosstab(table.engine, table.product, axes, grid, table.where, has_columns=False), kept)


def _kept(table: "Crosstab", of: str | Sequence[str]) -> tuple[str, ...]:
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

"""Crosstab: a table of estimates with its axes, to look at, index, compare and take along."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product as combinations
from typing import Any

import numpy as np

from sfumato.errors import QueryError
from sfumato.query.axis import Axis, box_at
from sfumato.query.caveats import Caveats
from sfumato.query.columns import Columns, emptied, in_units
from sfumato.query.comparison import Comparison
from sfumato.query.detail import Detail, detail_of
from sfumato.query.estimate import Figure
from sfumato.query.figures import LARGEST_PAGE, Key, titled
from sfumato.query.portable import Portable
from sfumato.query.ranks import MOST_ROWS, rank_intervals, ranks_of_intervals, variances_of_differences
from sfumato.query.ratio_columns import noisy_side
from sfumato.query.shares import Shares, kept_of
from sfumato.query.source import Source
from sfumato.release import Withheld, withheld
from sfumato.schema import Box, Grid
from sfumato.schema.leaf_groups import Flags


class Crosstab(Portable):
    """Estimates over the axes of a table; a cell is found by the labels or codes of its row and column.

    Numbers are computed when they are first asked for.
    """

    def __init__(
        self, source: Source, axes: tuple[Axis, ...], within: Box, where: Mapping[str, Any], *, has_columns: bool
    ) -> None:
        self.source, self.axes, self.within, self.where = source, axes, within, where
        self.product, self.releases, self.has_columns = source.product, (source.release,), has_columns

    @property
    def title(self) -> str:
        return titled(self.statistic, [axis.attribute for axis in self.axes], self.language)

    @property
    def caveats(self) -> Caveats:
        return self.source.caveats

    @cached_property
    def grid(self) -> Grid:
        return Grid(tuple((axis.attribute.name, axis.groups) for axis in self.axes), self.within)

    @cached_property
    def totals(self) -> Any:
        """The totals in steps."""
        return self.product.totals(self.grid).reshape(self.shape)

    @cached_property
    def variances(self) -> Any:
        """The noise variances in squared steps, or the reason why they are withheld."""
        return self.product.variances(self.grid).reshape(self.shape)

    @cached_property
    def _columns(self) -> Columns:
        step, steps = self.product.subject.step, self.totals.ravel()
        statuses = self.product.missing(self.grid)
        empty = statuses.missing if statuses else np.zeros(len(steps), dtype=bool)
        values = in_units(steps, step)
        noise = np.full(len(steps), np.nan)
        if not isinstance(self.variances, Withheld):
            noise = np.where(empty, np.nan, self.variances.ravel() * float(step) ** 2)
        sampled = np.where(empty, np.nan, self.source.sampling.totals(values.astype(np.float64), noise))
        counts = self.product.cell_counts(self.grid).ravel()
        grades = self.source.release.manifest.grades
        law, caveats = self.source.law(self.grid), self.caveats
        found = Columns(emptied(values, empty), noise, sampled, counts, grades, law, statuses, caveats=caveats)
        return replace(found, bought=self.source.bought(self.grid, noisy_side(found)))

    @cached_property
    def _unsaid(self) -> tuple[Withheld | None, Withheld | None]:
        """Why the noise and the sampling error are withheld, where they are."""
        noise = withheld(self.variances)
        return noise, withheld(self.source.sampling.total(0.0, noise or 0.0))

    def figure(self, flat: int) -> Figure:
        return self._columns.figure(flat, *self._unsaid, self.product.subject)

    def box(self, place: Sequence[int]) -> Box:
        """The box that a cell sums."""
        return box_at(self.axes, place, self.within)

    def pieces(self, most: int = LARGEST_PAGE) -> Iterator["Crosstab"]:
        if self.size <= most:
            yield self
            return
        lengths = self.shape
        cut = next(place for place in range(len(lengths)) if math.prod(lengths[place + 1 :]) <= most)
        step, codes = most // math.prod(lengths[cut + 1 :]), self.axes[cut].codes
        runs = [codes[start : start + step] for start in range(0, len(codes), step)]
        for *outer, run in combinations(*(((code,) for code in axis.codes) for axis in self.axes[:cut]), runs):
            few = [axis.only(some) for axis, some in zip(self.axes, [*outer, run], strict=False)]
            yield self._over((*few, *self.axes[cut + 1 :]))

    def covers(self, axis: Axis) -> bool:
        return bool((axis.groups.covered | ~self.within.mask(axis.attribute)).all())

    def in_order(self, name: str, codes: Sequence[str]) -> "Crosstab":
        """The same table with the levels of a variable in another order."""
        return self._over(tuple(axis.only(codes) if axis.attribute.name == name else axis for axis in self.axes))

    def margin(self, names: Sequence[str]) -> "Crosstab | None":
        if not self.product.subject.additive or self.source.refusal({*names, *self.where}):
            return None
        return self._over(tuple(axis for axis in self.axes if axis.attribute.name in names), has_columns=False)

    def _over(self, axes: tuple[Axis, ...], *, has_columns: bool | None = None) -> "Crosstab":
        """The same table over other axes."""
        columns = self.has_columns if has_columns is None else has_columns
        return Crosstab(self.source, axes, self.within, self.where, has_columns=columns)

    def compare(self, one: Key, other: Key) -> Comparison:
        """Whether two cells really differ."""
        return self.source.difference(*(self.box(self.place(key)) for key in (one, other)))

    def detail(self, key: Key) -> Detail:
        """What is to be known of a cell: its errors apart, what was summed, and how it may be used."""
        place = self.place(key)
        labels = tuple(axis.labels[index] for axis, index in zip(self.axes, place, strict=True))
        return detail_of(self.source, self.at(place), labels, overlaps=any(axis.has_overlaps for axis in self.axes))

    def shares(self, of: str | Sequence[str] = "whole") -> Shares:
        """Each cell as a share: of its "row", of its "column", of the "whole", or of the total that variables tell."""
        kept = kept_of(self, of)
        whole = self.margin(kept)
        if whole is None:
            why = self.source.refusal({*kept, *self.where})
            raise QueryError(
                why or f"{self.product.subject.title} may not be summed, so no cell is a share of a whole."
            )
        shared = self.product.errors.with_whole(self.grid, kept).reshape(-1) * float(self.product.subject.step) ** 2
        return Shares(self, whole, self.source, shared, self.within)

    def ranks(self, column: str | int | None = None, level: float = 0.90) -> dict[str, tuple[int, int]]:
        """For each row the ranks, 1 the largest, that hold its true one with this probability.

        A row that holds no number has none, and may stand anywhere among those that do.
        """
        values, rows = self.in_column(column), self._rows(column)
        if len(values) > MOST_ROWS:
            raise QueryError(f"Ranks of {len(values):,} rows compare all pairs; show at most {MOST_ROWS:,} rows.")
        statuses = self.product.missing(rows)
        held = ~statuses.missing if statuses else np.ones(len(values), dtype=bool)
        if statuses and not held.any():
            first = statuses.kinds[int(statuses.which.max()) - 1]
            raise QueryError(f"Ranks cannot be stated, as no row holds a number: {first.reason}")
        if self.columns().law.by_ends or self.columns().bought is not None:
            ends = self.columns().ends(1 - (1 - level) / int(held.sum()))  # all hold at once (Bonferroni)
            found = ranks_of_intervals([*zip(*(one[self.rows_of(column)[held]].tolist() for one in ends), strict=True)])
        else:
            found = self._ranks_by_variances(
                [one for one, there in zip(values, held, strict=True) if there], rows, held, level
            )
        unknown = len(values) - int(held.sum())  # a row without a number may truly stand before any other
        codes = [code for code, there in zip(self.axes[0].codes, held, strict=True) if there]
        return {code: (first, last + unknown) for code, (first, last) in zip(codes, found, strict=True)}

    def _ranks_by_variances(self, told: list[float], rows: Grid, held: Flags, level: float) -> list[tuple[int, int]]:
        """The ranks of the rows that hold a number, by the variances of their differences."""
        name, groups = rows.axes[0]
        known = Grid(((name, groups.at(held)),), rows.within)
        variances = variances_of_differences(self.product, known, self.source.sampling)
        if isinstance(variances, Withheld):
            raise QueryError(f"Ranks cannot be stated: {variances.reason}")
        return rank_intervals(told, variances, level, float(self.product.subject.step))

    def _rows(self, column: str | int | None) -> Grid:
        """The rows of one column as a grid."""
        rest = () if column is None or len(self.axes) == 1 else (self.axes[1].place(column),)
        held = Box({name: groups.mask(index) for (name, groups), index in zip(self.grid.axes[1:], rest, strict=True)})
        return Grid(self.grid.axes[:1], self.within.within(held))

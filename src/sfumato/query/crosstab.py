"""Crosstab: a table of estimates with its axes, to look at, index, compare and take along."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product as combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.errors import QueryError
from sfumato.query.axis import Axis
from sfumato.query.columns import Columns, in_units
from sfumato.query.comparison import Comparison
from sfumato.query.detail import Detail, detail_of
from sfumato.query.estimate import Estimate, Variance
from sfumato.query.ranks import MOST_ROWS, Standing, rank_intervals, variances_of_differences
from sfumato.query.tidy import Tidy
from sfumato.release import Product, Withheld
from sfumato.schema import Box, Grid

if TYPE_CHECKING:
    from sfumato.pictures import Picture
    from sfumato.query.engine import QueryEngine
    from sfumato.query.shares import Shares

Key = str | int | tuple[str | int, ...]


class Crosstab(Tidy):
    """Estimates over the axes of a table; a cell is found by the labels or codes of its row and column."""

    def __init__(
        self,
        engine: "QueryEngine",
        product: Product,
        axes: tuple[Axis, ...],
        grid: Grid,
        where: Mapping[str, Any],
        *,
        has_columns: bool,
    ) -> None:
        self.engine, self.product, self.axes, self.grid = engine, product, axes, grid
        self.where, self.has_columns = where, has_columns
        self.totals = product.totals(grid).reshape(grid.shape)

    @cached_property
    def variances(self) -> Any:
        """The noise variances in squared steps, or the reason why they are withheld."""
        found = self.product.variances(self.grid)
        return found if isinstance(found, Withheld) else found.reshape(self.shape)

    @property
    def title(self) -> str:
        by = ", ".join(axis.attribute.label for axis in self.axes)
        return f"{self.product.subject.title} by {by}" if by else self.product.subject.title

    @property
    def shape(self) -> tuple[int, ...]:
        return self.grid.shape

    @property
    def row_axes(self) -> tuple[Axis, ...]:
        return self.axes[:-1] if self.has_columns else self.axes

    @cached_property
    def _columns(self) -> Columns:
        step, steps = self.product.subject.step, self.totals.ravel()
        values = in_units(steps, step)
        if isinstance(self.variances, Withheld):
            noise = np.full(len(steps), np.nan)
        else:
            noise = self.variances.ravel() * float(step) ** 2
        sampled = self.engine.sampling(self.product).totals(values.astype(np.float64), noise)
        counts = self.product.cell_counts(self.grid).ravel()
        excess = self.product.excess(counts)
        return Columns(values, noise, sampled, counts, self.engine.release.manifest.grades, excess)

    def columns(self) -> Columns:
        """Every cell at once, as arrays; NaN where an error is withheld."""
        return self._columns

    @cached_property
    def _unsaid(self) -> tuple[Withheld | None, Withheld | None]:
        """Why the noise and the sampling error are withheld, where they are."""
        noise: Variance = self.variances if isinstance(self.variances, Withheld) else 0.0
        sampled = self.engine.sampling(self.product).total(0.0, noise)
        return tuple(one if isinstance(one, Withheld) else None for one in (noise, sampled))  # type: ignore[return-value]

    def estimate(self, flat: int) -> Estimate:
        """The estimate at a place in the flattened table."""
        columns, subject = self._columns, self.product.subject
        noise, sampled = self._unsaid
        value = columns.estimate[flat].item() if columns.estimate.dtype != object else columns.estimate[flat]
        whole = subject.step.denominator == 1 or int(self.totals.flat[flat]) % subject.step.denominator
        return Estimate(
            value if whole else int(value),
            float(columns.noise_variance[flat]) if noise is None else noise,
            float(columns.sampling_variance[flat]) if sampled is None else sampled,
            subject.unit,
            int(columns.cells[flat]),
            float(subject.step),
            columns.grades,
            float(columns.excess[flat]) if isinstance(columns.excess, np.ndarray) else columns.excess,
        )

    def flat(self, place: Sequence[int]) -> int:
        """Where a cell stands in the flattened table."""
        return int(np.ravel_multi_index(tuple(place), self.shape)) if self.shape else 0

    def at(self, place: tuple[int, ...]) -> Estimate:
        """The estimate at a place counted from 0 on each axis."""
        return self.estimate(self.flat(place))

    def __getitem__(self, key: Key) -> Estimate:
        return self.at(self.place(key))

    def place(self, key: Key) -> tuple[int, ...]:
        """Where the cell stands that some codes or labels name."""
        names = key if isinstance(key, tuple) else (key,)
        if len(names) != len(self.axes):
            wanted = ", ".join(axis.attribute.label for axis in self.axes)
            raise QueryError(f"A cell of this table is named by {len(self.axes)} labels ({wanted}); got {len(names)}.")
        return tuple(axis.place(name) for axis, name in zip(self.axes, names, strict=True))

    def items(self) -> Iterator[tuple[tuple[str, ...], Estimate]]:
        """Every cell: its codes and its estimate, the last axis running fastest."""
        for flat, codes in enumerate(combinations(*(axis.codes for axis in self.axes))):
            yield codes, self.estimate(flat)

    def box(self, place: Sequence[int]) -> Box:
        """The box that a cell sums."""
        found = self.grid.within
        for (name, groups), index in zip(self.grid.axes, place, strict=True):
            found = found.within(Box({name: groups[index]}))
        return found

    def compare(self, one: Key, other: Key) -> Comparison:
        """Whether two cells really differ."""
        boxes = [self.box(self.place(key)) for key in (one, other)]
        return self.engine.difference(self.product, *boxes)

    def detail(self, key: Key) -> Detail:
        """What is to be known of a cell: its errors apart, what was summed, and how it may be used."""
        return detail_of(self, key)

    def shares(self, of: str | Sequence[str] = "whole") -> "Shares":
        """Each cell as a share: of its "row", of its "column", of the "whole", or of the total that variables tell."""
        from sfumato.query.shares import shares_of

        return shares_of(self, of)

    def ranks(self, column: str | int | None = None, level: float = 0.90) -> dict[str, tuple[int, int]]:
        """For each row the ranks, 1 the largest, that hold its true one with this probability."""
        rows, values = self._rows(column)
        if len(values) > MOST_ROWS:
            raise QueryError(f"Ranks of {len(values):,} rows compare all pairs; show at most {MOST_ROWS:,} rows.")
        variances = variances_of_differences(self.product, rows, self.engine.sampling(self.product))
        if isinstance(variances, Withheld):
            raise QueryError(f"Ranks cannot be stated: {variances.reason}")
        found = rank_intervals(values, variances, level, float(self.product.subject.step))
        return dict(zip(self.axes[0].codes, found, strict=True))

    def sorted(
        self, column: str | int | None = None, level: float = 0.90, *, rising: bool = False
    ) -> tuple[Standing, ...]:
        """The rows in the order of a column, for display only; ties stand in the order of their codes.

        Each row has the ranks, 1 the largest, that it may truly have, or None where they cannot be stated.
        """
        _, values = self._rows(column)
        codes = self.axes[0].codes
        try:
            ranks: Mapping[str, tuple[int, int] | None] = self.ranks(column, level)
        except QueryError:
            ranks = dict.fromkeys(codes)
        order = sorted(range(len(codes)), key=lambda row: (values[row] if rising else -values[row], codes[row]))
        return tuple(Standing(row, codes[row], values[row], ranks[codes[row]]) for row in order)

    def _rows(self, column: str | int | None) -> tuple[Grid, list[float]]:
        """The rows of one column, as a grid and as values."""
        if not self.axes or len(self.axes) > 2 or (len(self.axes) == 2 and column is None):
            raise QueryError("Ranks are of the rows of one column: name the column of a table with rows and columns.")
        rest = () if column is None or len(self.axes) == 1 else (self.axes[1].place(column),)
        held = Box({name: groups[index] for (name, groups), index in zip(self.grid.axes[1:], rest, strict=True)})
        values = self._columns.estimate.reshape(self.shape)[(slice(None), *rest)]
        return Grid(self.grid.axes[:1], self.grid.within.within(held)), values.tolist()

    def plot(self, kind: str = "dot", level: float = 0.90, width: float = 720) -> "Picture":
        """The table as a picture, "dot", "bar" or "line": its rows are labels or periods, its columns are series."""
        from sfumato.query.plotted import plotted

        return plotted(self, kind, level, width)

    def to_jsonstat(self) -> dict[str, Any]:
        """The table as a JSON-stat 2.0 dataset, its errors on a metric dimension."""
        from sfumato.query.jsonstat import dataset_of

        return dataset_of(self)

    def __repr__(self) -> str:
        from sfumato.query.shown import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from sfumato.query.shown import as_html

        return as_html(self)

    def cite(self) -> str:
        return f"{self.title}. {self.engine.cite()}"

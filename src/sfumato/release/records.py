"""Records: one published value a row of a public frame; any total is a sum of rows, with its error."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.release.boxes import Nested, parts
from sfumato.release.noisy import Integers
from sfumato.release.products import Floats, Product, Subject
from sfumato.schema import Attribute, Box, Frame, Grid, Grouping

Rows = NDArray[np.bool_]
Sizes = NDArray[np.floating[Any]]
"""Sizes that variances are taken at; they need few digits, so files hold them in 32 bits."""


class Spread(Protocol):
    """The joint error of the rows, answered for sets of cells; a cell is all rows with the same attributes."""

    def over(self, cells: Grouping, values: Integers) -> "Errors":
        """The errors of totals over cells."""

    def to_dict(self) -> dict[str, Any]: ...


class Errors(Protocol):
    """The joint error of totals over cells, in squared steps."""

    def __call__(self, one: Rows, other: Rows) -> float:
        """The covariance of the totals over two sets of cells."""

    def along(self, nested: Nested) -> Floats:
        """The covariance of the total of each inner box with that of the outer one that it lies in."""


@dataclass(frozen=True, eq=False)
class Records(Product):
    """Protected microdata: public attributes in the frame, a protected value in steps for each of its rows."""

    subject: Subject
    frame: Frame
    values: Integers
    spread: Spread
    by: tuple[tuple[str, int | None], ...] | None = None
    """Of groups of rows: the attributes, and the depth of each, that they are groups by."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return self.frame.attributes

    @cached_property
    def _cells(self) -> Grouping:
        """Rows that no question can tell apart, taken together."""
        return self.frame.grouped([(name, None) for name in self.frame.names])

    @cached_property
    def _sums(self) -> Integers:
        return self._cells.sums(self.values)

    @cached_property
    def _counts(self) -> Integers:
        return np.bincount(self._cells.of, minlength=self._cells.size)

    @cached_property
    def _errors(self) -> Errors:
        return self.spread.over(self._cells, self.values)

    def total(self, box: Box) -> int:
        return int(self._sums[self._cells.groups.rows(box)].sum())

    def cells(self, box: Box) -> int:
        return int(self._counts[self._cells.groups.rows(box)].sum())

    def covariance(self, one: Box, other: Box) -> float:
        first = self._cells.groups.rows(one)
        second = first if other is one else self._cells.groups.rows(other)
        return self._errors(first, second)

    def totals(self, grid: Grid) -> Integers:
        return self._folded(self._sums, grid)

    def cell_counts(self, grid: Grid) -> Integers:
        return self._folded(self._counts, grid)

    def _folded(self, column: Integers, grid: Grid) -> Integers:
        """The sums over every box of a grid, in a pass for each part of it whose boxes do not overlap."""
        frame, found = self._cells.groups, np.zeros(grid.shape, dtype=np.int64)
        for places, part in parts(grid):
            flat, size = frame.cells(part)
            summed = Grouping(frame, flat.astype(np.int32)).sums(column, size + 1)[:size]
            found[np.ix_(*places)] = summed.reshape(part.shape)
        return found

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats:
        frame, found = self._cells.groups, np.zeros(grid.shape)
        for places, part in parts(grid):
            shared = self._errors.along(Nested.of(frame, part, kept))
            found[np.ix_(*places)] = shared.reshape(part.shape)
        # A variance is not below 0, whatever rounding says; a covariance may be.
        return np.maximum(found, 0.0) if all(name in kept for name, _ in grid.axes) else found


@dataclass(frozen=True)
class Trend:
    """The variance that noise is expected to have on rows of known sizes: base + each X + (slope (root + reach))².

    X is what the rows sum to, and root the square root of the largest of them.
    """

    base: float = 0.0
    each: float = 0.0
    slope: float = 0.0
    reach: float = 0.0

    def at(self, sums: Sizes, roots: Sizes) -> Floats:
        topped = np.maximum(roots + self.reach, 0.0) * self.slope
        return np.asarray(self.base + self.each * sums + topped**2, dtype=np.float64)

    def in_steps(self, unit: float) -> "Trend":
        """The same where a step is so many of the new ones."""
        return Trend(self.base * unit**2, self.each * unit, self.slope * unit**0.5, self.reach * unit**0.5)


@dataclass(frozen=True)
class Squared:
    """Noise on the square root: a value of x steps has variance 4 s² x + 2 s⁴, s² the variance on the root's lattice.

    Taken at the noisy value it is unbiased, and adds up to 4 s² X + 2 n s⁴ over n rows that sum to X. No true total is
    below 0, so a noisy one that is has the variance of 0.
    """

    variance: float

    @property
    def trend(self) -> Trend:
        return Trend(base=2 * self.variance**2, each=4 * self.variance)

    def over(self, cells: Grouping, values: Integers) -> Errors:
        return _Rooted(self.variance, cells.sums(values), np.bincount(cells.of, minlength=cells.size))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "squared", "variance": self.variance}


@dataclass(frozen=True, eq=False)
class Varying:
    """Every row has noise of its own with a variance of its own, which stands beside it in the file.

    The variances came from noisy sizes; the trend says what they would be at other sizes.
    """

    variances: Floats
    trend: Trend = Trend()

    def over(self, cells: Grouping, values: Integers) -> Errors:  # noqa: ARG002 - not by value
        return _Apart(np.bincount(cells.of, self.variances, cells.size).astype(np.float64))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "varying", "slope": self.trend.slope, "reach": self.trend.reach}


@dataclass(frozen=True, eq=False)
class _Rooted:
    """Errors of rows with noise on their roots; totals that share no row share no error."""

    variance: float
    sums: Integers
    counts: Integers

    def __call__(self, one: Rows, other: Rows) -> float:
        both = one & other
        return float(self._at(self.counts[both].sum(), self.sums[both].sum()))

    def along(self, nested: Nested) -> Floats:
        found = self._at(nested.inner.sums(self.counts), nested.inner.sums(self.sums))
        return np.asarray(found, dtype=np.float64)

    def _at(self, rows: Any, total: Any) -> Any:
        return 2 * self.variance**2 * rows + 4 * self.variance * np.maximum(total, 0)


@dataclass(frozen=True, eq=False)
class _Apart:
    """Errors of rows with noise of their own."""

    held: Floats

    def __call__(self, one: Rows, other: Rows) -> float:
        return float(self.held[one & other].sum())

    def along(self, nested: Nested) -> Floats:
        return nested.inner.sums(self.held)

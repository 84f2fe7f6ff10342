"""Aggregate: what an engine computes over the rows of a cell; an open set, of which each engine names those it runs."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
_SIGNED: tuple[type[np.signedinteger[Any]], ...] = (np.int8, np.int16, np.int32, np.int64)


@dataclass(frozen=True)
class InSteps:
    """What a row has of a column as a whole number of steps, so that sums depend on no order and no rounding."""

    column: str


@dataclass(frozen=True)
class Reported(InSteps):
    """What a row has as it stands, 0 or more; a number that is no whole multiple of the step is a fault."""

    step: Fraction
    missing: Fraction | None = None
    codes: tuple[Fraction, ...] = ()
    """The numbers that stand for a missing value."""


@dataclass(frozen=True)
class Clipped(InSteps):
    """What a row has of a column: held within [low, high], squared where the power is 2, rounded half up to steps."""

    low: Fraction
    high: Fraction
    step: Fraction
    missing: Fraction | None = None
    power: int = 1
    codes: tuple[Fraction, ...] = ()
    """The numbers that stand for a missing value."""

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the most that a row has, in steps.

        >>> Clipped("weight", Fraction(-3), Fraction(5), Fraction(1), power=2).ends
        (0, 25)
        """
        low, high = sorted(int(bound**self.power / self.step) for bound in (self.low, self.high))
        return (0 if self.power == 2 and self.low < 0 < self.high else low), high

    @property
    def kind(self) -> Any:
        """The smallest integers that hold what a row has, in steps, and one number more that stands for none.

        >>> [str(Clipped("pay", Fraction(0), Fraction(9_000), Fraction(step)).kind) for step in (100, 50, 1)]
        ['int8', 'int16', 'int16']
        """
        largest = max(map(abs, self.ends))
        return next(np.dtype(one) for one in _SIGNED if one is np.int64 or largest <= np.iinfo(one).max)


@dataclass(frozen=True)
class Aggregate:
    """Whatever is computed over the rows of a cell; its fields say what must be read of each row."""

    weighted: ClassVar[bool] = False
    """Whether rows count by the weights of the design."""
    summed: ClassVar[bool] = True
    """Whether what rows have is added up, so that it may pass what an integer holds."""

    @property
    def values(self) -> tuple[InSteps, ...]:
        """What it reads of a row, in whole steps."""
        return tuple(value for value in vars(self).values() if isinstance(value, InSteps))

    @property
    def names(self) -> tuple[str | None, ...]:
        """The columns that name the units it tells apart; none stands for the hidden unit's own."""
        return (vars(self)["per"],) if "per" in vars(self) else ()


@dataclass(frozen=True)
class Rows(Aggregate):
    """How many rows a cell has."""


@dataclass(frozen=True)
class Units(Aggregate):
    """How many different units have rows in a cell."""

    per: str | None = None


@dataclass(frozen=True)
class Sum(Aggregate):
    """The sum of a value over the rows of a cell."""

    of: InSteps


@dataclass(frozen=True)
class SumOfProducts(Aggregate):
    """The sum over the rows of a cell of one value times another, in steps times steps."""

    x: InSteps
    y: InSteps


@dataclass(frozen=True)
class Largest(Aggregate):
    """How much the k units with most in a cell have there, falling, on a last axis: rows, or a value without its sign.

    Of a cell with fewer units the rest is 0.
    """

    of: InSteps | None = None
    k: int = 1
    per: str | None = None


@dataclass(frozen=True)
class UnitSums(Aggregate):
    """What every unit has in a cell, rows or a value, as a `Ragged` column of pairs: a digest of its name, and so much.

    The digest is the first 60 bits of the SHA-256 of the name, so that it is the same in every table and every run.
    """

    of: InSteps | None = None
    per: str | None = None


@dataclass(frozen=True)
class Extremes(Aggregate):
    """The least and the largest value of the rows of a cell, on a last axis; 0 of a cell without rows."""

    of: InSteps


@dataclass(frozen=True)
class Sorted(Aggregate):
    """The values of the rows of a cell in rising order, as a `Ragged` column.

    `at` is the share of them at which a statistic looks, where it looks at one.
    """

    summed: ClassVar[bool] = False
    of: InSteps
    at: Fraction | None = None


@dataclass(frozen=True)
class Influence(Aggregate):
    """The pairs (y, x) of the rows of a cell in rising order, as a `Ragged` column.

    A regression of y on x in the cell, and how far any one row pulls it, follow from these alone. `what` is what a
    statistic tells of it, where it tells something, and `at` the place where it looks.
    """

    summed: ClassVar[bool] = False
    y: InSteps
    x: InSteps
    what: str = ""
    at: Fraction = Fraction(0)


@dataclass(frozen=True)
class Weighted(Aggregate):
    """The sums over a cell of the weight and of every replicate weight, each times a column, or its square, if named.

    Values are as they are unless a clip is named, and weights always. The sums depend on no order of the rows, and
    are exact where weights and values are whole.
    """

    weighted: ClassVar[bool] = True
    column: str | None = None
    missing: Fraction | None = None
    power: int = 1
    clip: tuple[Fraction, Fraction] | None = None
    codes: tuple[Fraction, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Ragged:
    """What the rows of every cell have, cell after cell: those of cell i stand from `offsets[i]` to `offsets[i + 1]`.

    >>> wages = Ragged(np.array([0, 2, 2, 3]), np.array([4, 9, 7]))
    >>> len(wages), wages.at(0).tolist(), wages.at(1).tolist(), wages.take(np.array([2, -1, 2])).values.tolist()
    (3, [4, 9], [], [7, 7])
    """

    offsets: Integers
    values: Integers

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Integers:
        """How many rows each cell has."""
        return np.diff(self.offsets)

    def at(self, cell: int) -> Integers:
        """What the rows of one cell have."""
        return self.values[self.offsets[cell] : self.offsets[cell + 1]]

    def take(self, cells: NDArray[Any]) -> "Ragged":
        """Some of the cells, each as often as it is named; -1 is a cell without rows."""
        lengths = np.where(cells < 0, 0, self.lengths[cells]) if len(self) else np.zeros(len(cells), dtype=np.int64)
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.offsets[cells] - (ends - lengths), lengths)
        return Ragged(np.concatenate([[0], ends]), self.values[places])

    def unlike(self, other: "Ragged") -> NDArray[np.bool_]:
        """Which cells have other rows here than there.

        >>> Ragged(np.array([0, 0]), np.array([])).unlike(Ragged(np.array([0, 1]), np.array([7]))).tolist()
        [True]
        """
        found = np.asarray(self.lengths != other.lengths)
        same = np.flatnonzero(~found)
        one, two = self.take(same), other.take(same)
        apart = one.values != two.values
        other_rows = apart.any(axis=1) if apart.ndim > 1 else apart
        found[same] = np.bincount(np.repeat(np.arange(len(same)), one.lengths), other_rows, len(same)) > 0
        return found

    def __repr__(self) -> str:
        return f"<Ragged: rows of {len(self):,} cells>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("What the rows of cells have is confidential and cannot be pickled or copied.")

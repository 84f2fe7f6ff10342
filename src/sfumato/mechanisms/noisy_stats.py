"""NoisyStats: a least-squares line from noisy sums of squares and products, for cells whose counts are public.

Claim. Where one row of a cell has other values and how many rows each cell has is public, epsilon.
Law. With n rows, x and y in whole steps from the low ends of their bounds, of which they go up to X and Y: a = n Σxy −
ΣxΣy and b = n Σx² − (Σx)² are integers, and a row with other values moves them by (n − 1) X Y and (n − 1) X² at most;
both get two-sided geometric noise at epsilon / 3. The slope is a / b. What the line predicts with that slope,
mean y + slope · (place − mean x), moves by (Y + |slope| X) / n; rounded to steps it may move one more, and gets
geometric noise at epsilon / 3.
Proof. Sequential composition of three geometric mechanisms, the last given what the first two told. n Σxy − ΣxΣy
is the sum of (x_i − x_j)(y_i − y_j) over pairs; of the n − 1 pairs of one row each lies within [−X Y, X Y] and those of
(x_i − x_j)² within [0, X²]; centred, a product goes over a range of X Y (Alabi et al. 2020, lemma 5.1: 1 − 1/n).
Failure. Where b may well be noise the cell has no number, and says why: a cell has one where noise goes as far as b
with a chance of no more than `BY_NOISE` times the share of lines that are told (Benjamini and Hochberg 1995), which
follows from noisy numbers alone. Of lines told no more than `BY_NOISE`, on average, are of cells without any spread.
Intervals follow from noisy numbers too, at the furthest that a mean of x may be, and of the slope by those of Fieller.
Each level has its own, nearer to 1 by the same share, so that of the intervals shown no more miss on average than is
said (Benjamini and Yekutieli 2005). Where Fieller's has no end, which at 95% is nowhere, nothing is told at that level.
"""

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.draws import Draws, TwoSidedGeometric
from sfumato.draws.laws import LARGEST_SCALE
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.mechanism import Mechanism, RowsApart, Typical
from sfumato.privacy import Approximate, Exact, Loss, Move, Unsummed, positive
from sfumato.release import Noisy, NoNumber, Product, Sided, Statuses, Uncertainty, Withheld
from sfumato.release.noisy import Floats, Integers
from sfumato.release.sided_error import DEVIATES
from sfumato.release.tails import LAPLACE, reach
from sfumato.schema import Aggregate, Clipped, Influence, Ragged
from sfumato.schema.leaf_groups import Flags

PARTS = 3
BY_NOISE = 0.01
"""The largest share, on average, of the lines told that noise alone may have made."""
FAR = 2 * 10**6
"""How far an interval goes that has no end: no line is told further from 0 than half of it."""
LARGEST = 2**62
FEW = NoNumber("Fewer than three rows, of which no line is told.", "n", "Q")
LOST = NoNumber("No line can be told: the spread of x is lost in noise.", "⊥")
TOO_MANY = "some cells have so many rows that sums of products pass 64 bits; use a coarser step."
AHEAD = "it follows how far x is spread in a cell, which is hidden"


@dataclass(frozen=True)
class NoisyStats(Mechanism):
    """What a line predicts, with noise on its sums, at an epsilon."""

    name: ClassVar[str] = "noisy-stats"
    source: ClassVar[str] = "Alabi, McMillan, Sarathy, Smith and Vadhan 2020, algorithm 1; on the integers here"
    columns_beside: ClassVar[int] = 2 * len(DEVIATES) + 1
    by_noise: ClassVar[float] = BY_NOISE
    """Which lines are told, and no part of a plan."""
    epsilon: Fraction

    def __init__(self, epsilon: Exact) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    def loss(self, move: Move) -> Loss:
        if not isinstance(move, Unsummed) or not move.within:
            raise PromiseError(
                f"{self.name} is for lines of cells whose counts are public, as its noise is scaled by them: write "
                '[hidden] neighbours = "replace-one" with fixed = all attributes of the table, or use theil-sen; '
                f"{move.words()}."
            )
        return Approximate(self.epsilon)

    def needs(self, of: tuple[Aggregate, ...]) -> tuple[Aggregate, ...]:
        if not any(isinstance(one, Influence) and one.what == "prediction" for one in of):
            raise PlanError(
                f'{self.name} is for what lines predict; measure of = {{ statistic = "fitted", at = … }}, and a slope '
                "as the difference of two."
            )
        return ()

    def rows_apart(self, of: tuple[Aggregate, ...], move: Move) -> RowsApart | None:  # noqa: ARG002 - one row moves
        """All rows in one corner and one in the opposite, or there too: it moves a, b and the mean as far as can be."""
        (line,) = (one for one in of if isinstance(one, Influence))
        place = LinePlace.of(line)
        corner = place.row(0, place.start)
        return RowsApart((corner,) * 19, corner, place.row(1, place.end))

    @property
    def all_told(self) -> Mechanism:
        """With all lines told whose noisy spread of x is above 0: what leaves some out follows from noisy sums."""
        told = copy(self)
        vars(told)["by_noise"] = math.inf  # of copies of a cell each by itself, whatever share of them is told
        return told

    def unfit(self, cells: Cells) -> str:
        (of, rows) = points_of(cells)
        wide_x, wide_y = (high - low for low, high in map(ends_of, (of.x, of.y)))
        most, wide = int(rows.lengths.max(initial=0)), wide_x * max(wide_x, wide_y)
        far = float(wide) * float(most) ** 2 * (1 + 40 * PARTS / float(self.epsilon))
        slowest = self.epsilon / (PARTS * max(1, most * wide))
        return TOO_MANY if far > LARGEST or slowest < Fraction(1, LARGEST_SCALE) else ""

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:  # noqa: ARG002
        of, rows = points_of(cells)
        (low_y, _), (low_x, high_x) = ends_of(of.y), ends_of(of.x)
        count = rows.lengths
        wide_x = high_x - low_x

        sums = LineSums.of(of, rows)
        a, spread_a = self._noisy(sums.products, sums.products_move, draws)
        b, spread_b = self._noisy(sums.squares, sums.squares_move, draws)
        told, share = told_lines(b, spread_b, (count >= 3) & cells.domain.possible.ravel(), self.by_noise)
        slope = np.where(told, a / np.where(told, b, 1), 0.0)
        place = float(of.at / cells.step) - low_x
        found, spread = self._noisy(*sums.predicted(slope, place), draws)
        which = np.where(count < 3, 1, np.where(told, 0, 2)) * cells.domain.possible.ravel()
        furthest = max(place, wide_x - place)
        ends = np.zeros((len(DEVIATES), len(count)))
        for end, deviate in zip(ends, DEVIATES, strict=True):
            missed = math.erfc(deviate / math.sqrt(2))
            of_slope = fieller(a, b, spread_a, spread_b, reach(1 - missed * share, LAPLACE)) if share else 0.0
            end[:] = np.where(told, np.hypot(reach(1 - missed, LAPLACE) * spread, furthest * of_slope), 0.0)
        return self._made(cells, np.where(told, found + low_y, 0), np.minimum(ends, FAR / float(cells.step)), which)

    def _noisy(self, clean: Integers, moves: Integers, draws: Draws) -> tuple[Integers, Floats]:
        """The integers with geometric noise at a third of epsilon, and its standard deviations."""
        found, spread = clean.astype(np.int64).copy(), np.zeros(len(clean))
        sizes, which = np.unique(np.maximum(moves, 1), return_inverse=True)
        order, ends = np.argsort(which, kind="stable"), np.cumsum(np.bincount(which, minlength=len(sizes)))
        for size, start, end in zip(sizes.tolist(), np.append(0, ends[:-1]), ends, strict=True):
            law, places = TwoSidedGeometric(self.epsilon / (PARTS * size)), order[start:end]
            found[places] += law.draw(len(places), draws)
            spread[places] = math.sqrt(law.variance)
        return found, spread

    @staticmethod
    def _made(cells: Cells, values: Integers, ends: Floats, which: Integers) -> Noisy:
        shape = cells.domain.possible.shape
        statuses = Statuses((FEW, LOST), which.reshape(shape))
        public = {f"reach_{place}": end.reshape(shape) for place, end in enumerate(ends)}
        return Noisy(cells.domain, values.reshape(shape), cells.step, cells.move, public, statuses=statuses)

    def uncertainty(self, noisy: Noisy) -> Uncertainty:
        ends = np.stack([noisy.public[f"reach_{place}"] for place in range(len(DEVIATES))])
        return Sided(ends, ends)

    def expected(self, move: Move, number: Typical) -> Withheld:  # noqa: ARG002 - only the data tell it
        self.loss(move)
        return Withheld(AHEAD)


def told_lines(b: Integers, spread: Floats, some: Flags, by_noise: float) -> tuple[Flags, float]:
    """Which of some cells have a spread of x that is hardly noise, and the share of all of these that they are.

    By the rule of Benjamini and Hochberg: as many as can be whose chances, were there noise alone, are all within
    `by_noise` times their share.
    """
    chance = np.where(some & (b > 0), np.exp(-math.sqrt(2) * np.maximum(b, 0) / spread) / 2, np.inf)
    many = int(some.sum())
    enough = np.flatnonzero(np.sort(chance[some]) <= by_noise * np.arange(1, many + 1) / max(many, 1))
    share = float((enough[-1] + 1) / many) if len(enough) else 0.0
    return np.isfinite(chance) & (chance <= by_noise * share), share


def fieller(a: Integers, b: Integers, spread_a: Floats, spread_b: Floats, z: float) -> Floats:
    """How far from a / b the further end of Fieller's interval (1954) is; where it has none, infinitely far.

    It holds the slopes s for which a − s b is within z of its own errors of 0.
    """
    over, under = a.astype(np.float64), b.astype(np.float64)
    clear = under**2 - (z * spread_b) ** 2
    ended = (under > 0) & (clear > 0)
    over, under, clear = (np.where(ended, one, 1.0) for one in (over, under, clear))
    half = np.sqrt(np.maximum((over * under) ** 2 - clear * (over**2 - (z * spread_a) ** 2), 0.0))
    return np.where(ended, np.abs(over * under / clear - over / under) + half / clear, np.inf)


@dataclass(frozen=True, eq=False)
class LineSums:
    """The sums of every cell that noise is added to, and how far a row with other values moves each at most."""

    count: Integers
    sum_x: Integers
    sum_y: Integers
    products: Integers
    squares: Integers
    wide_x: int
    wide_y: int

    @classmethod
    def of(cls, line: Influence, rows: Ragged) -> "LineSums":
        (low_y, high_y), (low_x, high_x) = ends_of(line.y), ends_of(line.x)
        count, cell = rows.lengths, np.repeat(np.arange(len(rows)), rows.lengths)
        y, x = rows.values[:, 0] - low_y, rows.values[:, 1] - low_x

        def summed(values: Integers) -> Integers:
            found = np.zeros(len(rows), dtype=np.int64)
            np.add.at(found, cell, values)
            return found

        sum_x, sum_y = summed(x), summed(y)
        products, squares = count * summed(x * y) - sum_x * sum_y, count * summed(x * x) - sum_x**2
        return cls(count, sum_x, sum_y, products, squares, high_x - low_x, high_y - low_y)

    @property
    def products_move(self) -> Integers:
        return (self.count - 1) * self.wide_x * self.wide_y

    @property
    def squares_move(self) -> Integers:
        return (self.count - 1) * self.wide_x**2

    def predicted(self, slope: Floats, place: float) -> tuple[Integers, Integers]:
        """What lines of some slopes predict, in whole steps, and how far that moves."""
        some = np.maximum(self.count, 1)
        clean = np.rint(self.sum_y / some + slope * (place - self.sum_x / some)).astype(np.int64)
        return clean, np.ceil((self.wide_y + np.abs(slope) * self.wide_x) / some).astype(np.int64) + 1


@dataclass(frozen=True)
class LinePlace:
    """Where lines are looked at, and the end of x that is farther from it, from which lines are steepest there."""

    line: Influence
    at: float
    low: float
    high: float
    start: float
    end: float

    @classmethod
    def of(cls, line: Influence) -> "LinePlace":
        assert isinstance(line.x, Clipped)  # noqa: S101 - lines are of values within bounds
        assert isinstance(line.y, Clipped)  # noqa: S101
        ends = sorted((float(line.x.low), float(line.x.high)), key=lambda end: -abs(float(line.at) - end))
        return cls(line, float(line.at), float(line.y.low), float(line.y.high), ends[0], ends[1])

    @property
    def steep(self) -> float:
        """An x from which a line through the start goes one and a half times as far at the place as it has gone."""
        least, most = sorted((self.start, self.end))
        return min(max(self.start + (self.at - self.start) / 1.5, least), most)

    def row(self, height: float, x: float) -> dict[str, float]:
        """A row at a part of the range of y, and at an x."""
        return {self.line.y.column: self.low + height * (self.high - self.low), self.line.x.column: x}


def points_of(cells: Cells) -> tuple[Influence, Ragged]:
    """The points of every cell, and where lines are looked at."""
    ((of, rows),) = ((one, column) for one, column in cells.columns.items() if isinstance(one, Influence))
    return of, rows


def ends_of(value: object) -> tuple[int, int]:
    assert isinstance(value, Clipped)  # noqa: S101 - lines are of values within bounds
    return value.ends


EXAMPLE = NoisyStats(1)

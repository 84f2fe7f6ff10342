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
Failure. Where b is not above two and a half standard deviations of its noise the cell has no number, and says why; that
follows from noisy numbers alone. Errors are stated from noisy numbers too, at the furthest that a mean of x may be, and
of the slope by the interval of Fieller at 95%, which is long where b is hardly above its noise.
"""

import math
from collections.abc import Mapping
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
from sfumato.release import Noisy, NoNumber, Product, Statuses, Uncertainty, Varying, Withheld
from sfumato.release.noisy import Floats, Integers
from sfumato.release.tails import LAPLACE, reach
from sfumato.schema import Aggregate, Clipped, Influence, Ragged

PARTS = 3
SURE = 2.5
"""How many standard deviations of its noise the spread of x has to be above 0."""
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
            raise PlanError(f'{self.name} is for what lines predict; measure of = {{ statistic = "fitted", at = … }}.')
        return ()

    def rows_apart(self, of: tuple[Aggregate, ...], move: Move) -> RowsApart | None:  # noqa: ARG002 - one row moves
        """All rows in one corner and one in the opposite, or there too: it moves a, b and the mean as far as can be."""
        (line,) = (one for one in of if isinstance(one, Influence))
        place = LinePlace.of(line)
        corner = place.row(0, place.start)
        return RowsApart((corner,) * 19, corner, place.row(1, place.end))

    def unfit(self, cells: Cells) -> str:
        (of, rows) = points_of(cells)
        wide_x, wide_y = (high - low for low, high in map(ends_of, (of.x, of.y)))
        most, wide = int(rows.lengths.max(initial=0)), wide_x * max(wide_x, wide_y)
        far = float(wide) * float(most) ** 2 * (1 + 40 * PARTS / float(self.epsilon))
        slowest = self.epsilon / (PARTS * max(1, most * wide))
        return TOO_MANY if far > LARGEST or slowest < Fraction(1, LARGEST_SCALE) else ""

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:  # noqa: ARG002
        of, rows = points_of(cells)
        (low_y, high_y), (low_x, high_x) = ends_of(of.y), ends_of(of.x)
        count = rows.lengths
        wide_y, wide_x = high_y - low_y, high_x - low_x

        sums = LineSums.of(of, rows)
        a, spread_a = self._noisy(sums.products, sums.products_move, draws)
        b, spread_b = self._noisy(sums.squares, sums.squares_move, draws)
        told = (count >= 3) & (b > SURE * spread_b)
        slope = np.where(told, a / np.where(told, b, 1), 0.0)
        place = float(of.at / cells.step) - low_x
        found, spread = self._noisy(*sums.predicted(slope, place), draws)
        values = np.clip(found + low_y, low_y - wide_y // 2, high_y + wide_y // 2)
        shown = told & cells.domain.possible.ravel()
        which = np.where(count < 3, 1, np.where(told, 0, 2)) * cells.domain.possible.ravel()
        furthest = max(place, wide_x - place)
        of_slope = _slope_error(a, np.where(told, b, SURE * spread_b + 1), spread_a, spread_b)
        variance = np.where(shown, spread**2 + (furthest * of_slope) ** 2, 0.0)
        return self._made(cells, np.where(shown, values, 0), variance, which)

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
    def _made(cells: Cells, values: Integers, variance: Floats, which: Integers) -> Noisy:
        shape = cells.domain.possible.shape
        statuses = Statuses((FEW, LOST), which.reshape(shape))
        public = {"variance": variance.reshape(shape)}
        return Noisy(cells.domain, values.reshape(shape), cells.step, cells.move, public, statuses=statuses)

    def uncertainty(self, noisy: Noisy) -> Uncertainty:
        return Varying(noisy.public["variance"], excess=LAPLACE)

    def expected(self, move: Move, number: Typical) -> Withheld:  # noqa: ARG002 - only the data tell it
        self.loss(move)
        return Withheld(AHEAD)


def _slope_error(a: Integers, b: Floats, spread_a: Floats, spread_b: Floats) -> Floats:
    """A standard error of the slope a / b by which 95% intervals reach both ends of Fieller's (1954).

    Those are the slopes s for which a − s b is within its own error of 0.
    """
    z = reach(0.95, LAPLACE)
    over, under = a.astype(np.float64), np.asarray(b, dtype=np.float64)
    clear = under**2 - (z * spread_b) ** 2
    half = np.sqrt(np.maximum((over * under) ** 2 - clear * (over**2 - (z * spread_a) ** 2), 0.0))
    return np.asarray((np.abs(over * under / clear - over / under) + half / clear) / z, dtype=np.float64)


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

"""The exponential mechanism on ranks: one of some public values, the likelier the nearer its rank is to a share.

Claim. Cells in which rows move l1 places in all, up or down, lose epsilon.
Law. At a share a/b of n rows a candidate c is off by d(c) = max(b · below − a n, a n − b · (below + at c), 0), which a
row that comes, goes or changes sides moves by m = max(a, b − a) a place at most. Where counts are public, n stays and
a row with another value, two places, moves d by b at most, which is no more than 2 m. P(c) is in proportion to w^d(c),
w the next multiple of 2^-24 above exp(−epsilon / (2 m l1)), or exp(−epsilon / (b l1)).
Proof. Each weight, and so the sum of all, changes by w^(−m l1) at most, and w^(−2 m l1) is at most e^epsilon (McSherry
and Talwar 2007; ranks by Smith 2011); with b / 2 for m where counts are public. Draws are exact: chances are compared
as floats with 64 bits of a draw, and as fractions with further bits where rounding could tell otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from sfumato.draws import Draws, bounds
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.mechanism import Mechanism, RowsApart, Typical
from sfumato.mechanisms.ranked_choice import RankedChoice
from sfumato.privacy import Approximate, Exact, Loss, Move, Unsummed, bounded, positive
from sfumato.release import Noisy, Product, Uncertainty, Withheld
from sfumato.release.noisy import Integers
from sfumato.schema import Aggregate, Clipped, Ragged, Sorted

FINE, MOST = 24, 10_000
FEW_VALUES = 0.1
"""The share of all values that an audit looks at together."""
WHY = "how exact it is depends on how dense the values lie about it, which is hidden"


@dataclass(frozen=True)
class ExponentialQuantile(Mechanism):
    """One of so many values, evenly spaced over the clip of a quantile, at an epsilon."""

    name: ClassVar[str] = "exponential-quantile"
    source: ClassVar[str] = "McSherry and Talwar 2007; Smith 2011; rational weights here, so that epsilon holds exactly"
    epsilon: Fraction
    candidates: int

    def __init__(self, epsilon: Exact, candidates: int = 201) -> None:
        vars(self).update(epsilon=positive(epsilon, "epsilon"), candidates=candidates)
        if not isinstance(candidates, int) or not 2 <= candidates <= MOST:
            raise PlanError(
                f"exponential-quantile has {candidates!r} candidates; 2 to {MOST:,} values may be published."
            )

    def loss(self, move: Move) -> Loss:
        self.places(move)
        return Approximate(self.epsilon)

    def needs(self, of: tuple[Aggregate, ...]) -> tuple[Aggregate, ...]:
        if not any(isinstance(one, Sorted) and one.at for one in of):
            raise PlanError(f'{self.name} publishes a value by its rank; measure of = {{ statistic = "quantile", … }}.')
        return ()

    def places(self, move: Move) -> int:
        """How many places rows go in all, up or down."""
        if not isinstance(move, Unsummed):
            raise PromiseError(f"{self.name} hides the order of rows, not how large sums of them are; {move.words()}.")
        return bounded(move.rows, self.name).l1

    def base(self, move: Move, at: Fraction) -> Fraction:
        """The weight of a candidate that is off by one, next to one that is not."""
        places, within = self.places(move), isinstance(move, Unsummed) and move.within
        each = Fraction(at.denominator, 2) if within else Fraction(max(at.numerator, at.denominator - at.numerator))
        return Fraction(bounds.exponential_minus(self.epsilon / (2 * places * each), FINE)[1], 1 << FINE)

    def grid(self, of: Sorted) -> Integers:
        """The values that may be published, in steps."""
        assert isinstance(of.of, Clipped)  # noqa: S101 - quantiles are of values within a clip
        low, high = of.of.ends
        return np.unique(np.linspace(low, high, self.candidates).astype(np.int64))

    def distribution(self, of: Sorted, rows: Integers, move: Move) -> list[Fraction]:
        """The exact chance of every candidate of a cell."""
        return self._choice(of, move).chances(rows)

    def chances(self, of: tuple[Aggregate, ...], rows: Integers, move: Move) -> dict[int | None, float]:
        (ranked,) = (one for one in of if isinstance(one, Sorted) and one.at)
        choice = self._choice(ranked, move)
        return dict(zip(self.grid(ranked).tolist(), choice.shares(np.sort(rows.ravel())).tolist(), strict=True))

    def _choice(self, of: Sorted, move: Move) -> RankedChoice:
        assert of.at is not None  # noqa: S101 - refused in `needs`
        return RankedChoice(self.base(move, of.at), partial(distances, self.grid(of), of.at))

    def rows_apart(self, of: tuple[Aggregate, ...], move: Move) -> RowsApart | None:  # noqa: ARG002 - whatever moves
        """The share of n rows is met at most values, and missed by one row at a few: a row more turns it around.

        With n = q rows at a share p / q <= 1/2: p − 1 at the low end, one a little above, and the others at the high
        end. Above the one all ranks are right and below it off by q; a row more at the low end puts them off by q − p
        and by p. So the few gain what the many lose, each half of epsilon. Shares above 1/2 are the same upside down.
        """
        (ranked,) = (one for one in of if isinstance(one, Sorted) and one.at)
        assert isinstance(ranked.of, Clipped)  # noqa: S101 - quantiles are of values within a clip
        assert ranked.at is not None  # noqa: S101 - refused in `needs`
        ends = [{ranked.of.column: float(end)} for end in (ranked.of.low, ranked.of.high)]
        share = min(ranked.at, 1 - ranked.at)
        near, far = ends if ranked.at == share else ends[::-1]
        beside = {name: near[name] + FEW_VALUES * (far[name] - near[name]) for name in near}
        rows = (near,) * (share.numerator - 1), (beside,), (far,) * (share.denominator - share.numerator)
        return RowsApart(tuple(row for some in rows for row in some), near, far)

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:  # noqa: ARG002
        of, column = _ranked(cells.columns)
        grid, values = self.grid(of), np.zeros(cells.domain.size, dtype=np.int64)
        possible = np.flatnonzero(cells.domain.possible.ravel())
        choice = self._choice(of, cells.move)
        for cell, word in zip(possible.tolist(), draws.words(len(possible)).tolist(), strict=True):
            values[cell] = grid[choice.place(column.at(cell), word, draws)]
        return Noisy(cells.domain, values.reshape(cells.domain.possible.shape), cells.step, cells.move)

    def uncertainty(self, noisy: Noisy) -> Uncertainty:  # noqa: ARG002 - withheld
        return Withheld(WHY)

    def unstated(self, move: Move) -> Withheld:  # noqa: ARG002 - never
        return Withheld(WHY)

    def expected(self, move: Move, number: Typical) -> Withheld:  # noqa: ARG002 - withheld
        self.places(move)
        return Withheld(WHY)


def distances(grid: Integers, share: Fraction, rows: Integers) -> Integers:
    """How far the rank of every candidate is off, for rows in their order.

    >>> distances(np.array([0, 5, 10]), Fraction(1, 2), np.array([1, 5, 7])).tolist()
    [3, 0, 3]
    """
    below, up_to = (share.denominator * np.searchsorted(rows, grid, side) for side in ("left", "right"))
    aim = share.numerator * len(rows)
    return np.asarray(np.maximum(np.maximum(below - aim, aim - up_to), 0), dtype=np.int64)


def _ranked(columns: Mapping[Aggregate, Any]) -> tuple[Sorted, Ragged]:
    """The rows of every cell in their order, and the share that is looked at."""
    ((of, column),) = ((one, column) for one, column in columns.items() if isinstance(one, Sorted) and one.at)
    return of, column


EXAMPLE = ExponentialQuantile(1)

"""Far values: values at one end of a column that lie far outside all others, as a code for a missing value does."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from sfumato.confidential.engines.engine import Columns
from sfumato.confidential.sealed import Sealed
from sfumato.errors import how_many
from sfumato.schema import Aggregate, Clipped, Rows, Sum

NEAR, GAP = 2, 20
"""Values from the farthest to its half are far outside if no other is above a twentieth of it."""
LEAST_STEPS = 100
"""How many steps the farthest value has at least, so that counts of a few are not asked about."""


@dataclass(frozen=True, eq=False, repr=False)
class FarValues(Sealed):
    """The rows whose values lie far outside the rest: confidential."""

    column: str
    farthest: float
    or_farther: bool
    rows: int
    missing_codes: bool
    """Whether the statistic names codes for a missing value."""

    @property
    def words(self) -> str:
        """A question, and what to write where the values are codes."""
        reach = f"{self.farthest:,.12g}{' or farther' if self.or_farther else ''}"
        code = "CODE" if self.or_farther else f"{self.farthest:.12g}"
        more = "add it to" if self.missing_codes else "write"
        return (
            f"Is this a code for a missing value? {how_many(self.rows, 'row')} of '{self.column}' reach {reach}, and "
            f'no other value is a twentieth as far from 0. If it is a code, {more} missing_codes = ["{code}"], with '
            "`missing`, the value that stands for it, and check again."
        )


@dataclass(frozen=True)
class FarthestEnd(Sealed):
    """The least or the largest value of a column, with the counts that show whether it lies far outside."""

    clipped: Clipped
    farthest: Fraction

    @property
    def is_asked(self) -> bool:
        return abs(self.farthest) >= LEAST_STEPS * self.clipped.step

    def _count(self, part: int) -> Sum:
        """A step for every row beyond a part of the farthest value; what is missing counts as not far."""
        step = self.clipped.step
        bound = floor(abs(self.farthest) / part / step) * step
        if self.farthest > 0:
            return Sum(replace(self.clipped, low=bound, high=bound + step))
        return Sum(replace(self.clipped, low=-bound - step, high=-bound))

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (self._count(NEAR), self._count(GAP))

    def rows(self, columns: Columns, all_rows: int) -> int:
        """How many rows lie far outside; 0 where values stand between these and the others."""
        near, gap = (self._rows_beyond(asked, columns, all_rows) for asked in (self._count(NEAR), self._count(GAP)))
        return near if 0 < near == gap < all_rows else 0

    def _rows_beyond(self, asked: Sum, columns: Columns, all_rows: int) -> int:
        (value,) = asked.values
        assert isinstance(value, Clipped)  # noqa: S101 - as it was asked
        low, high = value.ends
        total = int(columns[asked].item())
        return total - all_rows * low if self.farthest > 0 else all_rows * high - total


def find_far_values(ends: Sequence[FarthestEnd], columns: Columns, looked_to: float) -> tuple[FarValues, ...]:
    """The ends at which values lie far outside the rest, from the counts of all rows."""
    all_rows = int(columns[Rows()].item())
    found = [(end, end.rows(columns, all_rows)) for end in ends]
    return tuple(
        FarValues(
            end.clipped.column, float(end.farthest), abs(end.farthest) >= looked_to, rows, bool(end.clipped.codes)
        )
        for end, rows in found
        if rows
    )


def ends_of(clipped: Clipped, least: float, largest: float) -> Sequence[FarthestEnd]:
    """The ends of a column that are asked about."""
    step = clipped.step
    ends = [FarthestEnd(clipped, Fraction(round(value / float(step))) * step) for value in (largest, least)]
    return [end for end, sign in zip(ends, (1, -1), strict=True) if sign * end.farthest > 0 and end.is_asked]


def aggregates_of(ends: Sequence[FarthestEnd]) -> tuple[Aggregate, ...]:
    return (Rows(), *dict.fromkeys(asked for end in ends for asked in end.aggregates))

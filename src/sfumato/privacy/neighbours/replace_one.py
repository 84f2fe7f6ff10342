"""Replace-one: one unit has other values; how many units there are is public.

Move. A replaced row goes from one end to the other within a cell, or from one cell to another; the norm of a sum of k
such moves is at most k times the largest of them. Over a public register a unit's report stays in its cell and goes
from any value to any other, or to none, which counts as 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sfumato.errors import PlanError
from sfumato.privacy.contribution import Contribution
from sfumato.privacy.move import Bounded
from sfumato.privacy.neighbours.counted_rows import CountedRows
from sfumato.privacy.neighbours.neighbours import UnitRows
from sfumato.schema import Attribute, Domain


@dataclass(frozen=True)
class ReplaceOne(CountedRows):
    """One unit has other values; how many units there are is public, and so is what is fixed.

    >>> from sfumato.schema import Table
    >>> ReplaceOne("person").move(Contribution(), Table(()))
    Bounded(cells=2, l1=2, l2_squared=2, largest=1)
    """

    fixed: tuple[str, ...] = ()
    kind = "replace-one"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.fixed, tuple) or not all(isinstance(name, str) for name in self.fixed):
            raise PlanError('[hidden] fixed is a list of attributes, for example fixed = ["sector"].')

    def move(self, row: Contribution, domain: Domain) -> Bounded:
        low, high = row.bounds
        if domain.register:
            apart = max(high, 0) - min(low, 0)
            return Bounded(cells=1, l1=apart, l2_squared=apart**2, largest=apart)
        rows, largest = self.at_most, max(abs(low), abs(high))
        square = max((high - low) ** 2, 2 * largest**2)
        return Bounded(
            cells=2 * rows, l1=2 * rows * largest, l2_squared=rows**2 * square, largest=rows * max(high - low, largest)
        )

    @property
    def attained(self) -> tuple[str, ...]:
        """A row that keeps its place reaches none of them."""
        return () if self.fixed else super().attained

    def pair(self, row: Contribution, domain: Domain) -> tuple[UnitRows, UnitRows]:
        if domain.register:
            low, high = row.bounds
            return UnitRows(1, row.reaching(high if high > 0 else low)), UnitRows(
                int(low < 0 < high), row.reaching(low)
            )
        rows = self._too_many(domain)
        return UnitRows(rows, row.farthest), UnitRows(rows, row.farthest, elsewhere=True)

    def pairs(self, row: Contribution, domain: Domain) -> tuple[tuple[UnitRows, UnitRows], ...]:
        """Of values of either sign rows also go from one end to the other in their cell, |low| + |high| each.

        That is l1 where both ends are as far, and l2 where it is more than √2 times the farther; of what is seen of
        several tables at once, either may be more.
        """
        low, high = row.bounds
        if domain.register or not low < 0 < high:
            return (self.pair(row, domain),)
        rows = self._too_many(domain)
        within = UnitRows(rows, row.reaching(high)), UnitRows(rows, row.reaching(low))
        return (within,) if high == -low else (self.pair(row, domain), within)

    def pair_words(self, one: UnitRows, other: UnitRows) -> str:
        """A unit that keeps something is exchanged for one that has the same.

        >>> one, other = UnitRows(1), UnitRows(1, elsewhere=True)
        >>> ReplaceOne("person", fixed=("area",)).pair_words(one, other)
        'the record of a person is exchanged for one with the same area'
        """
        said = super().pair_words(one, other)
        kept = " and ".join(self.fixed)
        return f"{said.removesuffix('elsewhere')}with the same {kept}" if kept and other.elsewhere else said

    def keeps(self, attributes: Sequence[Attribute]) -> frozenset[str]:  # noqa: ARG002 - they are named
        return frozenset(self.fixed)

    def exchanged(self) -> frozenset[str]:
        """With an id, which rows are kept depends on all that they say, so what is fixed of each is not of those."""
        return frozenset(self.fixed) if self.id is None else frozenset()

    def ends(self, row: Contribution) -> tuple[tuple[int, int], ...]:
        """Between the least and the most that its rows, of which it has one at least, add in a cell, the farther first.

        Whatever rows do, each side is a mean of such ends in single cells, and a norm is convex. Rows that need not be
        in the universe on both sides may add nothing.

        >>> ReplaceOne("person").ends(Contribution()), ReplaceOne("firm", "id", 3).ends(Contribution())
        (((1, 1),), ((3, 3), (3, 1)))
        >>> ReplaceOne("firm", "id", 3).ends(Contribution("loss", low=-5, high=-2))
        ((-15, -15), (-15, -2))
        """
        low, high = row.bounds
        low, high = low * (self.at_most if low < 0 else 1), high * (self.at_most if high > 0 else 1)
        if (self.id is not None and row.among) or not {one.name for one in row.among} <= set(self.fixed):
            low, high = min(low, 0), max(high, 0)
        far, near = sorted((high, low), key=abs, reverse=True)
        return ((far, far), *(() if far == near else ((far, near),)))

    def sides(self, row: Contribution, domain: Domain, left: Fraction, come: Fraction) -> tuple[UnitRows, UnitRows]:
        first, second = (self._side(row, domain, amount) for amount in (left, come))
        return first, replace(second, elsewhere=left * come > 0)

    def _side(self, row: Contribution, domain: Domain, amount: Fraction) -> UnitRows:
        """Rows that add so much in all, one or more than count; none of it where they are not counted."""
        many = self._too_many(domain)
        if not amount and all(row.bounds):
            return UnitRows(many, row.farthest, outside=True)
        end = next((one for one in row.bounds if one * self.at_most == amount), None)
        return UnitRows(1, row.reaching(int(amount))) if end is None else UnitRows(many, row.reaching(end))

    def touches(self, named: frozenset[str]) -> int:
        """A replaced unit leaves one universe and joins another, unless what parts them is public.

        With an id that does not help: which of a unit's rows are kept depends on all that they say, so the row that
        is kept may be of another universe although each row's own is public.
        """
        public = self.id is None and named and named <= frozenset(self.fixed)
        return 1 if public else 2 * self.at_most

    def exposes(self) -> tuple[str, ...]:
        return self.fixed

    def words(self, called: Mapping[str, str] | None = None) -> str:  # noqa: ARG002 - no variable is named
        known = f" (its {', '.join(self.fixed)} and the number of units are public)" if self.fixed else ""
        return f"What any one {self.unit} answered, in {self.rows}{known or '; the number of units is public'}."


EXAMPLE = ReplaceOne("establishment", "id", 2)

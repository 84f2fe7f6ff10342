"""Add-remove: one unit is there or not, with all its rows.

Move. The rows of a unit, at most k, add k times the farthest value in all; where they stand in one cell, that is the l2
norm and the largest step as well. Over a public register, what is there or not is a unit's one report.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.privacy.contribution import Contribution
from sfumato.privacy.move import Bounded
from sfumato.privacy.neighbours.counted_rows import CountedRows
from sfumato.privacy.neighbours.neighbours import Implied, Neighbours, UnitRows
from sfumato.schema import Attribute, Domain


@dataclass(frozen=True)
class AddRemove(CountedRows):
    """One unit is there or not.

    >>> from sfumato.schema import Table
    >>> AddRemove("firm", "id", 8).move(Contribution(), Table(()))
    Bounded(cells=8, l1=8, l2_squared=64, largest=8)
    """

    kind = "add-remove"

    def move(self, row: Contribution, domain: Domain) -> Bounded:  # noqa: ARG002 - the same in tables and registers
        far = self.at_most * max(abs(bound) for bound in row.bounds)
        return Bounded(cells=self.at_most, l1=far, l2_squared=far**2, largest=far)

    def pair(self, row: Contribution, domain: Domain) -> tuple[UnitRows, UnitRows]:
        return UnitRows(self._too_many(domain), row.farthest), UnitRows(0, row.farthest)

    def keeps(self, attributes: Sequence[Attribute]) -> frozenset[str]:  # noqa: ARG002 - a unit that is gone keeps none
        return frozenset()

    def touches(self, named: frozenset[str]) -> int:  # noqa: ARG002 - whichever attributes part them
        return self.at_most

    def covers(self, other: Neighbours) -> int | None:
        """Other values are those that go and those that come: two steps."""
        if other.kind == "replace-one" and (other.unit, other.id) == (self.unit, self.id):
            return 2 if vars(other)["at_most"] <= self.at_most else None
        return super().covers(other)

    def implied(self, called: Mapping[str, str] | None = None) -> tuple[Implied, ...]:  # noqa: ARG002 - few name any
        return (Implied(f"other values of any one {self.unit} in place of its own", 2),)

    def exposes(self) -> tuple[str, ...]:
        return ()

    def words(self, called: Mapping[str, str] | None = None) -> str:  # noqa: ARG002 - no variable is named
        """The promise as one sentence.

        >>> AddRemove("establishment", "id", 8).words()
        'Whether any one establishment is in the data at all, with its rows, at most 8.'
        """
        return f"Whether any one {self.unit} is in the data at all, with {self.rows}."


EXAMPLE = AddRemove("establishment", "id", 2)

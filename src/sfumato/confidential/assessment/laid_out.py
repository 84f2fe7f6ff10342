"""LaidOut: the cells of a measure, in one table or one table after the other, and their sums by some attributes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.assessment.comparisons import margin
from sfumato.schema import Attribute, Table

MOST_TABLES = 300
"""How many of the tables of a family, beside those of one and two attributes, are looked at."""


@dataclass(frozen=True, eq=False)
class LaidOut:
    """The tables that a measure is tabulated in, each a table of the same records."""

    tables: tuple[Table, ...]

    @property
    def size(self) -> int:
        return sum(table.size for table in self.tables)

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes of all tables, each at the lowest level that some table has it at."""
        known: dict[str, Attribute] = {}
        for one in (one for table in self.tables for one in table.attributes):
            held = known.setdefault(one.name, one)
            known[one.name] = one if len(one.levels.leaves) > len(held.levels.leaves) else held
        return tuple(known.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.attributes)

    @cached_property
    def _slices(self) -> list[slice]:
        ends = np.cumsum([0, *(table.size for table in self.tables)]).tolist()
        return [slice(start, stop) for start, stop in pairwise(ends)]

    def holder(self, names: Sequence[str]) -> int | None:
        """The place of the table that tells some attributes apart in most cells, the smallest of those."""
        asked = tuple(names)
        if asked not in self._held:
            fitting = [at for at, known in enumerate(self._names) if known.issuperset(asked)]
            finest = lambda at: (-self.tables[at].margin(asked).size, self.tables[at].size)  # noqa: E731
            self._held[asked] = min(fitting, key=finest, default=None)
        return self._held[asked]

    @cached_property
    def _held(self) -> dict[tuple[str, ...], int | None]:
        return {}

    @cached_property
    def _names(self) -> list[frozenset[str]]:
        return [frozenset(table.names) for table in self.tables]

    def table(self, names: Sequence[str]) -> Table:
        """The table by some attributes, which some table has together."""
        at = self.holder(names)
        if at is None:
            raise LookupError(f"no table has {', '.join(names)} together")
        return self.tables[at].margin(names)

    def first(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values of the first table, in which every record counts once."""
        return values.reshape(-1)[self._slices[0]]

    def summed(self, values: NDArray[Any], names: Sequence[str]) -> NDArray[Any]:
        """The sums of values, of which each cell of all tables has one, in the table by some attributes."""
        at = self.holder(names)
        assert at is not None  # noqa: S101 - asked of tables that there are
        part = values.reshape(-1)[self._slices[at]].reshape(self.tables[at].shape)
        return margin(part, self.tables[at].names, names)

    def small(self) -> list[tuple[str, ...]]:
        """The tables of one and two attributes that there are."""
        pairs = (one for dimension in (1, 2) for one in combinations(self.names, dimension))
        return [one for one in pairs if self.holder(one) is not None]

    def largest(self) -> list[tuple[str, ...]]:
        """The tables themselves that have more attributes, evenly spread where there are too many."""
        found = [one for one in dict.fromkeys(table.names for table in self.tables) if len(one) not in {1, 2}]
        places = np.linspace(0, len(found) - 1, min(len(found), MOST_TABLES)).astype(int)
        return [found[place] for place in dict.fromkeys(places.tolist())]

    def unseen(self) -> str:
        """What of the tables themselves is not looked at, in words."""
        found = len({table.names for table in self.tables if len(table.names) not in {1, 2}})
        return f"{MOST_TABLES:,} of its {found:,} largest tables stand for all" if found > MOST_TABLES else ""

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

MOST_TABLES = 8
"""How many of the largest tables of a family are looked at, beside those that its small ones are summed from."""


@dataclass(frozen=True, eq=False)
class LaidOut:
    """The tables that a measure is tabulated in, each a table of the same records."""

    tables: tuple[Table, ...]
    every: tuple[Table, ...] = ()
    """All tables of the measure, where some stand for them."""

    @classmethod
    def of(cls, every: Sequence[Table], wanted: Sequence[tuple[str, ...]] = ()) -> "LaidOut":
        """Of many tables a few that have all tables of one and two attributes, those wanted, and some large ones."""
        known = [frozenset(table.names) for table in every]
        small = {frozenset(one) for names in known for size in (1, 2) for one in combinations(sorted(names), size)}
        left, chosen = small | {frozenset(one) for one in wanted}, _spread(len(every))
        for place in chosen:
            left = {one for one in left if not one <= known[place]}
        while left := {one for one in left if any(one <= names for names in known)}:
            best = max(range(len(every)), key=lambda at: (sum(one <= known[at] for one in left), -every[at].size))
            chosen.append(best)
            left = {one for one in left if not one <= known[best]}
        return cls(tuple(every[place] for place in sorted(set(chosen))), tuple(every))

    def taken(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values of these tables, of those that all tables of the measure have one after the other."""
        if len(self.every) <= 1:
            return values
        ends = np.cumsum([0, *(table.size for table in self.every)])
        places = [self.every.index(table) for table in self.tables]
        return np.concatenate([values[ends[place] : ends[place + 1]] for place in places])

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
        """The tables themselves that have more attributes."""
        return [one for one in dict.fromkeys(table.names for table in self.tables) if len(one) not in {1, 2}]

    def unseen(self) -> str:
        """What of the tables themselves is not looked at, in words."""
        found, seen = (len({one.names for one in some if len(one.names) > 2}) for some in (self.every, self.tables))
        return f"{seen:,} of its {found:,} largest tables stand for all" if found > seen else ""


def _spread(tables: int) -> list[int]:
    """Places evenly spread over so many tables."""
    return list(dict.fromkeys(np.linspace(0, tables - 1, min(tables, MOST_TABLES)).astype(int).tolist()))

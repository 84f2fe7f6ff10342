"""Bounds of the groups that a reader makes, counted while an address or a body is read and before any number is."""

from dataclasses import dataclass

from sfumato.errors import QueryError
from sfumato.query import Group
from sfumato.schema import Attribute

MOST_NAMED, MOST_SUMMED = 20_000, 250_000
"""The levels that the groups of one variable may name together, and the lowest levels that these may hold."""
TIMES = 4
"""How often all levels of a long list may be named: a table by it costs its length anyway."""


@dataclass
class GroupBounds:
    """How many levels the groups of one variable have named so far, and how many lowest levels these hold."""

    attribute: Attribute
    named: int = 0
    summed: int = 0

    def add(self, group: Group) -> Group:
        """Count a group, and refuse it where all groups together name or hold too many levels."""
        levels = self.attribute.levels
        self.named += len(group.codes)
        most_named = max(MOST_NAMED, TIMES * len(levels.codes))
        if self.named <= most_named:
            self.summed += min(len(levels.leaves), sum(map(levels.leaf_count, group.codes)))
        if self.named > most_named or self.summed > max(MOST_SUMMED, TIMES * len(levels.leaves)):
            raise QueryError(
                f"{self.attribute.label}: the groups name more than {most_named:,} levels together, or hold too many "
                "lowest levels; make fewer groups, or name a level instead of all that lies below it."
            )
        return group

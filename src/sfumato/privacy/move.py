"""Move: how far the cells of one measure can go between neighbours, in steps of the statistic's lattice."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bounded:
    """At most so many cells move, by so much in all (l1) and in squares (l2_squared), none by more than `largest`.

    A unit with k rows can put them all in one cell, so l2 is k and not the root of k.
    """

    cells: int
    l1: int
    l2_squared: int
    largest: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "largest", self.largest or self.l1)


Move = Bounded

"""Partition: which area each unit is in, made from locations alone, with the areas above it."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.geography.area_tree import AreaLevel, joined, listed, told_joins
from sfumato.geography.locations import Integers, Locations
from sfumato.geography.microaggregation import clusters, spread


@dataclass(frozen=True, eq=False)
class SquareGround:
    """Squares of a side in metres, from their west and south ends, and the place of the area that each is part of."""

    side: int
    corners: Integers
    area: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Partition:
    """For each unit the place of its area among those that are listed lowest, and what was joined, in words.

    Where areas have a ground, they follow from it alone, and where units are is hidden.
    """

    locations: Locations
    area: NDArray[np.int32]
    levels: tuple[AreaLevel, ...]
    notes: tuple[str, ...] = ()
    ground: SquareGround | None = None

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """The areas that no other lies in, in the order of the list."""
        above = {level.parent for level in self.levels}
        return tuple(level.code for level in self.levels if level.code not in above)

    @cached_property
    def sizes(self) -> Integers:
        return np.bincount(self.area, minlength=len(self.codes))

    @cached_property
    def middles(self) -> NDArray[np.float64]:
        """The mean location of the units of each area; NaN where an area has none."""
        with np.errstate(invalid="ignore", divide="ignore"):
            sums = [np.bincount(self.area, side, len(self.codes)) for side in self.locations.points.T]
            return np.column_stack([one / self.sizes for one in sums])

    def coarser(self) -> "Partition":
        """The same units in the areas that theirs lie in."""
        level, lowest = {level.code: level for level in self.levels}, set(self.codes)
        kept = tuple(one for one in self.levels if one.code not in lowest)
        if not kept:
            instead = "give a larger k" if self.ground else "give --within"
            raise DataError(f"{len(self.codes):,} areas lie in none, and are more than a map shows; {instead}.")
        upper = Partition(self.locations, self.area, kept)
        place = {code: number for number, code in enumerate(upper.codes)}
        above = np.array([place[level[code].parent] for code in self.codes], dtype=np.int32)
        ground = replace(self.ground, area=above[self.ground.area]) if self.ground else None
        return Partition(self.locations, above[self.area], kept, ground=ground)

    @cached_property
    def spread(self) -> float:
        """The sum of squared distances of units to the middle of their area, in square metres."""
        return spread(self.locations.points.astype(np.int64), self.area)


def microaggregated(locations: Locations, k: int) -> Partition:
    """Clusters of k to 2k - 1 units, none across an area of the finest level that locations have.

    An area with fewer than k units is joined to its nearest neighbour before, in the same area above where it can be.
    """
    if len(locations) < k:
        raise DataError(f"There are fewer than {k:,} locations, and a cluster has at least as many; give a smaller k.")
    into = joined(locations, k)
    group = into[locations.finest]
    order = locations.order[np.argsort(group[locations.order], kind="stable")]
    held = np.bincount(group, minlength=len(into))
    starts, area, before = np.cumsum(held) - held, np.empty(len(locations), dtype=np.int32), 0
    kept = [number for number in locations.in_order if held[number]]
    for number in kept:
        here = order[starts[number] :][: held[number]]
        area[here] = before + clusters(locations.points[here].astype(np.int64), k)
        before += held[number] // k
    words = told_joins(locations.chains, into, k)
    notes: dict[str, str] = {}
    for code, told in words:
        notes[code] = f"{notes[code]} {told}" if code in notes else told
    levels = listed([(locations.chains[number], int(held[number] // k)) for number in kept], notes)
    return Partition(locations, area, levels, tuple(told for _, told in words))

"""Squares: a fixed grid over a box that is declared, each square in one of four of twice its side, up to the largest.

Which squares there are says nothing of anybody, so that locations may be hidden: the alternative to clusters where they
are not public. `merged` makes areas of squares by numbers that were published of them, until each has at least k.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError, PlanError
from sfumato.geography.area_tree import AreaLevel
from sfumato.geography.locations import Integers, Locations
from sfumato.geography.partition import Partition, SquareGround

MOST = 4_000_000


@dataclass(frozen=True)
class Squares:
    """Squares of a side in metres that meet a box, in larger ones of `depth` doublings, from its west and south on.

    >>> Squares(250, (0, 0, 900, 400)).depth, [level.code for level in Squares(500, (0, 0, 900, 400)).levels()]
    (2, ['s0', 's0.0', 's0.1'])
    """

    side: int
    box: tuple[int, int, int, int]
    """West, south, east and north, in metres."""

    def __post_init__(self) -> None:
        west, south, east, north = self.box
        if self.side < 1 or west >= east or south >= north:
            raise PlanError("Squares have a side of 1 metre or more, and a box west,south,east,north in metres.")
        if 4**self.depth > MOST:
            raise PlanError(f"Squares of {self.side} metres are over {MOST:,} in the box; give a longer side.")

    @property
    def depth(self) -> int:
        """How often the largest square is quartered."""
        west, south, east, north = self.box
        across = -(-max(east - west, north - south) // self.side)
        return (across - 1).bit_length()

    def levels(self) -> tuple[AreaLevel, ...]:
        """The squares with those that they lie in, each followed by those in it; none lies outside the box."""
        return tuple(self._below("s0", "", 0, self.box[:2]))

    def _below(self, code: str, parent: str, depth: int, corner: tuple[int, int]) -> list[AreaLevel]:
        if corner[0] >= self.box[2] or corner[1] >= self.box[3]:
            return []  # nobody can be there, and noise on it would be for nothing
        found = [AreaLevel(code, f"Square {code}", parent)]
        half = self.side << self.depth >> depth + 1
        for quarter in range(4) if depth < self.depth else ():
            inner = corner[0] + half * (quarter & 1), corner[1] + half * (quarter >> 1)
            found += self._below(f"{code}{'' if depth else '.'}{quarter}", code, depth + 1, inner)
        return found

    @cached_property
    def _listed(self) -> tuple[Integers, Integers]:
        """The numbers of the smallest squares that meet the box, two bits a quartering, and how far east and north."""
        numbers, steps = np.arange(4**self.depth), np.zeros((4**self.depth, 2), dtype=np.int64)
        for bit in range(self.depth):
            steps |= np.column_stack([numbers >> 2 * bit & 1, numbers >> 2 * bit + 1 & 1]) << bit
        met = (np.asarray(self.box[:2]) + self.side * steps < self.box[2:]).all(axis=1)
        return numbers[met], steps[met]

    def places(self, points: NDArray[np.int32]) -> Integers:
        """The place of the smallest square of each point among those that are listed."""
        west, south, east, north = self.box
        inside = (points >= (west, south)).all(axis=1) & (points < (east, north)).all(axis=1)
        if not inside.all():
            raise DataError("Some locations lie outside the box of squares; give a box that holds the whole region.")
        across = (points.astype(np.int64) - (west, south)) // self.side
        found = np.zeros(len(points), dtype=np.int64)
        for bit in range(self.depth):
            found |= ((across[:, 0] >> bit & 1) << 2 * bit) | ((across[:, 1] >> bit & 1) << 2 * bit + 1)
        return np.searchsorted(self._listed[0], found)

    def ground(self, area: NDArray[np.int32]) -> SquareGround:
        """All smallest squares in the order of their numbers, with the place of the area of each."""
        return SquareGround(self.side, np.asarray(self.box[:2]) + self.side * self._listed[1], area)


def gridded(locations: Locations, squares: Squares) -> Partition:
    """The smallest square of each unit; which squares there are does not depend on the units."""
    places, levels = squares.places(locations.points).astype(np.int32), squares.levels()
    every = np.arange(len(_lowest(levels)), dtype=np.int32)
    return Partition(locations, places, levels, ground=squares.ground(every))


def merged(locations: Locations, squares: Squares, published: Mapping[str, float], k: int) -> Partition:
    """Areas of squares that lie together and have a published number of at least k each.

    Of four squares those with less than k become one area, together with the least of the others where that is still
    too little; areas follow from published numbers alone.
    """
    levels = squares.levels()
    parts = _parts(levels, published, k)
    place = {code: number for number, code in enumerate(_lowest(levels))}
    area = np.empty(len(place), dtype=np.int32)
    for number, (codes, _) in enumerate(parts):
        area[[place[code] for code in codes]] = number
    named = tuple(AreaLevel(f"a{number + 1}", f"Area {number + 1}") for number in range(len(parts)))
    return Partition(locations, area[squares.places(locations.points)], named, ground=squares.ground(area))


Parts = list[tuple[list[str], float]]
"""The squares of an area, and the number that was published of them."""


def _parts(levels: Sequence[AreaLevel], published: Mapping[str, float], k: int) -> Parts:
    """From the smallest squares up: those in one larger square are areas of their own, or are taken together."""
    waiting: dict[str, Parts] = {}
    for level in reversed(levels):
        if level.code not in waiting:
            if level.code not in published:
                raise DataError(f"The release has no number of square '{level.code}'; it is of other squares.")
            waiting[level.code] = [([level.code], published[level.code])]
        own = _enough(waiting.pop(level.code)[::-1], k)
        waiting.setdefault(level.parent, []).extend(own[::-1])
    return waiting[""][::-1]


def _enough(parts: Parts, k: int) -> Parts:
    """The same parts, those with less than k taken together, and with the least of the others where need be."""
    small = [part for part in parts if part[1] < k]
    large = [part for part in parts if part[1] >= k]
    if len(parts) == 1 or not small:
        return parts
    if sum(number for _, number in small) < k and large:
        least = min(large, key=lambda part: part[1])
        small.append(least)
        large = [part for part in large if part is not least]
    together = [code for codes, _ in small for code in codes], sum(number for _, number in small)
    return sorted([*large, together], key=lambda part: part[0][0])


def _lowest(levels: Sequence[AreaLevel]) -> list[str]:
    above = {level.parent for level in levels}
    return [level.code for level in levels if level.code not in above]

"""Classes: at most five groups of numbers, parted where most of them can be told apart by their errors."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

MOST_CLASSES = 5
MOST_BORDERS = 100
"""The most places that are tried for a border."""
SHADES = {1: (3,), 2: (2, 5), 3: (1, 3, 5), 4: (1, 2, 4, 5), 5: (1, 2, 3, 4, 5)}
"""Which of five shades stand for so many classes, as far apart as they go."""
Interval = tuple[float, float]


@dataclass(frozen=True)
class Classes:
    """Groups from low to high; a number belongs to one only where its whole interval lies between its borders.

    A class holds its lower border and not its upper one, as the key of a map says. So two numbers of different classes
    have intervals that share no number, not even an end: where noise moves in whole steps two that are truly equal
    often have intervals that touch in their true number.
    """

    borders: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.borders) + 1

    def place(self, interval: Interval) -> int | None:
        """Which class an interval lies in; none where a border lies inside it.

        >>> [Classes((10,)).place(one) for one in ((2, 9), (2, 10), (10, 11), (9, 11), (10, 10))]
        [0, None, 1, None, 1]
        """
        first, last = (bisect_right(self.borders, end) for end in interval)
        return first if last == first else None

    def shade(self, interval: Interval) -> int | None:
        """The shade of an interval, 1 to 5, further from the paper the larger it is; none where it is in no class."""
        place = self.place(interval)
        return None if place is None else SHADES[len(self)][place]


@dataclass(frozen=True)
class BorderSearch:
    """Round places where borders may stand, and how many intervals lie whole between any two of them."""

    places: tuple[float, ...]
    between: tuple[tuple[int, ...], ...]
    """By the places of the lower and the upper border, 0 and one more than there are places standing for no border."""
    widest: tuple[int, ...]
    """The places in the order of the gaps that they stand in."""

    @classmethod
    def of(cls, intervals: Sequence[Interval]) -> "BorderSearch":
        gaps = list(pairwise(sorted({end for one in intervals for end in one})))
        gaps = gaps[:: max(1, math.ceil(len(gaps) / MOST_BORDERS))]
        wide = {roundest(*gap): gap[1] - gap[0] for gap in gaps}
        places = tuple(sorted(wide))
        whole = len(places) + 1
        counts = [[0] * (whole + 1) for _ in range(whole + 1)]
        for low, high in intervals:
            counts[bisect_right(places, low)][bisect_right(places, high) + 1] += 1
        for lower in range(whole, -1, -1):
            for upper in range(1, whole + 1):
                above = counts[lower + 1] if lower < whole else [0] * (whole + 1)
                inner = above[upper - 1]
                counts[lower][upper] += above[upper] + counts[lower][upper - 1] - inner
        order = sorted(range(len(places)), key=lambda place: -wide[places[place]])
        return cls(places, tuple(map(tuple, counts)), tuple(order))

    def told_apart(self, chosen: Sequence[int]) -> int:
        """How many pairs of intervals lie in different classes, if the borders stand at these places."""
        ends = [0, *(place + 1 for place in sorted(chosen)), len(self.places) + 1]
        counts = [self.between[low][high] for low, high in pairwise(ends)]
        return (sum(counts) ** 2 - sum(count**2 for count in counts)) // 2

    def moved(self, chosen: list[int]) -> list[int]:
        """The borders, each moved to where most pairs are told apart, until no move helps."""
        while True:
            before = self.told_apart(chosen)
            for at in range(len(chosen)):
                others = [*chosen[:at], *chosen[at + 1 :]]
                free = [place for place in self.widest if place not in others]
                chosen = [*others, max(free, key=lambda place: self.told_apart([*others, place]))]
            if self.told_apart(chosen) == before:
                return chosen


def classes_of(intervals: Sequence[Interval]) -> Classes:
    """Classes whose shades tell as many pairs apart as were found: for each number of borders, those that do so best.

    >>> classes_of([(1, 3), (2, 4), (7, 9), (8, 12)]).borders
    (6.0,)
    >>> classes_of([(43.0, 51.5), (42.5, 52.0)]).borders
    ()
    """
    search = BorderSearch.of(intervals)
    best: list[int] = []
    for count in range(1, min(MOST_CLASSES - 1, len(search.places)) + 1):
        start = [len(search.places) * (one + 1) // (count + 1) for one in range(count)]
        found = search.moved(start)
        if search.told_apart(found) > search.told_apart(best):
            best = found
    return Classes(tuple(search.places[place] for place in sorted(best)))


def roundest(low: float, high: float) -> float:
    """The number with the fewest digits above low and up to high, the one nearest to the middle of several.

    >>> roundest(0.4712, 0.4798), roundest(-3, 4), roundest(1234, 5678), roundest(0.47, 0.475)
    (0.476, 0.0, 3000.0, 0.472)
    """
    if low < 0 <= high:
        return 0.0
    middle = (low + high) / 2
    power = math.ceil(math.log10(max(abs(low), abs(high))))
    for exponent in range(power, power - 16, -1):
        step = 10.0**exponent
        near = float(f"{round(middle / step) * step:.12g}")
        if low < near <= high:
            return near
    return high

"""Parting: which areas of a map lie inside an area that a reader has drawn, and which its border cuts.

Outlines on a map are known to about a unit of its grid, so a border that runs no farther than `SLACK` inside an area
does not cut it. Borders are followed in steps of that length; whatever lies farther from them than that is on one side.
Plain arithmetic on whole numbers, as a public server has nothing else; `own_area` does it with whole files of shapes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.geography.reader_area import ReaderArea
from sfumato.geography.shapes import Shapes

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
SLACK = 1.5
"""In grid units: outlines are rounded to one, and simplified by about one."""
INSIDE, CUT, BOTH = "Inside", "Cut by the border", "Inside or cut"
"""What the areas inside, those that the border cuts, and both together are called."""
_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class DrawnArea:
    """The codes of the areas that lie inside what a reader has drawn, and of those that its border cuts."""

    inside: tuple[str, ...]
    cut: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Border:
    """The edges of some rings, each from its start to its end."""

    start: Floats
    end: Floats

    @classmethod
    def of(cls, rings: Sequence[Sequence[tuple[int, int]]]) -> "Border":
        closed = [np.asarray(ring, dtype=float) for ring in rings]
        return cls(np.concatenate(closed), np.concatenate([np.roll(ring, -1, axis=0) for ring in closed]))

    def some(self, kept: Flags) -> "Border":
        return Border(self.start[kept], self.end[kept])

    @cached_property
    def boxes(self) -> Floats:
        """The least and the greatest x and y of every edge."""
        return np.hstack([np.minimum(self.start, self.end), np.maximum(self.start, self.end)])

    @property
    def box(self) -> Floats:
        return np.append(self.boxes[:, :2].min(axis=0), self.boxes[:, 2:].max(axis=0))

    def around(self, points: Floats) -> Flags:
        """Whether the rings go around each point, however often."""
        return np.concatenate([(up - down) != 0 for up, down in self._crossed(points)])

    def holds(self, points: Floats) -> Flags:
        """Whether each point lies in what the rings enclose, a ring inside another being a hole."""
        return np.concatenate([(up + down) % 2 == 1 for up, down in self._crossed(points)])

    def _crossed(self, points: Floats) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """How many edges to the right of each point go up past it, and how many down."""
        (x1, y1), (x2, y2) = self.start.T, self.end.T
        for some in _pieces(points, len(self.start)):
            x, y = some[:, :1], some[:, 1:]
            side = (x2 - x1) * (y - y1) - (x - x1) * (y2 - y1)
            up, down = (y1 <= y) & (y < y2) & (side > 0), (y2 <= y) & (y < y1) & (side < 0)
            yield up.sum(axis=1), down.sum(axis=1)

    def far(self, points: Floats) -> Flags:
        """Whether each point is farther than the slack from every edge."""
        along = self.end - self.start
        square = np.maximum((along**2).sum(axis=1), 1e-9)
        found = []
        for some in _pieces(points, len(self.start)):
            off = some[:, None, :] - self.start
            part = np.clip((off * along).sum(axis=2) / square, 0, 1)
            apart = off - part[:, :, None] * along
            found.append(((apart**2).sum(axis=2) > SLACK**2).all(axis=1))
        return np.concatenate(found)

    def within(self, box: Floats) -> "Border":
        """The edges as far as they lie in a box."""
        along = self.end - self.start
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.stack([(box[:2] - self.start) / along, (box[2:] - self.start) / along])
        ends = np.where(along == 0, np.array([[[-np.inf]], [[np.inf]]]), ends)
        first, last = np.maximum(ends.min(axis=0).max(axis=1), 0), np.minimum(ends.max(axis=0).min(axis=1), 1)
        kept = first < last
        first, last, along, start = first[kept, None], last[kept, None], along[kept], self.start[kept]
        return Border(start + first * along, start + last * along)

    def steps(self) -> tuple[Floats, Floats]:
        """Places along the edges, no farther apart than the slack, and the direction across the edge at each."""
        along = self.end - self.start
        lengths = np.hypot(*along.T)
        count = np.maximum(np.ceil(lengths / SLACK), 1).astype(int)
        edge = np.repeat(np.arange(len(along)), count)
        part = (np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count) + 0.5) / count[edge]
        across = np.column_stack([-along[:, 1], along[:, 0]]) / np.maximum(lengths, 1e-9)[:, None]
        return self.start[edge] + part[:, None] * along[edge], across[edge]


def _pieces(points: Floats, edges: int) -> Iterator[Floats]:
    most = max(1, _AT_ONCE // max(edges, 1))
    for start in range(0, max(len(points), 1), most):
        yield points[start : start + most]


def parted(shapes: Shapes, codes: Sequence[str], area: ReaderArea) -> DrawnArea:
    """The areas of some codes that lie inside a reader's area, and those that its border cuts."""
    mine = Border.of(area.rings)
    listed = [Border.of(shapes.rings(code)) for code in codes]
    boxes = np.array([one.box for one in listed]).reshape(-1, 4)
    touched = np.array([_near(box, mine).any() for box in boxes], dtype=bool)
    # An area that the border comes nowhere near lies wholly on one side of it.
    corners = np.array([one.start[0] for one in listed]).reshape(-1, 2)
    inside = mine.around(corners) & ~touched
    cut = np.zeros(len(codes), dtype=bool)
    for place in np.flatnonzero(touched):
        near = mine.some(_near(boxes[place], mine))
        inside[place], cut[place] = _sides(listed[place], shapes.places[codes[int(place)]], near, mine)
    pick = [tuple(code for code, kept in zip(codes, some, strict=True) if kept) for some in (inside, cut)]
    return DrawnArea(*pick)


def _near(box: Floats, mine: Border) -> Flags:
    low, high = box[:2] - SLACK, box[2:] + SLACK
    return np.asarray(((mine.boxes[:, 2:] >= low) & (mine.boxes[:, :2] <= high)).all(axis=1))


def _sides(area: Border, middle: tuple[float, float], near: Border, mine: Border) -> tuple[bool, bool]:
    """Whether an area lies inside, and whether it is cut, by what lies on either side of the border that is near it."""
    own, _ = area.steps()
    seen = mine.around(own[near.far(own)])
    within, without = bool(seen.any()), bool((~seen).any())
    if not (within and without):
        # The border may run through the area without crossing its own: a hole, or the whole of a small drawing.
        there, across = near.within(area.box).steps()
        deep = area.holds(there) & area.far(there)
        beside = np.concatenate([there[deep] + SLACK * across[deep], there[deep] - SLACK * across[deep]])
        seen = mine.around(beside)
        within, without = within or bool(seen.any()), without or bool((~seen).any())
    if not (within or without):
        # The border runs all along the area's own: what lies in the middle of it tells the side.
        there = np.array([middle], dtype=float)
        seen = mine.around(there[area.holds(there) & near.far(there)])
        within, without = bool(seen.any()), bool((~seen).any())
    return within and not without, within == without

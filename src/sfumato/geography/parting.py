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
_AT_ONCE = 200_000
"""The most pairs of points and edges that are compared at once: few enough for a small memory."""
_STEPS, MOST_STEPS = 500, 5_000
"""How many steps along a border are looked at before it is asked whether both sides were seen, and at the most."""
_CELL, _ACROSS = 4.0, 2**24
"""The side of the cells in which edges are looked for, in grid units (over a step and the slack); cells in a row."""
_AROUND = tuple(x * _ACROSS + y for x in (-1, 0, 1) for y in (-1, 0, 1))


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

    def some(self, kept: Flags | NDArray[np.intp]) -> "Border":
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
        far = np.ones(len(points), dtype=bool)
        point, edge = self._near_pairs(points)
        start, along = self.start[edge], (self.end - self.start)[edge]
        off = points[point] - start
        part = np.clip((off * along).sum(axis=1) / np.maximum((along**2).sum(axis=1), 1e-9), 0, 1)
        apart = off - part[:, None] * along
        far[point[(apart**2).sum(axis=1) <= SLACK**2]] = False
        return far

    def _near_pairs(self, points: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Points and edges, each pair that may be within the slack: those in cells of the grid that touch."""
        places, _ = self.steps()
        edges = np.repeat(np.arange(len(self.start)), self._counts)
        edge_cells, of_edge = _distinct(_cells(places), edges)
        found = []
        for shift in _AROUND:
            cells = _cells(points) + shift
            first, last = (np.searchsorted(edge_cells, cells, side) for side in ("left", "right"))
            count = last - first
            point = np.repeat(np.arange(len(points)), count)
            place = np.arange(len(point)) + np.repeat(first - (np.cumsum(count) - count), count)
            found.append((point, of_edge[place]))
        pairs = [np.concatenate(one) for one in zip(*found, strict=True)]
        return pairs[0], pairs[1]

    def meets(self, box: Floats) -> Flags:
        """Which edges come into a box."""
        along = self.end - self.start
        first, last = self._parts(box)
        level = ((along != 0) | ((self.start >= box[:2]) & (self.start <= box[2:]))).all(axis=1)
        return np.asarray((first <= last) & level)

    def _parts(self, box: Floats) -> tuple[Floats, Floats]:
        """From where to where each edge lies between the sides of a box, as parts of its length."""
        along = self.end - self.start
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.stack([(box[:2] - self.start) / along, (box[2:] - self.start) / along])
        ends = np.where(along == 0, np.array([[[-np.inf]], [[np.inf]]]), ends)
        return np.maximum(ends.min(axis=0).max(axis=1), 0), np.minimum(ends.max(axis=0).min(axis=1), 1)

    def within(self, box: Floats) -> "Border":
        """The edges as far as they lie in a box."""
        along, (first, last) = self.end - self.start, self._parts(box)
        kept = first < last
        first, last, along, start = first[kept, None], last[kept, None], along[kept], self.start[kept]
        return Border(start + first * along, start + last * along)

    @cached_property
    def lengths(self) -> Floats:
        return np.asarray(np.hypot(*(self.end - self.start).T))

    @cached_property
    def first(self) -> Flags:
        """Which edges begin where the one before them does not end: the first of each ring."""
        return np.append(True, (self.start[1:] != self.end[:-1]).any(axis=1))[: len(self.start)]

    @cached_property
    def _counts(self) -> NDArray[np.intp]:
        return np.maximum(np.ceil(self.lengths / SLACK), 1).astype(np.intp)

    def steps(self) -> tuple[Floats, Floats]:
        """Places along the edges, no farther apart than the slack, and the direction across the edge at each."""
        along, lengths, count = self.end - self.start, self.lengths, self._counts
        edge = np.repeat(np.arange(len(along)), count)
        part = (np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count) + 0.5) / count[edge]
        across = np.column_stack([-along[:, 1], along[:, 0]]) / np.maximum(lengths, 1e-9)[:, None]
        return self.start[edge] + part[:, None] * along[edge], across[edge]

    def one_of_each_run(self, kept: Flags) -> NDArray[np.intp]:
        """Of some of the steps one of each run of neighbours along a ring."""
        starts = np.zeros(len(kept), dtype=bool)
        starts[(np.cumsum(self._counts) - self._counts)[self.first]] = True
        return np.flatnonzero(kept & (starts | ~np.append(False, kept[:-1])))


def _cells(points: Floats) -> NDArray[np.int64]:
    """The cell of a grid that each point lies in, as one number."""
    x, y = np.floor(points / _CELL).astype(np.int64).T
    return np.asarray(x * _ACROSS + y)


def _distinct(cells: NDArray[np.int64], edges: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The edges in each cell, each once, in the order of the cells."""
    order = np.lexsort((edges, cells))
    cells, edges = cells[order], edges[order]
    new = np.append(True, (cells[1:] != cells[:-1]) | (edges[1:] != edges[:-1]))[: len(cells)]
    return cells[new], edges[new]


def _pieces(points: Floats, edges: int) -> Iterator[Floats]:
    most = max(1, _AT_ONCE // max(edges, 1))
    for start in range(0, max(len(points), 1), most):
        yield points[start : start + most]


def parted(shapes: Shapes, codes: Sequence[str], area: ReaderArea) -> DrawnArea:
    """The areas of some codes that lie inside a reader's area, and those that its border cuts."""
    mine = Border.of(area.rings)
    length = float(mine.within(np.array([0, 0, shapes.width, shapes.height], dtype=float)).lengths.sum())
    every = max(1, round(length / SLACK / MOST_STEPS))
    listed = [Border.of(shapes.rings(code)) for code in codes]
    boxes = np.array([one.box for one in listed]).reshape(-1, 4)
    near = [mine.some(_near(box, mine)) for box in boxes]
    touched = np.array([len(edges.start) > 0 for edges in near], dtype=bool)
    # An area that the border comes nowhere near lies wholly on one side of it.
    corners = np.array([one.start[0] for one in listed]).reshape(-1, 2)
    inside = mine.around(corners) & ~touched
    cut = np.zeros(len(codes), dtype=bool)
    for place in np.flatnonzero(touched):
        inside[place], cut[place] = _sides(listed[place], shapes.places[codes[int(place)]], near[place], mine, every)
    pick = [tuple(code for code, kept in zip(codes, some, strict=True) if kept) for some in (inside, cut)]
    return DrawnArea(*pick)


def _near(box: Floats, mine: Border) -> Flags:
    """Which edges come into a box, or within the slack of it."""
    low, high = box[:2] - SLACK, box[2:] + SLACK
    near = np.asarray(((mine.boxes[:, 2:] >= low) & (mine.boxes[:, :2] <= high)).all(axis=1))
    # An edge from corner to corner has all of a map in its own box: it is near only if some of it is.
    places = np.flatnonzero(near)
    near[places] = mine.some(places).meets(np.append(low, high))
    return near


def _sides(area: Border, middle: tuple[float, float], near: Border, mine: Border, every: int) -> tuple[bool, bool]:
    """Whether an area lies inside, and whether it is cut, by what lies on either side of the border that is near it."""
    own, _ = area.steps()
    around = np.append(area.box[:2] - 2 * SLACK, area.box[2:] + 2 * SLACK)
    # The border is too far from two neighbours to run between them, so that both lie on one side of it.
    seen = mine.around(own[area.one_of_each_run(near.within(around).far(own))])
    within, without = bool(seen.any()), bool((~seen).any())
    if not (within and without):
        # The border may run through the area without crossing its own: a hole, or the whole of a small drawing.
        within, without = _along(near.within(area.box), area, mine, (within, without), every)
    if not (within or without):
        # The border runs all along the area's own: what lies in the middle of it tells the side.
        there = np.array([middle], dtype=float)
        seen = mine.around(there[area.holds(there) & near.far(there)])
        within, without = bool(seen.any()), bool((~seen).any())
    return within and not without, within == without


def _along(border: Border, area: Border, mine: Border, seen: tuple[bool, bool], every: int) -> tuple[bool, bool]:
    """Whether places beside a border, deep in an area, lie inside and outside; it ends as soon as some lie in both.

    Of a border that runs back and forth all over a map only every so many steps are looked at.
    """
    within, without = seen
    there, across = (steps[::every] for steps in border.steps())
    for start in range(0, len(there), _STEPS):
        if within and without:
            break
        some, off = there[start : start + _STEPS], SLACK * across[start : start + _STEPS]
        deep = area.far(some)
        deep[deep] = area.holds(some[deep])
        sides = mine.around(np.concatenate([some[deep] + off[deep], some[deep] - off[deep]]))
        within, without = within or bool(sides.any()), without or bool((~sides).any())
    return within, without

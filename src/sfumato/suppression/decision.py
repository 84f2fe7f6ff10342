"""The decision: whether every suppressed cell is as uncertain as it must be, to anybody and to its contributors.

The agency knows the truth, so an attacker's possible tables are changes from it. Each that is found shows many cells to
be uncertain at once; a program is solved only for what none has shown yet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sfumato.suppression.audit import SHORT, Disclosure
from sfumato.suppression.clusters import Cluster, clusters
from sfumato.suppression.depths import Depths
from sfumato.suppression.equations import Flags, Floats, Integers
from sfumato.suppression.insiders import Insiders
from sfumato.suppression.program import TINY, Program
from sfumato.suppression.published import Published
from sfumato.suppression.whole_changes import WholeProgram, round_up, whole_direction, whole_rooms

ENOUGH = 1 - 1e-5
"""What of a need is taken for all of it, by the audit, the search, the clean-up and the bound alike.

Values of a file are rounded, so that cells which just protect each other are off by their last digit. If one of these
asked for more than another it would keep cells that the other finds needless; if for less, hand out what it refuses.
"""
ANYBODY, UNION = "anybody", "anybody, of several cells together"


@dataclass(frozen=True, eq=False, repr=False)
class Required:
    """What the agency asks for: true values, how far each must be uncertain either way, and who knows parts of them.

    `unions` are cells that must be uncertain together, and by how much up and down.
    """

    truth: Floats
    upper: Floats
    lower: Floats
    insiders: Insiders | None = None
    unions: Sequence[tuple[tuple[int, ...], float, float]] = ()
    deepest: Floats | None = None
    """How far the plan alone lets each cell fall. No pattern can leave a cell more uncertain than all of them do."""

    def __repr__(self) -> str:
        return f"<Required of {len(self.truth):,} cells: confidential>"


def decide(
    published: Published, required: Required, progress: Callable[[str, int, int], None] = lambda *_: None
) -> tuple[Disclosure, ...]:
    """The suppressed cells that are less uncertain than they must be, and to whom; none where all is safe."""
    small, asked, first = _merged(published, required)
    open_ = ~small.missing & ((asked.upper > 0) | (asked.lower > 0))
    found = [Disclosure(int(cell), "published", ANYBODY) for cell in np.flatnonzero(open_)]
    total, done = int(small.missing.sum()), 0
    depths = None
    if asked.deepest is not None:
        depths = Depths(small.linked.equations, asked.deepest, whole=small.whole)
    for cluster in clusters(small):
        found += _Decision(cluster, small, asked, depths).disclosures()
        done += cluster.size
        progress("auditing", done, total)
    return tuple(one.at(first) for one in found)


def _merged(published: Published, required: Required) -> tuple[Published, Required, Integers]:
    """The same of cells that are equal as one, of which each is known where one is published; and the first of each."""
    linked, place = published.linked.merged()
    first = np.unique(place, return_index=True)[1]
    values, told = np.full(linked.size, np.nan), ~published.missing
    values[place[told]] = published.values[told]
    low, high = np.full(linked.size, -np.inf), np.full(linked.size, np.inf)
    np.maximum.at(low, place, published.low)
    np.minimum.at(high, place, published.high)
    upper, lower = np.zeros(linked.size), np.zeros(linked.size)
    np.maximum.at(upper, place, required.upper)
    np.maximum.at(lower, place, required.lower)
    people = None if required.insiders is None else required.insiders.at(place, first, linked.size)
    unions = [(tuple(place[list(members)].tolist()), up, down) for members, up, down in required.unions]
    deepest = required.deepest
    if deepest is not None:
        every, deepest = deepest, np.full(linked.size, np.inf)
        np.minimum.at(deepest, place, every)
    asked = Required(required.truth[first], upper, lower, people, unions, deepest)
    return replace(published, linked=linked, values=values, low=low, high=high), asked, first


class _Decision:
    """One cluster: the changes found so far, and what each of them shows."""

    def __init__(
        self, cluster: Cluster, published: Published, required: Required, depths: Depths | None = None
    ) -> None:
        self.cells, self.insiders, self.depths = cluster.cells, required.insiders, depths
        truth = required.truth[self.cells]
        self.truth = required.truth
        self.signed = required.truth - published.low > required.truth
        """Which cells may be below 0: there a part says nothing of how little a cell may be."""
        self.place = np.full(published.linked.size, -1, dtype=np.int64)
        self.place[self.cells] = np.arange(cluster.size)
        self.equations, self.whole = cluster.equations, published.whole
        low, high = published.low[self.cells], published.high[self.cells]
        if self.whole:
            low, high = whole_rooms(low, high)
        self.down, self.up = truth - low, high - truth
        # Down to 0 a cell may be known not to go further; whoever knows it to be more than that knows too much of it.
        lowest = truth - np.minimum(published.low[self.cells], 0)
        self.needs = self._in_whole(
            np.stack([required.upper[self.cells], np.minimum(required.lower[self.cells], lowest)])
        )
        self.unions = [one for one in required.unions if all(self.place[cell] >= 0 for cell in one[0])]
        # Where others may have losses, a part of a cell says nothing of how little the cell may be.
        self.floor = np.where(self.down > truth, np.inf, truth)
        self.program, self.width = (
            Program(cluster.equations.both_ways(cluster.size), 2 * cluster.size, afresh=True),
            cluster.size,
        )
        self.scale = 0.0
        self.moves: dict[tuple[int, int], list[_Move]] = {}
        self._people()
        # Changes of few cells, and of those that nobody knows whole, show the most at once.
        cost = np.ones(cluster.size)
        cost[self.at[self.alone]] = 10.0
        self.program.costs(np.arange(2 * cluster.size), np.concatenate([cost, cost]))

    def _people(self) -> None:
        """The holdings that know a part of the cluster, and what room they leave."""
        none = np.zeros(0, dtype=np.int64)
        self.who, self.at, self.holder, self.below = none, none, none, np.zeros(0)
        self.alone = np.zeros(0, dtype=bool)
        if self.insiders is not None:
            entries = self.insiders.within(self.cells)
            self.who, self.holder = np.unique(self.insiders.holdings[entries], return_inverse=True)
            self.at = self.place[self.insiders.cells[entries]]
            self.alone = self.insiders.alone[entries]
            own = np.maximum(self.insiders.amounts[entries], 0)
            self.below = np.where(self.alone, 0.0, np.maximum(self.floor[self.at] - own, 0))

    def disclosures(self) -> list[Disclosure]:
        """The cells that are too certain, each told once for each kind of attacker."""
        found = []
        for way, cell in self._largest_first():
            attacker = self._too_certain(way, cell)
            if attacker:
                found.append(Disclosure(int(self.cells[cell]), SHORT, attacker))
        for members, up, down in self.unions:
            places = self.place[list(members)]
            needs = self._in_whole(np.array([up, down])).tolist()
            if any(need > 0 and not self._protected(places, way, need, None) for way, need in enumerate(needs)):
                found.append(Disclosure(members[0], SHORT, UNION, members[1:]))
        return list(dict.fromkeys(found))

    def _too_certain(self, way: int, cell: int) -> str:
        """Who knows too much of one side of a cell; nobody where it is empty."""
        need, moves = float(self.needs[way, cell]), self.moves.get((way, cell), [])
        shown = any(move.size(cell) * move.farthest >= need * ENOUGH for move in moves)
        if not shown and not self._protected(np.array([cell]), way, need, None):
            return ANYBODY
        return "" if self.insiders is None else self._insider(self.insiders, way, cell)

    def _insider(self, insiders: Insiders, way: int, cell: int) -> str:
        """What contributor knows too much of one side of a cell."""
        need, floor = float(self.needs[way, cell]), float(self.floor[cell])
        wanted = self._in_whole(insiders.asked(int(self.cells[cell]), way, self.who, need, floor))
        for move in reversed(self.moves.get((way, cell), [])):
            wanted[move.each * move.size(cell) >= wanted * ENOUGH] = 0
            if not wanted.any():
                return ""
        while wanted.any():
            person = int(np.argmax(wanted))
            if not self._protected(np.array([cell]), way, float(wanted[person]), person):
                return "who is alone in another cell" if self._single(person) else "a contributor"
            wanted[person] = 0
            for move in self.moves.get((way, cell), [])[-1:]:
                wanted[move.each * move.size(cell) >= wanted * ENOUGH] = 0
        return ""

    def _protected(self, places: Integers, way: int, need: float, person: int | None) -> bool:
        """Whether cells together are uncertain enough one way to somebody, or as much as they can be downwards."""
        change = self._change(places, way, need, person)
        if change is None and way == 1 and self.depths is not None:
            depth = self._depth(self.depths, places, need, person)
            if depth >= need * ENOUGH:
                return False
            if depth <= 0:
                return True
            change = self._change(places, way, depth, person)
        if change is not None and len(places) == 1:
            self._keep(change)
        return change is not None

    def _depth(self, depths: Depths, places: Integers, need: float, person: int | None) -> float:
        """How far cells may fall to somebody before anything is published."""
        cells, none = self.cells[places], np.zeros(0, dtype=np.int64)
        if person is None or self.insiders is None:
            return depths.fall(cells, need, none, none, np.zeros(0))
        entries = self.insiders.of(int(self.who[person]))
        known, alone = self.insiders.cells[entries], self.insiders.alone[entries]
        rooms = np.maximum(self.truth[known] - np.maximum(self.insiders.amounts[entries], 0), 0)
        rooms = np.where(self.signed[known], np.inf, rooms)
        return depths.fall(cells, need, known[alone], known, rooms)

    def _largest_first(self) -> list[tuple[int, int]]:
        sides = np.argwhere(self.needs > 0)
        order = np.argsort(-self.needs[sides[:, 0], sides[:, 1]], kind="stable")
        return [(int(way), int(cell)) for way, cell in sides[order]]

    def _single(self, person: int) -> bool:
        return bool(self.alone[self.holder == person].any())

    def _in_whole(self, needs: Floats) -> Floats:
        """Needs as they are asked: of whole numbers in whole numbers."""
        return round_up(needs, ENOUGH) if self.whole else needs

    def _change(self, places: Integers, way: int, need: float, person: int | None) -> Floats | None:
        """A change in which some cells move by a need, that a person cannot rule out; None where there is none."""
        change = self._in_parts(places, way, need, person)
        if change is None or not self.whole:
            return change
        room = self._room(person)
        direction, sign = whole_direction(change, self.equations), 1.0 if way == 0 else -1.0
        if direction is not None and _steps(direction, *room) * sign * direction[places].sum() >= need:
            return direction
        return self._integers.change(places, sign, need, np.concatenate(room))

    @cached_property
    def _integers(self) -> WholeProgram:
        return WholeProgram(self.equations, len(self.cells))

    def _room(self, person: int | None) -> tuple[Floats, Floats]:
        """How far every cell may rise and fall to who knows what a person knows."""
        up, down = self.up.copy(), self.down.copy()
        if person is not None:
            mine = np.flatnonzero(self.holder == person)
            cells = self.at[mine]
            up[cells] = np.where(self.alone[mine], 0.0, up[cells])
            down[cells] = np.minimum(self.below[mine], down[cells])
        return up, down

    def _in_parts(self, places: Integers, way: int, need: float, person: int | None) -> Floats | None:
        """A change, in whole numbers or not."""
        if len(places) == 1 and (self.up, self.down)[way][places[0]] < need * ENOUGH * (1 - TINY):
            return None  # everybody knows the cell itself better than that
        if need != self.scale:
            self.scale = need
            self._bound(np.arange(len(self.cells)), self.up, self.down)
        mine = np.flatnonzero(self.holder == person) if person is not None else np.zeros(0, dtype=np.int64)
        cells = self.at[mine]
        self._bound(
            cells, np.where(self.alone[mine], 0.0, self.up[cells]), np.minimum(self.below[mine], self.down[cells])
        )
        asked = need * (1.0 if self.whole else ENOUGH) / self.scale
        columns = np.concatenate([places, places + self.width])
        if len(places) == 1:
            fixed = np.array([asked, 0.0] if way == 0 else [0.0, asked])
            self.program.bounds(columns, fixed, fixed)
            solution = self.program.solve()
        else:
            sign = 1.0 if way == 0 else -1.0
            self.program.add_row(asked, asked, columns, np.repeat([sign, -sign], len(places)))
            solution = self.program.solve()
            self.program.drop_last_row()
        for some in (places, cells):
            self._bound(some, self.up[some], self.down[some])
        net = solution.columns[: self.width] - solution.columns[self.width :] if solution.solved else None
        return None if net is None else net * self.scale

    def _bound(self, places: Integers, up: Floats, down: Floats) -> None:
        columns = np.concatenate([places, places + self.width])
        room = np.minimum(np.concatenate([up, down]) / self.scale, 1e7)
        self.program.bounds(columns, np.zeros(len(columns)), room)

    def _keep(self, change: Floats) -> "list[_Move]":
        """A change and its reverse, with how far each may be taken before somebody can rule it out."""
        change = np.where(np.abs(change) > TINY * np.abs(change).max(initial=0), change, 0)
        moves = []
        for moved in (change, -change):
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(moved > 0, self.up, self.down) / np.abs(moved)
                farthest = float(room[moved != 0].min(initial=np.inf))
                each, step = np.full(len(self.who), farthest), moved[self.at]
                ends = np.where(step == 0, np.inf, np.where(self.alone, 0.0, np.where(step < 0, self.below, np.inf)))
                np.minimum.at(each, self.holder, ends / np.where(step == 0, 1.0, np.abs(step)))
            if self.whole:
                farthest, each = float(np.floor(farthest)), np.floor(each)
            moves.append(_Move(moved, farthest, each))
            for cell in np.flatnonzero(moved).tolist():
                self.moves.setdefault((0 if moved[cell] > 0 else 1, cell), []).append(moves[-1])
        return moves


def _steps(direction: Floats, up: Floats, down: Floats) -> float:
    """How many times a whole change may be taken before a cell leaves its room."""
    moved = direction != 0
    room = np.where(direction > 0, up, down)[moved] / np.abs(direction[moved])
    return float(np.floor(room.min(initial=np.inf)))


@dataclass(frozen=True, eq=False)
class _Move:
    """A change of cells, and how many times it may be taken: by anybody, and by each who knows a part."""

    change: Floats
    farthest: float
    each: Floats

    def size(self, cell: int) -> float:
        return abs(float(self.change[cell]))


def flagged(found: Sequence[Disclosure], size: int) -> Flags:
    """Which cells a decision is about."""
    flags = np.zeros(size, dtype=bool)
    flags[[one.cell for one in found]] = True
    return flags

"""Bound: what the secondary cells of any safe pattern cost at the least, and the best pattern of small tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.confidential.suppress.cuts import Asked, Cut, Cutter, row_cuts
from sfumato.confidential.suppress.guard import Task
from sfumato.confidential.suppress.master import Master
from sfumato.confidential.suppress.mending import Mending
from sfumato.confidential.suppress.parts import TableParts
from sfumato.confidential.suppress.secondary import Progress
from sfumato.suppression import Flags, Floats

INWARD = (0.2, 0.03)
"""How far from a choice towards one that violates no cut others are looked for, one after the other."""
DEEP = ((5, 0.02), (60, 0.004))
"""In how large a tree, and how near to its least cost, a part is cut by itself; the next once a choice is safe."""
DEEP_ROUNDS, DEEP_TURNS = 3, 4
"""One in how many rounds is for each part, and in how many orders of the sides each of its choices is mended."""
Violated = tuple[Asked, Cut]
"""A side, and the cut of it that a choice violates."""


@dataclass(eq=False)
class Relaxation:
    """Rounds of cuts until no side violates one, or as many rounds or programs as are allowed."""

    task: Task
    primary: Flags
    every: list[Asked]
    """The sides that a pattern must meet, and against whom."""
    inside: Floats
    """A choice that meets them all, whole or in part."""
    rounds: int = 50
    limit: int | None = None
    """The most programs; a bound of fewer cuts is lower, and as true."""
    parted: bool = False
    """Whether a bound in whole cells is had part by part: of tables that are too large for one tree."""
    progress: Progress = lambda *_: None
    cuts: list[Cut] = field(default_factory=list)
    programs: int = 0
    complete: bool = False

    def __post_init__(self) -> None:
        self.cuts = self.cuts or row_cuts(self.task, self.primary, self.every)
        self._mending = Mending(self.task, self.primary)

    @property
    def spent(self) -> bool:
        """Whether no more programs are allowed."""
        return self.limit is not None and self.programs >= self.limit

    def in_whole(self, nodes: int | None) -> tuple[float, Floats]:
        """The bound of the cuts so far, in whole cells."""
        if self.parted:
            return TableParts(self.task, self.primary, self.cuts).bound(nodes)
        return self.master(whole=True, nodes=nodes).solve()

    def master(self, *, whole: bool, nodes: int | None = None) -> Master:
        """The program of all cuts so far."""
        choice = Master(self.task, self.primary, whole=whole, nodes=nodes)
        for cut in self.cuts:
            choice.add(cut)
        return choice

    def sharpened(self, *, whole: bool = False, nodes: int | None = None) -> Iterator[tuple[float, Floats]]:
        """The bound, and the choice of cells that reaches it, round by round; in whole cells, of small trees, if asked.

        A tree that is cut off has a bound as well, and the same one every time.
        """
        self.complete = False
        parted = whole and self.parted
        choice, cutter = self.master(whole=whole and not parted, nodes=nodes), Cutter(self.task, self.primary)
        bound, chosen = self.in_whole(nodes) if parted else choice.solve()
        yield bound, chosen
        sides = self.every
        for _ in range(self.rounds):
            if np.all((chosen == 0) | (chosen == 1)):
                cuts = self.mended(chosen)[0]
            else:
                new = self._violated(cutter, chosen, sides)
                sides, cuts = [side for side, _ in new], [cut for _, cut in new]
            if not cuts:
                self.complete = not self.spent
                return
            self.add(cuts, choice)
            bound, chosen = self.in_whole(nodes) if parted else choice.solve()
            yield bound, chosen

    def add(self, new: list[Cut], choice: Master) -> None:
        """Keep cuts, and give them to a program, each once: either side of a cell has the same one as a rule."""
        for cut in {(one.cells.tobytes(), one.weights.tobytes()): one for one in new}.values():
            self.cuts.append(cut)
            choice.add(cut)

    def _violated(self, cutter: Cutter, chosen: Floats, sides: list[Asked]) -> list[Violated]:
        """Cuts that a choice violates, first of the sides that were short last, then of all.

        They are looked for on the way to a choice that violates none, where they are few and deep, and only where none
        is found there nearer to the choice itself.
        """
        tries = [(share, self.every) for share in (*INWARD, 0.0)]
        if len(sides) < len(self.every):
            tries.insert(0, (INWARD[0], sides))
        for share, some in tries:
            new = self._round(cutter, share, chosen, some)
            if new or self.spent:
                return new
        return []

    def deepen(self) -> None:
        """Cuts of each part by itself, the costliest first, where all cells beyond it are suppressed that may be.

        A part has few sides and a small tree, so that its choice is safe after far fewer programs than one of all.
        """
        parts = TableParts(self.task, self.primary, self.cuts)
        for number in np.argsort([-parts.tree(place, *DEEP[0]).solve()[0] for place in range(len(parts.shares))]):
            self._deepen(parts, int(number))

    def _deepen(self, parts: TableParts, number: int) -> None:
        """Cuts of one part: a choice is mended in several orders, which takes less than the tree that finds it."""
        inside, rounds = parts.inside(number), iter(range(self.rounds // DEEP_ROUNDS))
        sides = [asked for asked in self.every if inside[asked[0].members[0]]]
        tree, beyond = parts.tree(number, *DEEP[0]), np.where(self.task.fixed, 0.0, 1.0)
        for nodes, gap in DEEP:
            tree.grow(nodes, gap)
            for turn in rounds:
                chosen = np.where(inside, tree.solve()[1], beyond)
                cuts = [cut for order in _orders(sides, turn) for cut in self.mended(chosen, order)[0]]
                self.add(cuts, tree)
                if self.spent or not cuts:
                    break

    def mended(self, chosen: Floats, sides: Sequence[Asked] | None = None) -> tuple[list[Cut], Flags]:
        """The cuts that a choice of whole cells fails one after the other, and the pattern that it has then become.

        There is no cut where the choice is safe, and the pattern may not be where programs are spent.
        """
        others = self.programs - self._mending.programs

        def spent() -> bool:
            self._count(others + self._mending.programs)
            return self.spent

        cuts = list(self._mending.cuts(chosen, self.every if sides is None else sides, spent))
        self._count(others + self._mending.programs)
        return cuts, self._mending.pattern()

    def _count(self, programs: int) -> None:
        """How many programs were solved so far."""
        self.programs = programs
        if self.limit is not None:
            self.progress("bounding", min(self.programs, self.limit), self.limit)

    def _round(self, cutter: Cutter, share: float, chosen: Floats, sides: list[Asked]) -> list[Violated]:
        """Cuts that a choice violates, found a share of the way inside."""
        new: list[Violated] = []
        cutter.begin(chosen + share * (self.inside - chosen))
        for side in sides:
            if self.spent:
                break
            before = cutter.programs
            cut = cutter.cut(side)
            self._count(self.programs + cutter.programs - before)
            if cut is not None and cut.short(chosen) > 1e-6:
                new.append((side, cut))
        return new


def _orders(sides: list[Asked], turn: int) -> Iterator[list[Asked]]:
    """The sides as they stand, and in further orders, other ones every turn and the same in every run."""
    yield sides
    for order in range(1, DEEP_TURNS):
        places = np.random.Generator(np.random.PCG64((turn, order))).permutation(len(sides))
        yield [sides[place] for place in places.tolist()]

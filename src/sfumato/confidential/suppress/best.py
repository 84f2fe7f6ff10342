"""Best: how hard to look for a pattern that costs little, and the pattern that was found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.confidential.suppress.bound import Relaxation
from sfumato.confidential.suppress.clean_up import CleanUp, Unions
from sfumato.confidential.suppress.cuts import Asked, Cut
from sfumato.confidential.suppress.exchanges import Exchanges
from sfumato.confidential.suppress.guard import Need, Task
from sfumato.confidential.suppress.mending import hidden
from sfumato.confidential.suppress.nearby import Nearby
from sfumato.confidential.suppress.pattern import Work
from sfumato.confidential.suppress.secondary import Progress, Search
from sfumato.errors import DataError
from sfumato.suppression import Flags, Floats

GUIDE = 0.02
"""What of its cost a cell keeps that the relaxation takes whole."""
TURNS = 6
"""How often a pattern is searched again among its own cells, where a bound is asked for."""
PRUNED, EXCHANGED = 2, (4, 1)
"""How many patterns are, the cheapest first; and in how many cells are then exchanged, of small tables and of large."""
SMALL = 2_000
"""Up to how many cells the bound is sharpened in whole cells."""
ROUNDS, NODES, LAST_NODES = (8, 60), (500, 200), (500, 10_000)
"""How often, where programs are left for it, in how large a tree, and the last time; of half as many cells or more, a
tree a part."""
LINEAR = (2, 4)
"""One in how many of the programs of the bound is for the linear relaxation at the most."""

WORTH = 1e-4
"""What of the cost of a pattern a pass of exchanges must save for another."""


@dataclass(frozen=True)
class Best:
    """How hard to look. Programs are counted and never seconds, so that the same table has the same pattern.

    `clean` is the most programs of a clean-up, of which there is one at the end and, without a bound, one before cells
    are exchanged; `rounds` how often the bound is sharpened, 0 for none, and `cuts` the most programs of that; with a
    bound the search is done again where the bounds point, the cheapest patterns are searched again among their own
    cells in other orders, the best of them is bettered part by part, of as many programs again, and cleaned up. `exact`
    is for small tables: the best pattern against everybody, as far as contributors do not ask for more. `exchanges` is
    the most programs by which cells are exchanged for others that cost less, with a bound or without, while it is not
    reached.
    """

    clean: int = 3_000
    rounds: int = 0
    exact: bool = False
    cuts: int = 1_000
    exchanges: int = 1_000


@dataclass(frozen=True, eq=False)
class Found:
    """What is suppressed, the bound of its cost, and the work that it took."""

    suppressed: Flags
    cost: float
    bound: float
    work: Work


def search(task: Task, primary: Flags, unions: Unions, best: Best, progress: Progress) -> Found:
    """The cheapest pattern that was met."""
    looking = _Looking(task, primary, unions, progress)
    first = looking.found(None)
    if not best.rounds and not best.exact:
        found = looking.cleaned(first, best.clean)
        if best.exchanges:
            found = looking.cleaned(looking.exchanged(first, best.exchanges), best.clean)
        return replace(found, work=replace(found.work, programs=looking.programs))
    inside = first.search.suppressed.astype(np.float64)
    relaxation = Relaxation(
        task, primary, first.every, inside, best.rounds or 50, None if best.exact else best.cuts,
        parted=_large(task) and not best.exact, progress=progress,
    )  # fmt: skip
    bound, tried = 0.0, [first]
    for lower, costs in _guides(relaxation, best):
        bound = max(bound, lower)
        tried = sorted([*tried, looking.found(costs)], key=looking.cost)
        if _reached(bound, looking.cost(tried[0])):
            break
        relaxation.inside = tried[0].search.suppressed.astype(np.float64)
    many = EXCHANGED[_large(task)]
    cheapest, *others = sorted(map(looking.pruned, tried[: max(PRUNED, many)]), key=looking.cost)
    told = relaxation.complete
    if not _reached(bound, looking.cost(cheapest)):
        starts = [cheapest, *others][:many]
        starts = [looking.exchanged(one, best.exchanges, relaxation.cuts) for one in starts]
        cheapest, bound = _nearby(looking, min(starts, key=looking.cost), relaxation, bound)
    found = looking.cleaned(cheapest, best.clean, relaxation.cuts)
    work = replace(
        found.work, programs=looking.programs + relaxation.programs, bounded=told or _reached(bound, found.cost)
    )
    return replace(found, bound=bound, work=work)


def _reached(bound: float, cost: float) -> bool:
    """Whether a pattern costs as little as any can, to within what a solver tells apart."""
    return bound >= cost * (1 - 1e-6)


def _nearby(
    looking: "_Looking", cheapest: "_Pattern", relaxation: Relaxation, bound: float
) -> "tuple[_Pattern, float]":
    """The best pattern that differs in one part at a time, and the bound of all cuts that showed others to be none."""
    nodes, most = LAST_NODES[_large(looking.task)], relaxation.limit
    relaxation.limit = None if most is None else relaxation.programs + most
    near = Nearby(relaxation, cheapest.search.suppressed.copy(), looking.fewer).improved()
    # What the cuts do not ask for, unions and further contributors, the search adds.
    other = looking.found(np.where(near, 0.0, looking.task.cost))
    if relaxation.parted:
        relaxation.limit = None if most is None else relaxation.programs + most
        relaxation.deepen()
    return min(cheapest, other, key=looking.cost), max(bound, relaxation.in_whole(nodes)[0])


def _guides(relaxation: Relaxation, best: Best) -> Iterator[tuple[float, Floats]]:
    """Bounds, each sharper than the last as a rule, and what cells cost a search that follows where they point."""
    cost, small = relaxation.task.cost, relaxation.task.linked.size <= SMALL
    whole_rounds, nodes = _tree(relaxation.task)
    most = relaxation.limit
    if small:
        bound, chosen = relaxation.in_whole(nodes)
        yield bound, cost * (1 - chosen + GUIDE)
        relaxation.limit = None if most is None else most // LINEAR[_large(relaxation.task)]
    *_, (bound, chosen) = relaxation.sharpened()
    yield bound, cost * (1 - chosen + GUIDE)
    relaxation.limit = most
    if best.rounds and small:
        relaxation.rounds = min(best.rounds, whole_rounds)
        for bound, chosen in relaxation.sharpened(whole=True, nodes=nodes):
            yield bound, cost * (1 - chosen + GUIDE)
    if best.exact:
        relaxation.rounds = 1_000
        *_, (bound, chosen) = relaxation.sharpened(whole=True)
        yield bound, np.where(chosen > 0.5, 0.0, cost)


def _tree(task: Task) -> tuple[int, int]:
    """How often a bound is sharpened in whole cells, and in a tree of how many nodes."""
    return ROUNDS[_large(task)], NODES[_large(task)]


def _large(task: Task) -> bool:
    """Whether cells are too many for one tree."""
    return task.linked.size > SMALL // 2


@dataclass(eq=False)
class _Pattern:
    """A search that is done, the sides that it met, and those that were asked, against whom."""

    search: Search
    sides: list[Need]

    @property
    def every(self) -> list[Asked]:
        guard = self.search.guard
        sides = [guard.needed(side) for side in self.sides if len(side.members) == 1]
        asked: list[Asked] = [(side, None) for side in sides if side.need > 0]
        return asked + [(side, guard.own(holding)) for side, holding in guard.asked]


@dataclass(eq=False)
class _Looking:
    """Patterns of one task, found and made cheaper."""

    task: Task
    primary: Flags
    unions: Unions
    progress: Progress
    programs: int = 0
    tried: int = 0

    def cost(self, pattern: _Pattern) -> float:
        return float(self.task.cost[pattern.search.suppressed & ~self.primary].sum())

    def found(self, costs: Floats | None, within: Flags | None = None, turn: int = 0) -> _Pattern:
        """A search until no side and no union is open; of some cells alone, and in another order, if asked."""
        task = self.task if within is None else replace(self.task, fixed=self.task.fixed | ~within)
        search, sides = Search(task, self.primary.copy()), self._ordered(turn)
        todo: list[Need] = list(sides)
        while todo:
            search.run(todo, costs, self.progress)
            known = set(sides)
            todo = [side for side in self.unions(search.suppressed, None) if side not in known]
            sides += todo
        self.programs += search.programs
        return _Pattern(search, sides)

    def _ordered(self, turn: int) -> list[Need]:
        """The sides, the largest need first; in later turns in an order of their own, the same one every time."""
        sides = self.task.sides()
        if turn == 0:
            return sides
        order = np.random.Generator(np.random.PCG64(turn)).permutation(len(sides))
        return [sides[place] for place in order.tolist()]

    def pruned(self, pattern: _Pattern) -> _Pattern:
        """The cheapest of further searches among the cells of a pattern: what one order needs another may not."""
        for turn in range(TURNS):
            pattern = self._among(pattern, turn)
        return pattern

    def exchanged(self, pattern: _Pattern, limit: int, cuts: Sequence[Cut] = ()) -> _Pattern:
        """A pattern in which no exchange of one cell saves anything, or as many programs were solved for it."""
        pattern.search.task = self.task
        while limit > 0:
            before, once = self.cost(pattern), Exchanges(pattern.search, self.primary, self.unions, limit, cuts)
            once.run(pattern.sides, self.progress)
            pattern.sides = self.task.sides() + self.unions(pattern.search.suppressed, None)
            limit, self.programs = limit - max(1, once.tried), self.programs + once.tried
            if self.cost(pattern) >= before * (1 - WORTH):
                break
        return pattern

    def fewer(self, suppressed: Flags, turn: int) -> Flags:
        """The cells that a search among those of a pattern takes, in another order every turn; all if it fails."""
        other = self._other(None, suppressed, turn % TURNS)
        return suppressed if other is None else hidden(self.task, self.primary, other.search.suppressed)

    def _among(self, pattern: _Pattern, turn: int) -> _Pattern:
        """The cheaper of a pattern and of a search among its cells."""
        other = self._other(None, pattern.search.suppressed, turn)
        return pattern if other is None else min(pattern, other, key=self.cost)

    def _other(self, costs: Floats | None, within: Flags | None, turn: int) -> _Pattern | None:
        """A search; None where it fails, as other missing cells make sums of their own, which may not be protected."""
        try:
            return self.found(costs, within, turn)
        except DataError:
            return None

    def cleaned(self, pattern: _Pattern, clean: int, cuts: Sequence[Cut] = ()) -> Found:
        pattern.search.task = self.task
        # Unions that were missing on the way, and are published now, need nothing.
        asked = {*self.task.sides(), *self.unions(pattern.search.suppressed, None)}
        pattern.sides = [side for side in pattern.sides if side in asked]
        tidy = CleanUp(pattern.search, self.primary, self.unions, clean, cuts)
        tidy.run(pattern.sides, self.progress)
        self.tried += tidy.tried
        work = Work(self.programs, self.tried, tidy.complete)
        return Found(pattern.search.suppressed, self.cost(pattern), 0.0, work)

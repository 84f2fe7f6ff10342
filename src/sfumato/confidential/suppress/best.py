"""Best: how hard to look for a pattern that costs little, and the pattern that was found."""

from dataclasses import dataclass

import numpy as np

from sfumato.confidential.suppress.bound import Relaxation
from sfumato.confidential.suppress.clean_up import CleanUp, Unions
from sfumato.confidential.suppress.cuts import Asked
from sfumato.confidential.suppress.guard import Need, Task
from sfumato.confidential.suppress.pattern import Work
from sfumato.confidential.suppress.secondary import Progress, Search
from sfumato.suppression import Flags, Floats

GUIDE = 0.02
"""What of its cost a cell keeps that the relaxation takes whole."""
SMALL, WHOLE_ROUNDS, NODES = 2_000, 8, 500
"""Up to how many cells the bound is sharpened in whole cells, how often, and in how large a tree each time."""


@dataclass(frozen=True)
class Best:
    """How hard to look. Programs are counted and never seconds, so that the same table has the same pattern.

    `clean` is the most programs of the clean-up; `rounds` how often the bound is sharpened, 0 for none, and `cuts` the
    most programs of that; with a bound the search is done again where the relaxation points, and the cheaper pattern is
    kept. `exact` is for small tables: the best pattern against everybody, as far as contributors do not ask for more.
    """

    clean: int = 3_000
    rounds: int = 0
    exact: bool = False
    cuts: int = 3_000


@dataclass(frozen=True, eq=False)
class Found:
    """What is suppressed, the bound of its cost, and the work that it took."""

    suppressed: Flags
    cost: float
    bound: float
    work: Work


def search(task: Task, primary: Flags, unions: Unions, best: Best, progress: Progress) -> Found:
    """The cheapest pattern that was met."""
    found, every = _pattern(task, primary, unions, None, best.clean, progress)
    if not best.rounds and not best.exact:
        return found
    relaxation = Relaxation(task, primary, every, best.rounds or 50, None if best.exact else best.cuts)
    bound, chosen = relaxation.run()
    guided = task.cost * (1 - chosen + GUIDE)
    tried = [found, _pattern(task, primary, unions, guided, best.clean, progress)[0]]
    if best.rounds and task.linked.size <= SMALL and not relaxation.spent:
        relaxation.rounds = min(best.rounds, WHOLE_ROUNDS)
        sharper, chosen = relaxation.run(whole=True, nodes=NODES)
        bound = max(bound, sharper)
        tried.append(_pattern(task, primary, unions, task.cost * (1 - chosen + GUIDE), best.clean, progress)[0])
    if best.exact:
        relaxation.rounds = 1_000
        bound, chosen = relaxation.run(whole=True)
        whole = np.where(chosen > 0.5, 0.0, task.cost)
        tried.append(_pattern(task, primary, unions, whole, best.clean, progress)[0])
    cheapest = min(tried, key=lambda one: one.cost)
    programs = sum(one.work.programs for one in tried) + relaxation.programs
    tidied = sum(one.work.tried for one in tried)
    work = Work(programs, tidied, cheapest.work.complete, relaxation.complete or bound >= cheapest.cost * (1 - 1e-9))
    return Found(cheapest.suppressed, cheapest.cost, bound, work)


def _pattern(
    task: Task, primary: Flags, unions: Unions, costs: Floats | None, clean: int, progress: Progress
) -> tuple[Found, list[Asked]]:
    """A search until no side and no union is open, and its clean-up."""
    found, sides = Search(task, primary.copy()), list(task.sides())
    todo: list[Need] = list(sides)
    while todo:
        found.run(todo, costs, progress)
        known = set(sides)
        todo = [side for side in unions(found.suppressed, None) if side not in known]
        sides += todo
    tidy = CleanUp(found, primary, unions, clean)
    tidy.run(sides, progress)
    cost = float(task.cost[found.suppressed & ~primary].sum())
    guard, single = found.guard, [side for side in sides if len(side.members) == 1]
    every: list[Asked] = [(side, None) for side in single]
    every += [(side, guard.own(holding)) for side, holding in guard.asked]
    return Found(found.suppressed, cost, 0.0, Work(found.programs, tidy.tried, tidy.complete)), every

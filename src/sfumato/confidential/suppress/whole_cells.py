"""Whole cells: further cells to suppress where whole numbers pin what numbers in general leave open."""

from collections.abc import Sequence

import numpy as np

from sfumato.confidential.suppress.guard import Task
from sfumato.suppression import Disclosure, Flags, Integers, WholeProgram


def further_cells(task: Task, suppressed: Flags, failures: Sequence[Disclosure]) -> Flags:
    """Cells of a task that protect what an audit in whole numbers found: none where nothing is left to suppress."""
    movable = np.flatnonzero(~task.fixed)
    place = np.where(task.fixed, -1, np.cumsum(~task.fixed) - 1)
    further = np.zeros(task.linked.size, dtype=bool)
    for failure in failures:
        cells = np.array([failure.cell, *failure.others], dtype=np.int64)
        taken = _by_integers(task, suppressed | further, movable, place[cells])
        further[taken if len(taken) else _beside(task, suppressed | further, cells)] = True
    return further & ~suppressed


def _by_integers(task: Task, suppressed: Flags, movable: Integers, places: Integers) -> Integers:
    """The cheapest published cells with which some cells can move either way as far as they must."""
    equations = task.linked.equations.restricted_to(movable, task.linked.size)
    program = WholeProgram(equations, len(movable))
    program.costs(np.where(suppressed[movable], 0.01 * task.cost.min(), task.cost[movable]))
    room, cells = np.concatenate([task.up[movable], task.down[movable]]), movable[places]
    moved = np.zeros(len(movable), dtype=bool)
    for sign, needs in ((1.0, task.upper), (-1.0, task.lower)):
        need = float(max(needs[cells].max(), len(cells) > 1))
        change = program.change(places, sign, need, room) if need > 0 else None
        moved |= False if change is None else change != 0
    taken = movable[moved]
    return taken[~suppressed[taken]]


def _beside(task: Task, suppressed: Flags, cells: Integers) -> Integers:
    """The cheapest published cell that stands in a sum with one of some cells; none where all are suppressed."""
    near = np.unique(np.concatenate([task.linked.equations.beside(cell) for cell in cells.tolist()]))
    near = near[~suppressed[near] & ~task.fixed[near]]
    return np.asarray(near[np.argsort(task.cost[near], kind="stable")][:1], dtype=np.int64)

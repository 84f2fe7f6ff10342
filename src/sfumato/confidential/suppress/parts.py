"""Parts: a bound in whole cells of tables that are too large for one tree, as the sum of the bounds of their parts.

However the cost of each cell is shared out among parts, and each cut given to one of them, a pattern costs the sum of
its shares and meets the cuts of every part; so the least costs of the parts add up to a bound (Lagrange). Shared out by
what the cuts of each part are worth in the linear relaxation, the parts add up in fractions of cells to the relaxation,
and each gains in whole cells what a small tree of its own finds: one tree for all would have to branch for all at once.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.confidential.suppress.cuts import Cut
from sfumato.confidential.suppress.guard import Task
from sfumato.confidential.suppress.master import Inequality, Master
from sfumato.suppression import Flags, Floats, Integers

GAP = 1e-4
"""What of its least cost the bound of a part may be short of, where its tree is not cut off."""


def in_parts(task: Task, primary: Flags, cuts: Sequence[Cut], nodes: int | None) -> tuple[float, Floats]:
    """The bound of cuts in whole cells, part by part, and a choice of cells by the parts that pay most of each."""
    relaxed = Master(task, primary, whole=False)
    for cut in cuts:
        relaxed.add(cut)
    relaxed.solve()
    worth = relaxed.worth()
    part = _parts(task, relaxed.rows, worth)
    shares, most = _shares(task, relaxed.rows, worth, part)
    bound, chosen = 0.0, np.where(primary, 1.0, 0.0)
    for number, share in enumerate(shares):
        own = [relaxed.rows[place] for place in np.flatnonzero(part == number).tolist()]
        tree = Master(replace(task, cost=share), primary, whole=True, nodes=nodes, gap=GAP, rows=own)
        least, here = tree.solve()
        bound += least
        chosen = np.where((most == number) & ~primary, here, chosen)
    return bound, chosen


def _parts(task: Task, rows: Sequence[Inequality], worth: Floats) -> Integers:
    """The part of each row: the branch of one classification that most of it lies in, of the one that divides best.

    That is the classification whose branches rows of least worth cross, among those with no branch of over half of all
    cells; the first where all have one.
    """
    linked, found = task.linked, []
    for place in range(len(linked.attributes)):
        branch = linked.branches(place)
        crossed = [float(value) for row, value in zip(rows, worth, strict=True) if np.ptp(branch[row.cells]) > 0]
        found.append((np.bincount(branch).max() > linked.size / 2, sum(crossed), place))
    branch = linked.branches(min(found)[2])
    heaviest = [int(np.argmax(np.bincount(branch[row.cells], np.abs(row.weights)))) for row in rows]
    return np.unique(heaviest, return_inverse=True)[1]


def _shares(task: Task, rows: Sequence[Inequality], worth: Floats, part: Integers) -> tuple[Floats, Integers]:
    """What each cell costs each part, and the part that pays most of it.

    A part pays what its rows are worth; the rest of a cost is shared out in proportion, that of a cell whose rows are
    worth nothing by how many rows each part has of it.
    """
    count, size = int(part.max(initial=-1)) + 1, task.linked.size
    paid, weight, held = np.zeros((count, size)), np.zeros((count, size)), np.zeros((count, size))
    for row, value, number in zip(rows, worth.tolist(), part.tolist(), strict=True):
        paid[number, row.cells] += value * row.weights
        weight[number, row.cells] += value * np.abs(row.weights)
        held[number, row.cells] += 1
    weight = np.where(weight.sum(0) > 0, weight, held)
    most = np.argmax(weight, axis=0)
    total = weight.sum(0)
    rest = task.cost - paid.sum(0)
    return paid + rest * weight / np.where(total > 0, total, 1.0), most

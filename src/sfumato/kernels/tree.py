"""The two passes of least squares on a tree, in plain numpy, one depth after the other.

A node is known from its own subtree as a mean with a variance, its spread. A leaf that was never measured has no
variance; such leaves are counted as `free`, as if all had the same variance without end: then what they sum to is found
from above and shared out evenly among them, and whatever was measured beside them is left as it is.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int32]
Flags = NDArray[np.bool_]

NO_VARIANCE, NO_NUMBER, CLASH = 1, 2, 3


class Fault(NamedTuple):
    """What is wrong with the measurements, 0 for nothing, and at which node."""

    kind: int
    at: int


@dataclass(frozen=True, eq=False)
class Sums:
    """The measurements, and for each inner node mean, spread and free: its own, and those of its children summed."""

    values: Floats
    variances: Floats
    own: Floats
    below: Floats

    def known(self, inner: Flags) -> Floats:
        """Mean, spread and free of every node, from its own subtree."""
        free = np.isinf(self.variances)
        found = np.stack([np.where(free, 0.0, self.values), np.where(free, 0.0, self.variances), free], axis=1)
        found[inner] = self.own
        return found

    @property
    def over(self) -> Floats:
        """What the children of each inner node share by: how many are free, or their variances."""
        return np.where(self.below[:, 2] > 0, self.below[:, 2], self.below[:, 1])


def depths(above: Places, inner: Flags) -> list[NDArray[np.intp]]:
    """The nodes at each depth, roots first."""
    parents = np.where(above >= 0, np.flatnonzero(inner)[above], -1) if inner.any() else above
    depth, upwards = np.zeros(len(above), dtype=np.int64), parents
    while (upwards >= 0).any():
        depth += upwards >= 0
        upwards = np.where(upwards >= 0, parents[upwards], -1)
    return [np.flatnonzero(depth == one) for one in range(int(depth.max(initial=-1)) + 1)]


def up(above: Places, inner: Flags, values: Floats, variances: Floats, agree: float) -> tuple[Sums, Fault]:
    """From the leaves to the roots; `above` is the place of each node's parent among the inner ones."""
    fault = _fault(values, variances)
    sums = Sums(values, variances, np.zeros((int(inner.sum()), 3)), np.zeros((int(inner.sum()), 3)))
    rank = np.cumsum(inner) - 1
    for here in reversed(depths(above, inner)) if not fault.kind else ():
        nodes = here[inner[here]]
        clash = _combine(sums, nodes, rank[nodes], agree)
        fault = Fault(CLASH, int(nodes[clash][0])) if clash.any() else fault
        inside = here[above[here] >= 0]
        np.add.at(sums.below, above[inside], sums.known(inner)[inside])
    return sums, fault


def _combine(sums: Sums, nodes: NDArray[np.intp], places: NDArray[np.intp], agree: float) -> Flags:
    """Join what inner nodes were measured at with what their children say; which of the exact ones contradict."""
    value, variance = sums.values[nodes], sums.variances[nodes]
    mean, spread, free = sums.below[places].T
    measured, bound = np.isfinite(variance), free == 0
    both = np.where(measured, spread + variance, 1.0)
    share = np.divide(spread, both, out=np.zeros(len(nodes)), where=both > 0)
    joined = np.stack([mean + share * np.where(measured, value - mean, 0.0), share * np.where(measured, variance, 0.0)])
    alone = np.stack([value, np.where(measured, variance, 0.0)])
    sums.own[places, :2] = np.where(measured, np.where(bound, joined, alone), sums.below[places, :2].T).T
    sums.own[places, 2] = np.where(measured, 0.0, free)
    apart = np.abs(value - mean) > agree * np.maximum(1.0, np.maximum(np.abs(value), np.abs(mean)))
    return np.asarray(measured & bound & (both == 0) & apart, dtype=bool)


def _fault(values: Floats, variances: Floats) -> Fault:
    for kind, wrong in ((NO_VARIANCE, ~(variances >= 0)), (NO_NUMBER, (variances < np.inf) & ~np.isfinite(values))):
        if wrong.any():
            return Fault(kind, int(np.flatnonzero(wrong)[0]))
    return Fault(0, -1)


def down(above: Places, inner: Flags, sums: Sums) -> Floats:
    """From the roots to the leaves: what is left over is shared out by variance, or among the free."""
    known, over = sums.known(inner), sums.over
    found = known[:, 0].copy()
    for here in depths(above, inner)[1:]:
        up = above[here]
        left = found[inner][up] - sums.below[up, 0]
        pull = np.divide(left, over[up], out=np.zeros(len(here)), where=over[up] > 0)
        found[here] += np.where(sums.below[up, 2] > 0, known[here, 2], known[here, 1]) * pull
    return found


def variances(above: Places, inner: Flags, sums: Sums) -> Floats:
    """The variance of each node after both passes; infinite where it is not determined."""
    _, spread, free = sums.known(inner).T
    found = np.where(free > 0, np.inf, spread)
    for here in depths(above, inner)[1:]:
        up = above[here]
        own, whole, wide = spread[here], sums.below[up, 1], found[inner][up]
        share = np.divide(own, whole, out=np.zeros(len(here)), where=whole > 0)
        # Infinity times a share of 0 is no number; a share of 0 takes nothing from above.
        bound = share * (whole - own) + share * share * np.where(share > 0, wide, 0.0)
        only = free[here] == sums.below[up, 2]
        freed = np.where(free[here] == 0, own, np.where(only, whole - own + wide, np.inf))
        found[here] = np.where(sums.below[up, 2] > 0, freed, bound)
    return found


def slopes(above: Places, inner: Flags, weights: Floats, sums: Sums) -> Floats:
    """How a weighted sum over each subtree moves with the total of the subtree."""
    _, spread, free = sums.known(inner).T
    found, leaning, over = weights.astype(np.float64), np.zeros(len(sums.own)), sums.over
    rank = np.cumsum(inner) - 1
    for here in reversed(depths(above, inner)):
        nodes = here[inner[here]]
        width = over[rank[nodes]]
        found[nodes] += np.divide(leaning[rank[nodes]], width, out=np.zeros(len(nodes)), where=width > 0)
        inside = here[above[here] >= 0]
        shares = np.where(sums.below[above[inside], 2] > 0, free[inside], spread[inside])
        np.add.at(leaning, above[inside], shares * found[inside])
    return found


def scores(above: Places, inner: Flags, estimates: Floats, values: Floats, variances: Floats) -> Floats:
    """What the fit would gain from each node growing: how far it and all above it are from their measurements."""
    told = np.isfinite(variances)
    found = np.divide(np.where(told, values - estimates, 0.0), np.where(told, variances, 1.0))
    for here in depths(above, inner)[1:]:
        found[here] += found[inner][above[here]]
    return found

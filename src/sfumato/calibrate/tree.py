"""Least squares on a tree: measured leaves and totals of them, brought into agreement in two passes.

Leaves x and the totals of a hierarchy are measured as y with variances v, each with an error of its own. The x that
minimises Σ (total − y)² / v over all nodes is found without a matrix. Upwards, what a node's children say together, M
with variance S, is combined with its own measurement by precision. Downwards, what the final total X of a node leaves
over is shared out among its children by their variances: x = m + s (X − M) / S. Both are the conditional means of
normal variables, so the result is exact, and so are its variances (Hay, Rastogi, Miklau and Suciu 2010 have it for
equal variances). An infinite variance is a node that was not measured, a variance of 0 a number that is exact.
"""

from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import DataError
from sfumato.kernels.tree import CLASH, NO_NUMBER, NO_VARIANCE, Floats, Sums

AGREE = 1e-9
"""How far, relatively, exact totals may differ from their exact parts."""


@cache
def kernel() -> Any:
    """The compiled passes where numba is installed, else the plain ones."""
    return import_module("sfumato.kernels.tree_compiled" if find_spec("numba") else "sfumato.kernels.tree")


@dataclass(frozen=True, eq=False)
class Tree:
    """For each node the place of its parent, -1 for a root; parents stand before their children."""

    parents: NDArray[np.int32] = field(repr=False)

    def __post_init__(self) -> None:
        parents = np.ascontiguousarray(self.parents, dtype=np.int32)
        object.__setattr__(self, "parents", parents)
        wrong = np.flatnonzero((parents >= np.arange(len(parents))) | (parents < -1))
        if len(wrong):
            raise DataError(
                f"Node {wrong[0]} of the tree has parent {parents[wrong[0]]}; a parent stands before its children, "
                "and a root has -1."
            )

    @classmethod
    def nested(cls, *levels: ArrayLike) -> "Tree":
        """The tree of rows in groups within groups: for each row its group, from the coarsest level to the finest.

        The nodes are the groups of the coarsest level, of the next, and so on, and the rows last.

        >>> Tree.nested([0, 0, 0], [0, 0, 1]).parents.tolist()
        [-1, 0, 0, 1, 1, 2]
        """
        groups = [np.asarray(one, dtype=np.int32) for one in levels]
        sizes = [int(one.max(initial=-1)) + 1 for one in groups]
        starts = np.cumsum([0, *sizes])
        parts = [np.full(sizes[0], -1)] if groups else []
        for place, (coarse, fine) in enumerate(pairwise(groups)):
            parts.append(_above(coarse, fine, sizes[place + 1], place) + starts[place])
        rows = groups[-1] + starts[-2] if groups else np.zeros(0)
        return cls(np.concatenate([*parts, rows]).astype(np.int32))

    @property
    def size(self) -> int:
        return len(self.parents)

    @cached_property
    def inner(self) -> NDArray[np.bool_]:
        """Which nodes have children."""
        inner = np.zeros(self.size, dtype=bool)
        inner[self.parents[self.parents >= 0]] = True
        return inner

    @cached_property
    def above(self) -> NDArray[np.int32]:
        """For each node the place of its parent among the inner nodes, -1 for a root."""
        rank = np.cumsum(self.inner, dtype=np.int32) - 1
        return np.where(self.parents >= 0, rank[self.parents], -1).astype(np.int32)

    def totals(self, leaves: Floats) -> Floats:
        """Every node as the sum of the leaves under it; `leaves` holds the leaves in the order of the nodes."""
        found = np.zeros(self.size)
        found[~self.inner] = leaves
        sums, _ = kernel().up(self.above, self.inner, found, np.where(self.inner, np.inf, 0.0), AGREE)
        found[self.inner] = sums.own[:, 0]
        return found


def _above(coarse: NDArray[np.int32], fine: NDArray[np.int32], size: int, level: int) -> NDArray[np.int64]:
    """The group of one level that each group of the next lies in."""
    up = np.full(size, -1)
    up[fine] = coarse
    if (up < 0).any():
        raise DataError(f"Group {int(np.argmin(up))} of level {level + 1} has no rows; number the groups without gaps.")
    if (up[fine] != coarse).any():
        raise DataError(
            f"The groups of level {level + 1} are not nested in those of level {level}: one of them lies in several; "
            "a tree holds groups within groups, anything else is calibrated by `protected-microdata`."
        )
    return up


@dataclass(frozen=True, eq=False)
class TreeFit:
    """Estimates for all nodes that add up, and the errors of any sum of them."""

    tree: Tree
    estimates: Floats
    sums: Sums = field(repr=False)

    @property
    def leaves(self) -> Floats:
        return self.estimates[~self.tree.inner]

    @cached_property
    def variances(self) -> Floats:
        """The variance of each node; infinite where the measurements do not determine it."""
        found: Floats = kernel().variances(self.tree.above, self.tree.inner, self.sums)
        return found

    def variance(self, weights: ArrayLike) -> float:
        """The variance of a weighted sum of nodes, with a weight for each node or for each leaf."""
        return self.covariance(weights, weights)

    def covariance(self, one: ArrayLike, other: ArrayLike) -> float:
        """The covariance of two weighted sums; each node adds its variance, given its parent, times both slopes."""
        first, second = self._lean(one), self._lean(other)
        tree, (_, spread, free) = self.tree, self.sums.known(self.tree.inner).T
        beside = np.append(self.sums.below[:, 2], 1.0)[tree.above]
        open_ = (free > 0) & (beside > 0)
        shared = first * second
        scale = AGREE * max(1.0, float(np.abs(first).max(initial=0)), float(np.abs(second).max(initial=0)))
        if (open_ & (np.abs(shared) > scale * scale)).any():
            return float("inf")
        return float((spread * shared)[~open_].sum())

    def _lean(self, weights: ArrayLike) -> Floats:
        """For each node how much more a sum moves with it than with all children of its parent."""
        given = np.asarray(weights, dtype=np.float64)
        if len(given) != self.tree.size:
            whole = np.zeros(self.tree.size)
            whole[~self.tree.inner] = given
            given = whole
        tree = self.tree
        slopes: Floats = kernel().slopes(tree.above, tree.inner, given, self.sums)
        return slopes - np.where(tree.parents >= 0, (slopes - given)[tree.parents], 0.0)


def least_squares_on(tree: Tree, values: ArrayLike, variances: ArrayLike) -> TreeFit:
    """The fit of all nodes to their measurements, in time that grows as the number of nodes.

    >>> tree = Tree(np.array([-1, 0, 0]))
    >>> fit = least_squares_on(tree, [10.0, 3.0, 4.0], [1.0, 1.0, 1.0])      # 3 is spread over one total, two parts
    >>> fit.estimates.round(6).tolist(), fit.variances.round(6).tolist()
    ([9.0, 4.0, 5.0], [0.666667, 0.666667, 0.666667])
    """
    value, variance = (np.ascontiguousarray(one, dtype=np.float64) for one in (values, variances))
    for name, given in (("values", value), ("variances", variance)):
        if given.shape != (tree.size,):
            raise DataError(f"The tree has {tree.size:,} nodes; {name} were given for {given.size:,}.")
    sums, fault = kernel().up(tree.above, tree.inner, value, variance, AGREE)
    if fault.kind:
        raise DataError(_WRONG[fault.kind].format(node=fault.at))
    return TreeFit(tree, kernel().down(tree.above, tree.inner, sums), sums)


_WRONG = {
    NO_VARIANCE: "The variance of node {node} is below 0 or no number; 0 is for what is exact, infinity for what was "
    "not measured.",
    NO_NUMBER: "The value of node {node} is no number; where nothing was measured, give an infinite variance.",
    CLASH: "Node {node} of the tree is exact, and so are its parts, and they do not add up to it; give one of them a "
    "variance above 0.",
}

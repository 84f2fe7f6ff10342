"""Microaggregation: points of a plane in clusters of k to 2k - 1, by cuts that leave the least spread.

A group of n points becomes ⌊n / k⌋ clusters. It is cut in two, again and again, along one of four directions, where
the sum of squares about the two means is least; a part that is to hold j of m clusters gets ⌊n j / m⌋ of the n points.
Where m k <= n < m k + k, both parts have as many as their clusters need and share what is left over, so that no cluster
has fewer than k or more than 2k - 1. The same points in the same order give the same clusters; no draw is made. How it
compares: Domingo-Ferrer and Mateo-Sanz 2002 (MDAV), whose cost grows with the square of n, while this sorts.
"""

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError

Integers = NDArray[np.int64]
DIRECTIONS = np.array([(1, 0), (0, 1), (1, 1), (1, -1)])
"""East, north and the two between: houses along a slanting road are cut across it."""


def clusters(points: Integers, k: int) -> Integers:
    """The number of the cluster of each point, neighbours in number being near in place; points are whole metres.

    >>> clusters(np.array([(0, 0), (0, 1), (9, 9), (9, 8), (9, 9)]), 2).tolist()
    [0, 0, 1, 1, 1]
    """
    if k < 1 or len(points) < k:
        raise PlanError(f"Clusters of at least {k} were asked for, of {len(points):,} points; give a smaller k.")
    found = np.empty(len(points), dtype=np.int64)
    number, parts = 0, [(np.arange(len(points)), len(points) // k)]
    while parts:
        members, count = parts.pop()
        if count == 1:
            found[members] = number
            number += 1
            continue
        first, own = _cut(points[members], count)
        parts += [(members[first[1]], count - own), (members[first[0]], own)]
    return found


def _cut(points: Integers, count: int) -> tuple[tuple[Integers, Integers], int]:
    """The two parts of some points that are to be so many clusters, and how many of these the first one is to hold."""
    least = max(1, count // 4)
    own = np.arange(least, count - least + 1)
    sizes = len(points) * own // count
    moved = points - points[0]
    best, parts, held = -1.0, (moved[:0, 0], moved[:0, 0]), 0
    for direction in DIRECTIONS:
        order = np.argsort(moved @ direction, kind="stable")
        sums = np.cumsum(moved[order], axis=0)
        # What lies between two means is largest where the spread about them is least.
        first, rest = sums[sizes - 1].astype(float), (sums[-1] - sums[sizes - 1]).astype(float)
        between = (first**2).sum(axis=1) / sizes + (rest**2).sum(axis=1) / (len(points) - sizes)
        place = int(np.argmax(between))
        if between[place] > best:
            best, held = float(between[place]), int(own[place])
            parts = (order[: sizes[place]], order[sizes[place] :])
    return parts, held


def spread(points: Integers, cluster: NDArray[np.integer]) -> float:
    """The sum of squared distances of points to the mean of their cluster, in square metres.

    >>> spread(np.array([(0, 0), (0, 2), (5, 5)]), np.array([0, 0, 1]))
    2.0
    """
    moved = (points - points[0]).astype(float)
    sizes = np.maximum(np.bincount(cluster), 1)
    sums = [np.bincount(cluster, side) for side in moved.T]
    return float((moved**2).sum() - sum((one**2 / sizes).sum() for one in sums))

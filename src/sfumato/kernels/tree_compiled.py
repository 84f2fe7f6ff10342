"""The passes of `kernels.tree`, compiled: parents stand before their children, so one loop each way is enough.

Only inner nodes, numbered apart, get memory of their own; leaves are read where they stand. What a node is known by is
written out in each loop: a function for it would count references to five arrays a node, and take five times as long.
"""

import numpy as np
from numba import njit

from sfumato.kernels.tree import CLASH, NO_NUMBER, NO_VARIANCE, Fault, Flags, Floats, Places, Sums


@njit(cache=True)
def _up(above, inner, values, variances, agree):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, C901
    held = np.count_nonzero(inner)
    own, below = np.zeros((held, 3)), np.zeros((held, 3))
    fault, at, here = 0, -1, held
    for i in range(len(above) - 1, -1, -1):
        value, variance = values[i], variances[i]
        if not variance >= 0:
            fault, at = NO_VARIANCE, i
        measured = variance < np.inf
        if measured and not np.isfinite(value):
            fault, at = NO_NUMBER, i
        mean, spread, free = value, variance, 0.0
        if inner[i]:
            here -= 1
            means, spreads, frees = below[here]
            if not measured:
                mean, spread, free = means, spreads, frees
            elif frees == 0:
                both = spreads + variance
                if both > 0:
                    mean = means + spreads / both * (value - means)
                    spread = spreads * (variance / both)
                else:
                    mean = means
                    if abs(value - means) > agree * max(1.0, abs(value), abs(means)):
                        fault, at = CLASH, i
            own[here, 0], own[here, 1], own[here, 2] = mean, spread, free
        elif not measured:
            mean, spread, free = 0.0, 0.0, 1.0
        up = above[i]
        if up >= 0:
            below[up, 0] += mean
            below[up, 1] += spread
            below[up, 2] += free
    return own, below, fault, at


@njit(cache=True)
def _down(above, inner, values, variances, own, below):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    found, pull, here = np.empty(len(above)), np.zeros(len(own)), 0
    for i in range(len(above)):
        mean, spread, free = 0.0, 0.0, 1.0
        if inner[i]:
            mean, spread, free = own[here, 0], own[here, 1], own[here, 2]
        elif variances[i] < np.inf:
            mean, spread, free = values[i], variances[i], 0.0
        up = above[i]
        if up >= 0:
            mean += (free if below[up, 2] > 0 else spread) * pull[up]
        found[i] = mean
        if inner[i]:
            over = below[here, 2] if below[here, 2] > 0 else below[here, 1]
            if over > 0:
                pull[here] = (mean - below[here, 0]) / over
            here += 1
    return found


@njit(cache=True)
def _variances(above, inner, variances, own, below):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    found, kept, here = np.empty(len(above)), np.zeros(len(own)), 0
    for i in range(len(above)):
        spread, free = 0.0, 1.0
        if inner[i]:
            spread, free = own[here, 1], own[here, 2]
        elif variances[i] < np.inf:
            spread, free = variances[i], 0.0
        up = above[i]
        if up < 0:
            one = np.inf if free > 0 else spread
        elif below[up, 2] > 0:
            one = spread
            if free > 0:
                one = below[up, 1] - spread + kept[up] if free == below[up, 2] else np.inf
        elif spread > 0:
            share = spread / below[up, 1]
            one = share * (below[up, 1] - spread) + share * share * kept[up]
        else:
            one = 0.0
        found[i] = one
        if inner[i]:
            kept[here] = one
            here += 1
    return found


@njit(cache=True)
def _slopes(above, inner, weights, variances, own, below):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    found, sums, here = np.empty(len(above)), np.zeros(len(own)), len(own)
    for i in range(len(above) - 1, -1, -1):
        slope = weights[i]
        if inner[i]:
            here -= 1
            over = below[here, 2] if below[here, 2] > 0 else below[here, 1]
            slope += sums[here] / over if over > 0 else 0.0
        spread, free = 0.0, 1.0
        if inner[i]:
            spread, free = own[here, 1], own[here, 2]
        elif variances[i] < np.inf:
            spread, free = variances[i], 0.0
        found[i] = slope
        up = above[i]
        if up >= 0:
            sums[up] += (free if below[up, 2] > 0 else spread) * slope
    return found


@njit(cache=True)
def _scores(above, inner, estimates, values, variances):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    found, held, here = np.empty(len(above)), np.empty(np.count_nonzero(inner)), 0
    for i in range(len(above)):
        score = (values[i] - estimates[i]) / variances[i] if variances[i] < np.inf else 0.0
        if above[i] >= 0:
            score += held[above[i]]
        found[i] = score
        if inner[i]:
            held[here] = score
            here += 1
    return found


def up(above: Places, inner: Flags, values: Floats, variances: Floats, agree: float) -> tuple[Sums, Fault]:
    own, below, kind, at = _up(above, inner, values, variances, agree)
    return Sums(values, variances, own, below), Fault(kind, at)


def down(above: Places, inner: Flags, sums: Sums) -> Floats:
    found: Floats = _down(above, inner, sums.values, sums.variances, sums.own, sums.below)
    return found


def variances(above: Places, inner: Flags, sums: Sums) -> Floats:
    found: Floats = _variances(above, inner, sums.variances, sums.own, sums.below)
    return found


def slopes(above: Places, inner: Flags, weights: Floats, sums: Sums) -> Floats:
    found: Floats = _slopes(above, inner, weights, sums.variances, sums.own, sums.below)
    return found


def scores(above: Places, inner: Flags, estimates: Floats, values: Floats, variances: Floats) -> Floats:
    found: Floats = _scores(above, inner, estimates, values, variances)
    return found

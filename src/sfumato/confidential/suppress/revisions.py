"""Revisions: what a search pays when it looks at a pattern again, so that it may find a cheaper one."""

import numpy as np

from sfumato.suppression import Flags, Floats

SHARES = (0.02, 0.05, 0.15, 0.3)
"""What part of the secondary cells is paid for again, by chance each time."""
DEARER = (1.0, 1.0, 3.0)
"""How many times what they cost, so that others are tried."""
FIRST = 1_000
"""Where the numbers of revisions begin, so that they share no order with searches before."""


def revision(pattern: Flags, primary: Flags, cost: Floats, number: int) -> tuple[Floats, int]:
    """What cells cost in a revision, and the order of sides in it; the same of a number every time.

    Cells of the pattern are free but for some, which are paid for again: the search keeps what it needs of the others.
    """
    rng = np.random.Generator(np.random.PCG64(FIRST + number))
    secondary = np.flatnonzero(pattern & ~primary)
    some = rng.choice(secondary, int(np.ceil(len(secondary) * rng.choice(SHARES))), replace=False)
    costs = np.where(pattern, 0.0, cost)
    costs[some] = cost[some] * rng.choice(DEARER)
    return costs, FIRST + number if rng.random() < 0.5 else 0

"""Signs, in plain numpy: what groups of noisy cells sum to as they are, without those below 0, and by weights."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Summed(NamedTuple):
    """Of every group: the sum of its cells, of those below 0, how many these are, and what its records weigh."""

    signed: Integers
    below: Integers
    negative: Integers
    weighted: NDArray[np.float64]


def summed(noise: Integers, true: Integers, ends: Integers) -> Summed:
    """Groups of cells that stand one after the other, each up to its end; `noise` is no longer held.

    A cell x has max(x, 1) records, of the weight x / max(x, 1) each.
    """
    noise += true
    starts = np.concatenate(([0], ends[:-1]))
    records = np.maximum(noise, 1)
    return Summed(
        np.add.reduceat(noise, starts),
        np.add.reduceat(np.minimum(noise, 0), starts),
        np.add.reduceat((noise < 0).astype(np.int64), starts),
        np.add.reduceat(records * (noise / records), starts),
    )

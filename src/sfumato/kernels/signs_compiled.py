"""The loop of `kernels.signs`, compiled: one pass over the cells, with no array in between."""
# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# ruff: noqa: ANN001, ANN201, ANN202 - numba finds the types

import numpy as np

from sfumato.kernels.kept import njit
from sfumato.kernels.signs import Summed


@njit(cache=True)
def _summed(noise, true, ends, whole, weighted):
    start = 0
    for group in range(len(ends)):
        signed, below, count, weight = 0, 0, 0, 0.0
        for i in range(start, ends[group]):
            x = noise[i] + true[i]
            signed += x
            under = x < 0
            below += x * under
            count += under
            records = max(x, 1)
            weight += records * (x / records)
        whole[0, group], whole[1, group], whole[2, group], weighted[group] = signed, below, count, weight
        start = ends[group]


def summed(noise, true, ends):
    whole, weighted = np.empty((3, len(ends)), dtype=np.int64), np.empty(len(ends))
    _summed(noise, true, ends, whole, weighted)
    return Summed(whole[0], whole[1], whole[2], weighted)

"""The loops of `kernels.scatter`, compiled: one pass each, with no array in between."""
# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# ruff: noqa: ANN001, ANN201 - numba finds the types

import numpy as np
from numba import njit


@njit(cache=True)
def look(values, low, table, lacking, out):
    length, sound = len(table), True
    for i in range(len(values)):
        place = np.int64(values[i]) - low
        if place < 0 or place >= length:
            return False
        found = table[place]
        sound &= found != lacking
        out[i] = found
    return sound


@njit(cache=True)
def extend(keys, length, codes):
    for i in range(len(keys)):
        keys[i] = keys[i] * length + codes[i]


@njit(cache=True)
def count(cells, keys):
    for key in keys:
        cells[key] += 1


@njit(cache=True)
def total(cells, keys, values):
    for i in range(len(keys)):
        cells[keys[i]] += values[i]

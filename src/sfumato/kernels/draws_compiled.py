"""The loops of `kernels.draws`, compiled."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sfumato.kernels.draws import PREFIX_BITS, UNSETTLED, Grid, Integers, Leads, Places, Words


@njit(cache=True)
def _look_up(leads, numbers, found, places):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    unsettled = 0
    for i in range(len(leads)):
        number = numbers[leads[i]]
        found[i] = number
        # Written always and kept only if it counts: a branch here would be foretold wrongly.
        places[unsettled] = i
        unsettled += number == UNSETTLED
    return unsettled


@njit(cache=True)
def _search(prefixes, edges, first, shift):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    counts, places = np.empty(len(prefixes), dtype=np.int64), np.empty(len(prefixes), dtype=np.int32)
    unsure, whole = 0, len(edges)
    for i in range(len(prefixes)):
        prefix = prefixes[i]
        below, end = first[prefix >> shift], first[(prefix >> shift) + 1]
        while below < end:
            middle = (below + end) >> 1
            if edges[middle] <= prefix:
                below = middle + 1
            else:
                end = middle
        counts[i] = (whole - below) >> 1
        places[unsure] = i
        unsure += (below & 1) | (below == 0)
    return counts, places[:unsure]


@njit(cache=True)
def _extend(leads, places, words, cell_bits, sign_bits):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    prefixes = np.empty(len(places), dtype=np.int64)
    for i in range(len(places)):
        cell = np.int64(leads[places[i]]) >> sign_bits
        prefixes[i] = (cell << (PREFIX_BITS - cell_bits)) | np.int64(words[i] >> np.uint64(1 + cell_bits))
    return prefixes


@njit(cache=True)
def _put(counts, leads, places, sign_bits, found):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    for i in range(len(places)):
        sign = np.int64(leads[places[i]]) & sign_bits
        found[places[i]] = (counts[i] ^ -sign) + sign


@njit(cache=True)
def _join(highest, low, low_bits):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    for i in range(len(highest)):
        highest[i] = (((highest[i] >> 1) << low_bits) | low[i]) ^ -(highest[i] & 1)


def look_up(leads: Leads, numbers: NDArray[np.int32], found: Integers, places: Places) -> int:
    return int(_look_up(leads, numbers, found, places))


def search(prefixes: Integers, grid: Grid) -> tuple[Integers, Places]:
    counts, unsure = _search(prefixes, *grid)
    return counts, unsure


def extend(leads: Leads, places: Places, words: Words, cell_bits: int, sign_bits: int) -> Integers:
    prefixes: Integers = _extend(leads, places, words, cell_bits, sign_bits)
    return prefixes


def put(counts: Integers, leads: Leads, places: Places, sign_bits: int, found: Integers) -> None:
    _put(counts, leads, places, sign_bits, found)


def join(highest: Integers, low: Integers, low_bits: int) -> None:
    _join(highest, low, low_bits)

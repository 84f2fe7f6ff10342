"""Leads looked up in a table and prefixes searched among thresholds, in plain numpy."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Leads = NDArray[np.uint8] | NDArray[np.uint16]
Places = NDArray[np.int32]

PREFIX_BITS = 63
UNSETTLED = -(2**31)
"""What a table says of a lead that leaves the number open."""


class Grid(NamedTuple):
    """Low and high bounds of thresholds, increasing, and how many of them are at or below each multiple of 2^shift."""

    edges: Integers
    first: Places
    shift: int


def look_up(leads: Leads, numbers: NDArray[np.int32], found: Integers, places: Places) -> int:
    """Write what the table says of each lead and the places where it says UNSETTLED; return how many those are."""
    found[:] = numbers[leads]
    unsettled = np.flatnonzero(found == UNSETTLED)
    places[: len(unsettled)] = unsettled
    return len(unsettled)


def search(prefixes: Integers, grid: Grid) -> tuple[Integers, Places]:
    """For each prefix how many thresholds lie above it, and the places where that is not certain.

    An odd number of edges at or below a prefix says that it lies between the bounds of one threshold, none that it lies
    past the last.
    """
    below = np.searchsorted(grid.edges, prefixes, side="right")
    return (len(grid.edges) - below) // 2, np.flatnonzero((below % 2 == 1) | (below == 0)).astype(np.int32)


def extend(leads: Leads, places: Places, words: Words, cell_bits: int, sign_bits: int) -> Integers:
    """Return the prefixes that begin with the cells of the leads at some places and go on with a word each."""
    cells = leads[places].astype(np.uint64) >> np.uint64(sign_bits)
    further = words >> np.uint64(1 + cell_bits)
    return (cells << np.uint64(PREFIX_BITS - cell_bits) | further).view(np.int64)


def put(counts: Integers, leads: Leads, places: Places, sign_bits: int, found: Integers) -> None:
    """Put the counts in their places, negative where the law has a sign and the lowest bit of the lead is 1."""
    sign = leads[places].astype(np.int64) & sign_bits
    found[places] = (counts ^ -sign) + sign


def join(highest: Integers, low: Integers, low_bits: int) -> None:
    """Put the low bits below the highest part h, which comes as 2h, or as 2h + 1 for -1 less the number so made."""
    highest[:] = ((highest >> 1 << low_bits) | low) ^ -(highest & 1)

"""Pieces of a random stream looked up in a table of blocks, and points weighed under a law, in plain numpy."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Pieces = NDArray[np.uint64]
Places = NDArray[np.int32]
Levels = NDArray[np.float32]

UNSETTLED = -(2**15)
"""What a table says of a lead that leaves the number open."""
REFUSED, TAKEN, DOUBTFUL, TAIL = range(4)
"""What becomes of a point; the first two are False and True."""


class Opened(NamedTuple):
    """Places that leads left open, and the pieces that came for them."""

    places: Places
    pieces: Pieces


class Rest(NamedTuple):
    """What of that is not taken: its places, pieces and words, and whether it is refused, doubtful, or in the tail."""

    places: Integers
    pieces: Pieces
    words: Pieces
    verdicts: NDArray[np.uint8]


class Leads(NamedTuple):
    """The block that each lead settles, or UNSETTLED; and the block and the height of those that settle none.

    They are the last leads, and have height -1 in the tail.
    """

    settled: NDArray[np.int16]
    block: NDArray[np.int16]
    height: NDArray[np.int32]


def look_up(pieces: Pieces, leads: Leads, bits: int, found: Integers, opened: Opened) -> int:
    """Write the number that each piece says, and the places and pieces that are left open; return how many.

    The lowest bits of a piece, as many as the table knows, are the lead, which names a block of 2^bits numbers; the
    next bits say which of them it is. The bits above belong to other pieces.
    """
    block = leads.settled.take((pieces & np.uint64(len(leads.settled) - 1)).view(np.int64), mode="clip")
    found[:] = block
    if bits:
        np.left_shift(found, bits, out=found)
        found |= _position(pieces, leads, bits)
    at = np.flatnonzero(block == UNSETTLED)
    opened.places[: len(at)], opened.pieces[: len(at)] = at, pieces[at]
    return len(at)


def weigh(opened: Opened, words: Pieces, leads: Leads, levels: Levels, bits: int, found: Integers) -> Rest:
    """Write the number of each piece left open; return where the point that a word puts in its strip is not taken.

    It is taken if it lies below the law, and doubtful between the bounds on how high the law stands there.
    """
    places, pieces = opened
    lead = (pieces & np.uint64(len(leads.settled) - 1)).view(np.int64) - (len(leads.settled) - len(leads.block))
    position = _position(pieces, leads, bits)
    block, height = leads.block.take(lead).astype(np.int64), leads.height.take(lead)
    found[places] = block << bits | position
    point = height + (words >> np.uint64(11)) * 2.0**-53
    least, most = levels[block + len(levels) // 2, position * levels.shape[1] >> bits].T
    verdict = np.where(point < least, TAKEN, DOUBTFUL)
    verdict[point >= most] = REFUSED
    verdict[height < 0] = TAIL
    rest = np.flatnonzero(verdict != TAKEN)
    return Rest(places[rest].astype(np.int64), pieces[rest], words[rest], verdict[rest].astype(np.uint8))


def _position(pieces: Pieces, leads: Leads, bits: int) -> Integers:
    return (pieces >> np.uint64(len(leads.settled).bit_length() - 1) & np.uint64((1 << bits) - 1)).view(np.int64)

"""The loops of `kernels.draws`, compiled."""
# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# ruff: noqa: ANN001, ANN201, ANN202 - numba finds the types

import numpy as np

from sfumato.kernels.draws import DOUBTFUL, REFUSED, TAIL, TAKEN, UNSETTLED, Rest
from sfumato.kernels.kept import njit


@njit(cache=True)
def _masks(leads, bits):
    """What parts a piece: how many bits are its lead, which these are, and which of the next say the number."""
    size = len(leads.settled)
    return np.uint64(np.log2(size)), np.uint64(size - 1), np.uint64((1 << bits) - 1)


@njit(cache=True)
def look_up(pieces, leads, bits, found, opened):
    lead_bits, lead_mask, within = _masks(leads, bits)
    count = 0
    for i in range(len(pieces)):
        piece = pieces[i]
        block = leads.settled[piece & lead_mask]
        found[i] = (np.int64(block) << bits) | np.int64((piece >> lead_bits) & within)
        if block == UNSETTLED:
            opened.places[count] = i
            opened.pieces[count] = piece
            count += 1
    return count


@njit(cache=True)
def weigh(opened, words, leads, levels, bits, found):
    size = len(opened.places)
    at, pieces, further = np.empty(size, np.int64), np.empty(size, np.uint64), np.empty(size, np.uint64)
    verdicts = np.empty(size, np.uint8)
    lead_bits, lead_mask, within = _masks(leads, bits)
    first, half, parts = len(leads.settled) - len(leads.block), len(levels) // 2, levels.shape[1]
    count = 0
    for i in range(size):
        place, piece = opened.places[i], opened.pieces[i]
        lead = np.int64(piece & lead_mask) - first
        position = np.int64((piece >> lead_bits) & within)
        block, height = np.int64(leads.block[lead]), leads.height[lead]
        found[place] = (block << bits) | position
        row, part = block + half, (position * parts) >> bits
        point = height + (words[i] >> np.uint64(11)) * 2.0**-53
        verdict = TAKEN if point < levels[row, part, 0] else DOUBTFUL
        verdict = REFUSED if point >= levels[row, part, 1] else verdict
        verdict = TAIL if height < 0 else verdict
        at[count], pieces[count], further[count], verdicts[count] = place, piece, words[i], verdict
        count += verdict != TAKEN
    return Rest(at[:count], pieces[:count], further[:count], verdicts[:count])

"""The loops of `kernels.draws`, compiled."""

import numpy as np
from numba import njit

from sfumato.kernels.draws import (
    DOUBTFUL,
    REFUSED,
    TAIL,
    TAKEN,
    UNSETTLED,
    Integers,
    Leads,
    Levels,
    Opened,
    Pieces,
    Rest,
)


@njit(cache=True)
def _look_up(pieces, settled, lead_bits, bits, found, places, opened):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    lead_mask, within = np.uint64(len(settled) - 1), np.uint64((1 << bits) - 1)
    count = 0
    for i in range(len(pieces)):
        piece = pieces[i]
        block = settled[piece & lead_mask]
        found[i] = (np.int64(block) << bits) | np.int64((piece >> lead_bits) & within)
        if block == UNSETTLED:
            places[count] = i
            opened[count] = piece
            count += 1
    return count


@njit(cache=True)
def _weigh(open_at, words, leads, levels, lead_bits, bits, found):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    (places, opened), (settled, block, height) = open_at, leads
    size = len(places)
    at, pieces, further = np.empty(size, np.int64), np.empty(size, np.uint64), np.empty(size, np.uint64)
    verdicts = np.empty(size, np.uint8)
    lead_mask, within = np.uint64(len(settled) - 1), np.uint64((1 << bits) - 1)
    first, half, parts = len(settled) - len(block), len(levels) // 2, levels.shape[1]
    count = 0
    for i in range(size):
        lead = np.int64(opened[i] & lead_mask) - first
        position = np.int64((opened[i] >> lead_bits) & within)
        found[places[i]] = (np.int64(block[lead]) << bits) | position
        row, part = block[lead] + half, (position * parts) >> bits
        point = height[lead] + (words[i] >> np.uint64(11)) * 2.0**-53
        verdict = TAKEN if point < levels[row, part, 0] else DOUBTFUL
        verdict = REFUSED if point >= levels[row, part, 1] else verdict
        verdict = TAIL if height[lead] < 0 else verdict
        at[count], pieces[count], further[count], verdicts[count] = places[i], opened[i], words[i], verdict
        count += verdict != TAKEN
    return at[:count], pieces[:count], further[:count], verdicts[:count]


def look_up(pieces: Pieces, leads: Leads, bits: int, found: Integers, opened: Opened) -> int:
    lead_bits = np.uint64(len(leads.settled).bit_length() - 1)
    return int(_look_up(pieces, leads.settled, lead_bits, bits, found, *opened))


def weigh(opened: Opened, words: Pieces, leads: Leads, levels: Levels, bits: int, found: Integers) -> Rest:
    lead_bits = np.uint64(len(leads.settled).bit_length() - 1)
    return Rest(*_weigh(tuple(opened), words, tuple(leads), levels, lead_bits, bits, found))

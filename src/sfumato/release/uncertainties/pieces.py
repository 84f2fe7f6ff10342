"""Pieces: a grid cut along its first axis, so that what is worked out for every box of a piece fits in memory."""

import math
from collections.abc import Iterator

from sfumato.schema import Grid

LARGEST = 8_000_000
"""The most numbers that a piece may fill: 64 MB."""


def sliced(grid: Grid, width: float) -> Iterator[Grid]:
    """Slices of a grid of which each box needs so many numbers."""
    if not grid.axes:
        yield grid
        return
    (name, groups), *rest = grid.axes
    length = max(1, int(LARGEST / max(1.0, width * math.prod(grid.shape[1:]))))
    for start in range(0, len(groups), length):
        yield Grid(((name, groups[start : start + length]), *rest), grid.within)

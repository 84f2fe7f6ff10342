"""Pieces: a grid cut along its first axis, so that what is worked out for every box of a piece fits in memory."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

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


def pieces(grid: Grid, kept: tuple[str, ...], width: int) -> Iterator[tuple[Grid, Grid, NDArray[np.intp]]]:
    """Slices of a grid, each with the grid of the wholes that some axes tell and the place of each box in that."""
    for piece in sliced(grid, width):
        axes = tuple(axis for axis in piece.axes if axis[0] in kept)
        wide = piece if len(axes) == len(piece.axes) else Grid(axes, grid.within)
        shape = [len(groups) if name in kept else 1 for name, groups in piece.axes]
        place = np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), piece.shape)
        yield piece, wide, place.ravel()

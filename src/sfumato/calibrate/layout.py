"""Layout: the cells of a cube as raking reads them, the places of some control tables down, of the others across."""

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.rake import Floats, Listed, Places, Side

Axes = tuple[int, ...]


@cache
def kernel() -> Any:
    """The compiled loops where numba is installed, else the plain ones."""
    return import_module("sfumato.kernels.rake_compiled" if find_spec("numba") else "sfumato.kernels.rake")


@dataclass(frozen=True, eq=False)
class Layout:
    """Which axes of a cube the tables of either side name, those that none names, and the order to lay them in."""

    shape: tuple[int, ...]
    tables: tuple[tuple[Axes, ...], tuple[Axes, ...]]
    named: tuple[Axes, Axes]
    places: tuple[Places, Places]
    starts: tuple[NDArray[np.int64], NDArray[np.int64]]
    listed: tuple[Places, Places] | None
    """Where the two sides share axes, the places of every cell that the named axes tell apart."""

    @property
    def order(self) -> Axes:
        down, across = self.named
        told = (*down, *(axis for axis in across if axis not in down))
        return (*told, *(axis for axis in range(len(self.shape)) if axis not in told))

    def laid(self, cells: Floats) -> Floats:
        """The cells with what the named axes tell apart first, and what nothing tells apart across."""
        told = prod(self.shape[axis] for axis in {*self.named[0], *self.named[1]})
        return np.ascontiguousarray(cells.transpose(self.order).reshape(told, -1), dtype=np.float64)

    def summed(self, laid: Floats) -> Floats | Listed:
        """The sums over what nothing tells apart: controls reach no further."""
        sums = laid[:, 0] if laid.shape[1] == 1 else laid.sum(axis=1)
        if self.listed is None:
            return np.ascontiguousarray(sums.reshape(self.places[0].shape[1], -1))
        some = np.flatnonzero(sums)
        return Listed(sums[some], *(side[some] for side in self.listed))

    def scaled(self, laid: Floats, down: Floats, across: Floats) -> Floats:
        """The cells times the factors of their places, as the cube that they are."""
        if self.listed is None:
            made = laid.reshape(len(down), len(across), -1) * down[:, None, None]
            made *= across[:, None]
        else:
            made = laid * (down[self.listed[0]] * across[self.listed[1]])[:, None]
        lengths = [self.shape[axis] for axis in self.order]
        return np.ascontiguousarray(made.reshape(lengths).transpose(np.argsort(self.order)))

    def sides(self, aims: Floats) -> tuple[Side, Side]:
        """The two sides with what their control cells should be."""
        cut = int(self.starts[0][-1])
        return Side(self.places[0], self.starts[0], aims[:cut]), Side(self.places[1], self.starts[1], aims[cut:])


@lru_cache(maxsize=16)
def layout_of(shape: tuple[int, ...], tables: tuple[Axes, ...]) -> Layout:
    """The layout with the fewest places: the tables are cut in two where that leaves least on both sides."""
    cuts = [(tables[:cut], tables[cut:]) for cut in range(1, len(tables) + 1)]
    sides = min(cuts, key=lambda cut: sum(_size(shape, _named(side)) for side in cut))
    down, across = named = (_named(sides[0]), _named(sides[1]))
    places = tuple(_places(shape, axes, side) for axes, side in zip(named, sides, strict=True))
    starts = tuple(np.cumsum([0, *(_size(shape, table) for table in side)], dtype=np.int64) for side in sides)
    return Layout(shape, sides, named, places, starts, _listed(shape, down, across))  # type: ignore[arg-type]


def _named(tables: tuple[Axes, ...]) -> Axes:
    return tuple(sorted({axis for table in tables for axis in table}))


def _size(shape: tuple[int, ...], axes: Axes) -> int:
    return prod(shape[axis] for axis in axes)


def _places(shape: tuple[int, ...], axes: Axes, tables: tuple[Axes, ...]) -> Places:
    """For each table the number of the control cell of every place, numbered through."""
    of, start = np.zeros((len(tables), _size(shape, axes)), dtype=np.int32), 0
    for row, table in enumerate(tables):
        of[row] = start + _number(shape, axes, table)
        start += _size(shape, table)
    return of


def _number(shape: tuple[int, ...], axes: Axes, table: Axes) -> Places:
    """For every cell of some axes the number of its cell in the table of others among them."""
    numbers = np.zeros([shape[axis] for axis in axes], dtype=np.int32)
    for axis in table:
        along = [shape[one] if one == axis else 1 for one in axes]
        numbers = numbers * np.int32(shape[axis]) + np.arange(shape[axis], dtype=np.int32).reshape(along)
    return numbers.ravel()


def _listed(shape: tuple[int, ...], down: Axes, across: Axes) -> tuple[Places, Places] | None:
    if not {*down} & {*across}:
        return None
    told = (*down, *(axis for axis in across if axis not in down))
    return _number(shape, told, down), _number(shape, told, across)

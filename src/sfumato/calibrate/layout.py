"""Layout: the cells of a cube as raking reads them, the places of some control tables down, of the others across."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from sfumato.kernels.choose import compiled
from sfumato.kernels.rake import Floats, ListedCells, Places, Side
from sfumato.release.uncertainties.margins import Facet, Facets, numbers

Axes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class CubeLayout:
    """Which axes of a cube the tables of either side name, those that none names, and the order to lay them in."""

    shape: tuple[int, ...]
    named: tuple[Axes, Axes]
    blank: tuple[Side, Side]
    """The two sides, with nothing to aim at yet."""
    listed: tuple[Places, Places] | None
    """Where the two sides share axes, the places of every cell that the named axes tell apart."""

    @cached_property
    def order(self) -> Axes:
        down, across = self.named
        told = (*down, *(axis for axis in across if axis not in down))
        return (*told, *(axis for axis in range(len(self.shape)) if axis not in told))

    def laid(self, cells: Floats) -> Floats:
        """The cells with what the named axes tell apart first, and what nothing tells apart across."""
        told = prod(self.shape[axis] for axis in {*self.named[0], *self.named[1]})
        return np.ascontiguousarray(cells.transpose(self.order).reshape(told, -1), dtype=np.float64)

    def summed(self, laid: Floats) -> Floats | ListedCells:
        """The sums over what nothing tells apart: controls reach no further."""
        sums = laid[:, 0] if laid.shape[1] == 1 else laid.sum(axis=1)
        if self.listed is None:
            return np.ascontiguousarray(sums.reshape(self.blank[0].size, -1))
        some = np.flatnonzero(sums)
        return ListedCells(sums[some], *(side[some] for side in self.listed))

    def scaled(self, laid: Floats, down: Floats, across: Floats) -> Floats:
        """The cells times the factors of their places, as the cube that they are."""
        if self.listed is None:
            made = compiled("rake").scale(laid, down, across)
        else:
            made = laid * (down[self.listed[0]] * across[self.listed[1]])[:, None]
        lengths, back = self._way_back
        return np.ascontiguousarray(made.reshape(lengths).transpose(back))

    @cached_property
    def _way_back(self) -> tuple[Axes, Axes]:
        return tuple(self.shape[axis] for axis in self.order), tuple(np.argsort(self.order).tolist())

    def sides(self, aims: Floats) -> tuple[Side, Side]:
        """The two sides with what their control cells should be."""
        first, second = self.blank
        cut = int(first.starts[-1])
        return replace(first, aims=aims[:cut]), replace(second, aims=aims[cut:])


def layout_of(shape: tuple[int, ...], tables: tuple[Facets, ...]) -> CubeLayout:
    """The layout with the fewest places: the tables are cut in two where that leaves least on both sides."""
    cuts = [(tables[:cut], tables[cut:]) for cut in range(1, len(tables) + 1)]
    sides = min(cuts, key=lambda cut: sum(_size(shape, _named(side)) for side in cut))
    down, across = _named(sides[0]), _named(sides[1])
    return CubeLayout(
        shape, (down, across), (_side(shape, sides[0]), _side(shape, sides[1])), _listed(shape, down, across)
    )


def _named(tables: tuple[Facets, ...]) -> Axes:
    return tuple(sorted({facet.axis for table in tables for facet in table}))


def _size(shape: tuple[int, ...], axes: Axes) -> int:
    return prod(shape[axis] for axis in axes)


def _side(shape: tuple[int, ...], tables: tuple[Facets, ...]) -> Side:
    parts = _parts(_named(tables), tables)
    within = [part for part, (_, of_part) in enumerate(parts) for _ in of_part]
    of = [_number(shape, axes, table) for axes, of_part in parts for table in of_part]
    return Side(
        # A side without tables is one place that nothing is asked of.
        np.array([_size(shape, axes) for axes, _ in parts] or [1], dtype=np.int64),
        np.array(within, dtype=np.int64),
        np.concatenate([*of, np.empty(0, dtype=np.int32)]),
        np.cumsum([0, *(prod(facet.size for facet in table) for table in tables)], dtype=np.int64),
        np.empty(0),
    )


def _parts(named: Axes, tables: tuple[Facets, ...]) -> list[tuple[Axes, tuple[Facets, ...]]]:
    """The axes in as many runs as can be, each with tables of its own, in the order of both."""
    parts: list[tuple[int, int, tuple[Facets, ...]]] = []
    for table in tables:
        places = [named.index(facet.axis) for facet in table]
        own: tuple[Facets, ...] = (table,)
        low, high = min(places, default=0), max(places, default=0)
        while parts and low <= parts[-1][1]:
            before = parts.pop()
            low, high, own = min(low, before[0]), max(high, before[1]), (*before[2], *own)
        parts.append((low, high, own))
    return [(named[low : high + 1], own) for low, high, own in parts]


def _number(shape: tuple[int, ...], axes: Axes, table: Facets) -> Places:
    return numbers(shape, axes, table).astype(np.int32)


def _listed(shape: tuple[int, ...], down: Axes, across: Axes) -> tuple[Places, Places] | None:
    if not {*down} & {*across}:
        return None
    told = (*down, *(axis for axis in across if axis not in down))
    first, second = (tuple(Facet(axis, shape[axis]) for axis in axes) for axes in (down, across))
    return _number(shape, told, first), _number(shape, told, second)

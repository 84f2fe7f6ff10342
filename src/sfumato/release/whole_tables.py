"""Whole tables: the noisy contrasts of a family of tables put together to tables of whole numbers that all agree.

The residual of a component is its contrasts over their m, less the means over siblings. A table is the sum of the
residuals of its components, each spread evenly downwards; it is unbiased, and as exact as the measurements allow.

Tables are rounded once, so that each is a sum of every larger one. With the leaves in an order in which every part is a
run, a table is given by its sums over all beginnings of the order, at the ends of parts. An end is new at one level,
and sums at ends that are new at the levels of a component are rounded in the table of that component and nowhere else.
Every table is made of differences of these integers.
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Component, Family
from sfumato.schema.trees import Tree, lengthwise

ROUNDED = Fraction(1, 20)
"""The part of the variance of a cell that rounding to whole steps may add."""
FINEST = 2**20
"""The most parts that a step is taken in."""
Points = Mapping[Component, Integers]
"""For each component the rounded sums at the ends that are new at its levels."""


def whole_tables(family: Family, contrasts: Integers) -> Integers:
    """The cells of the tables of a family, one table after the other, of the noisy contrasts of its components.

    Contrasts that were drawn several times, along an axis before them, become as many tables.
    """
    return rounded_tables(family, dict(residuals_of(family, contrasts)))


def rounded_tables(family: Family, residuals: Mapping[Component, Floats]) -> Integers:
    """The cells of the tables of a family of the residuals of its components, rounded to whole steps."""
    points = {one: _rounded(family, one, residuals) for one in family.components}
    tables = [_table(family, top, points) for top in family.tops]
    copies = points[family.components[0]].shape
    return np.concatenate([table.reshape((*copies, -1)) for table in tables], axis=-1)


def parts_of_a_step(least: Fraction | float, ways: int) -> int:
    """In how many parts a step is taken, so that rounding adds next to nothing to the least variance of a cell.

    >>> parts_of_a_step(24.4, 3), parts_of_a_step(2, 2)
    (1, 2)
    """
    parts = 1
    while parts < FINEST and Fraction(2**ways, 12 * parts**2) > ROUNDED * least:
        parts *= 2
    return parts


def agree(family: Family, values: Integers) -> bool:
    """Whether tables that stand one after the other have the same sums wherever they tell the same apart."""
    parts = zip(family.tops, family.slices, strict=True)
    known = {top: values[where].reshape(family.shape(top)) for top, where in parts}
    layers: dict[int, list[Component]] = {}
    for one in family.components:
        layers.setdefault(sum(one), []).append(one)
    for layer in sorted(layers if len(known) > 1 else (), reverse=True):
        for one in layers[layer]:
            for coarser, sums in _coarser(family, one, known[one]):
                if not np.array_equal(known.setdefault(coarser, sums), sums):
                    return False
            del known[one]
    return True


def _coarser(family: Family, component: Component, table: Integers) -> Iterator[tuple[Component, Integers]]:
    """The sums of a table to every table that is coarser by one level."""
    axis = 0
    for at, level in enumerate(component):
        if level:
            one = (*component[:at], level - 1, *component[at + 1 :])
            yield one, family.trees[at].rungs[level].summed(table, axis).reshape(family.shape(one))
            axis += 1


def _told(family: Family, component: Component) -> list[tuple[Tree, int]]:
    """The trees that a component tells apart, one for each axis of its table, and its level of each."""
    return [(tree, level) for tree, level in zip(family.trees, component, strict=True) if level]


def _axes(family: Family, component: Component, part: NDArray[Any]) -> Iterator[tuple[int, Tree, int]]:
    """The same with the axes: the last of an array, whatever stands before them."""
    told = _told(family, component)
    for axis, (tree, level) in enumerate(told, part.ndim - len(told)):
        yield axis, tree, level


def residuals_of(family: Family, contrasts: Integers) -> Iterator[tuple[Component, Floats]]:
    """The residual of every component, of contrasts that stand one component after the other."""
    start = 0
    for one in family.components:
        shape = family.shape(one)
        stop = start + math.prod(shape)
        part = contrasts[..., start:stop].astype(np.float64).reshape((*contrasts.shape[:-1], *shape))
        for axis, tree, level in _axes(family, one, part):
            rung = tree.rungs[level]
            part = part / lengthwise(rung.siblings, part.ndim, axis)
        yield one, less_siblings(family, one, part)
        start = stop
    if start != contrasts.shape[-1]:
        raise ValueError("there are not as many contrasts as the components have")


def less_siblings(family: Family, component: Component, part: Floats) -> Floats:
    """A table at the levels of a component, less the means over siblings along each attribute that it tells apart."""
    for axis, tree, level in _axes(family, component, part):
        rung = tree.rungs[level]
        part = part - rung.means(part, axis).take(rung.parents, axis=axis)
    return part


def estimate(family: Family, table: Component, residuals: Mapping[Component, Floats]) -> Floats:
    """The table at some levels: what its components say, each spread evenly downwards."""
    below = product(*(range(level + 1) for level in table))
    return np.asarray(sum(_spread(family, one, table, residuals[one]) for one in below), dtype=np.float64)


def _spread(family: Family, component: Component, table: Component, part: Floats) -> Floats:
    """A residual in the cells of a finer table, each of which has an equal share of its parent's."""
    copies = part.shape[: part.ndim - len(_told(family, component))]
    axes = [(tree, low, high) for tree, low, high in zip(family.trees, component, table, strict=True) if high]
    part = part.reshape((*copies, *(tree.rungs[low].size for tree, low, _ in axes)))
    for axis, (tree, low, high) in enumerate(axes, len(copies)):
        for rung in tree.rungs[low + 1 : high + 1]:
            part = part.take(rung.parents, axis=axis) / lengthwise(rung.siblings, part.ndim, axis)
    return part


def _rounded(family: Family, component: Component, residuals: Mapping[Component, Floats]) -> Integers:
    """The sums over beginnings at the ends that are new at the levels of a component, rounded; ties to even."""
    found = estimate(family, component, residuals)
    for axis, tree, level in _axes(family, component, found):
        rung = tree.rungs[level]
        found = np.cumsum(found.take(rung.run, axis=axis), axis=axis)
        found = found.take(np.searchsorted(rung.ends, tree.new_ends[level]), axis=axis)
    return np.rint(found).astype(np.int64)


def _table(family: Family, table: Component, points: Points) -> Integers:
    """A table by the differences of the rounded sums at all ends of its parts."""
    told, copies = _told(family, table), points[family.components[0]].shape
    origins = [tree.origins[level] for tree, level in told]
    sums = np.zeros((*copies, *family.shape(table)), dtype=np.int64)
    for levels in product(*(range(level + 1) for _, level in told)):
        ends = [origin[level] for origin, level in zip(origins, levels, strict=True)]
        listed = iter(levels)
        one = tuple(next(listed) if level else 0 for level in table)
        sizes = (len(tree.new_ends[level]) for (tree, _), level in zip(told, levels, strict=True))
        new = points[one].reshape((*copies, *sizes))
        to: tuple[Any, ...] = (..., *np.ix_(*(here for here, _ in ends)))
        sums[to] = new[(..., *np.ix_(*(there for _, there in ends)))]  # type: ignore[arg-type]
    for axis, tree, level in _axes(family, table, sums):
        sums = np.diff(sums, axis=axis, prepend=0).take(np.argsort(tree.rungs[level].run), axis=axis)
    return sums

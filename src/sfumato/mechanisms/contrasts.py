"""Contrasts: what is measured of a family of tables, how each part differs from its siblings, and with which laws."""

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product

import numpy as np

from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.margin_design import MarginDesign
from sfumato.release.noisy import Integers
from sfumato.schema import Component, Family
from sfumato.schema.trees import Rung, lengthwise

LawsAt = Iterable[tuple[Integers, Fraction]]
"""Contrasts that have noise of one law, by their places, and its variance."""


def told_rungs(family: Family, component: Component) -> list[Rung]:
    """The levels that a component tells apart, one for each axis of its table."""
    return [tree.rungs[level] for tree, level in zip(family.trees, component, strict=True) if level]


def components_of(cells: Cells) -> Iterator[tuple[Component, Integers]]:
    """The true table of every component, each summed from the smallest that is finer by one level."""
    family = cells.domain
    assert isinstance(family, Family)  # noqa: S101 - the move is of one
    copies = cells.values.shape[:-1]
    tables = {
        top: cells.values[..., where].astype(np.int64).reshape((*copies, *family.shape(top)))
        for top, where in zip(family.tops, family.slices, strict=True)
    }
    for one in reversed(family.components):
        if one not in tables:
            tables[one] = _summed(family, one, tables)
    return ((one, tables[one]) for one in family.components)


def _summed(family: Family, component: Component, finer: Mapping[Component, Integers]) -> Integers:
    choices = [(*component[:at], level + 1, *component[at + 1 :]) for at, level in enumerate(component)]
    best = min((one for one in choices if one in finer), key=lambda one: finer[one].size)
    at = next(place for place, (one, other) in enumerate(zip(component, best, strict=True)) if one != other)
    table, told = finer[best], sum(level > 0 for level in best)
    copies = table.shape[: table.ndim - told]
    axis = len(copies) + sum(level > 0 for level in best[:at])
    return family.trees[at].rungs[best[at]].summed(table, axis).reshape((*copies, *family.shape(component)))


def contrasts(family: Family, component: Component, table: Integers) -> Integers:
    """Along each attribute m times a child less the sum over its siblings, itself among them."""
    rungs = told_rungs(family, component)
    for axis, rung in enumerate(rungs, table.ndim - len(rungs)):
        sums = rung.summed(table, axis).take(rung.parents, axis=axis)
        table = table * lengthwise(rung.siblings, table.ndim, axis) - sums
    return table


def laws_of(design: MarginDesign) -> LawsAt:
    """The contrasts of all components that have noise of one law, by their places among all, and its variance."""
    start = 0
    for one, variance in zip(design.family.components, design.variances, strict=True):
        places = np.arange(start, start + math.prod(design.family.shape(one))).reshape(design.family.shape(one))
        start += places.size
        for block, wide in blocks(design, one):
            yield places[block].ravel(), variance * wide


def laws_at(laws: LawsAt, places: Integers) -> LawsAt:
    """The same for some of the contrasts, by their places among these."""
    listed = list(laws)
    of = np.empty(sum(len(where) for where, _ in listed), dtype=np.intp)
    for number, (where, _) in enumerate(listed):
        of[where] = number
    order = np.argsort(of[places], kind="stable")
    numbers, starts = np.unique(of[places][order], return_index=True)
    for number, where in zip(numbers, np.split(order, starts[1:]), strict=True):
        yield where, listed[number][1]


def blocks(design: MarginDesign, component: Component, fewest: int = 1) -> Iterator[tuple[tuple[Integers, ...], int]]:
    """The coordinates of a component that have as many siblings along every axis, and what their variance is times.

    The contrast of an only child is 0, and what is drawn for it is in no table: a `fewest` of 2 leaves it out.
    """
    rungs = told_rungs(design.family, component)
    kinds = [np.unique(rung.siblings[rung.siblings >= fewest]) for rung in rungs]
    for chosen in product(*kinds):
        places = [np.flatnonzero(rung.siblings == one) for rung, one in zip(rungs, chosen, strict=True)]
        yield np.ix_(*places), math.prod(design.wide(int(one)) for one in chosen)

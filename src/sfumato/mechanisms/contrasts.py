"""Contrasts: what is measured of a family of tables, integers that say how each part differs from its siblings."""

from collections.abc import Iterator, Mapping

import numpy as np

from sfumato.mechanisms.cells import Cells
from sfumato.release.noisy import Integers
from sfumato.schema import Component, Family
from sfumato.schema.trees import Rung, lengthwise


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

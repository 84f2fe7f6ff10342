"""Residuals: what is known of every component of a family of tables, not rounded, and how exactly.

The residual of a component is the table at its levels less the means over siblings along each attribute. A table is the
sum of the residuals of its components, each spread evenly downwards, so whoever knows the residuals knows all tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from sfumato.release.noisy import Floats, Integers
from sfumato.release.uncertainties import Components
from sfumato.release.whole_tables import less_siblings
from sfumato.schema import Component, Family, Table


@dataclass(frozen=True, eq=False)
class Residuals:
    """The residuals of some components in steps, each with the variance σ² that `Components` has for it."""

    family: Family
    parts: Mapping[Component, Floats]
    variances: Mapping[Component, float]
    even: bool
    inherited: Mapping[Component, float] = field(default_factory=dict)
    """The share that they have of the rounding of tables that were published before; its variance in squared steps."""
    rounding: float = 0.0

    @classmethod
    def stated_by(cls, family: Family, parts: Mapping[Component, Floats], stated: Components) -> "Residuals":
        """Those of all components, with the variances that are stated of them."""
        return cls(family, parts, dict(zip(family.components, stated.variances, strict=True)), stated.even_design)

    @classmethod
    def of_tables(cls, family: Family, values: Integers, stated: Components) -> "Residuals":
        """Those of tables that were rounded already, as a release holds them: the rounding is in all of them."""
        copies, parts = values.shape[:-1], {}
        known = [
            values[..., where].reshape((*copies, *family.shape(top)))
            for top, where in zip(family.tops, family.slices, strict=True)
        ]
        for one in family.components:
            at = family.holder(one)
            assert at is not None  # noqa: S101 - a family holds its components
            parts[one] = less_siblings(family, one, _summed(family, known[at].astype(np.float64), family.tops[at], one))
        found = cls.stated_by(family, parts, stated)
        return replace(found, inherited=dict.fromkeys(family.components, 1.0), rounding=stated.rounding)

    @classmethod
    def of_table(cls, family: Family, table: Table, values: Integers, variance: float) -> "Residuals | None":
        """Those of one table whose cells have noise of their own of the same variance; none if the family lacks it.

        What is summed to a part has the variance of as many cells, and so have differences of siblings, apart from all
        else that is made of the table, where siblings are made of as many cells: nothing else is `shared_evenly`.
        """
        if (top := place_of(family, table)) is None:
            return None
        order = [table.names.index(name) for name in family.names if name in table.names]
        copies = values.ndim - len(order)
        moved = np.transpose(values, [*range(copies), *(copies + axis for axis in order)])
        whole = moved.reshape((*values.shape[:copies], *family.shape(top))).astype(np.float64)
        below = [one for one in family.components if all(low <= high for low, high in zip(one, top, strict=True))]
        sums = {one: _summed(family, whole, top, one) for one in below}
        variances = {one: variance * table.size / prod(family.shape(one)) for one in below}
        parts = {one: less_siblings(family, one, part) for one, part in sums.items()}
        return cls(family, parts, variances, even=False)

    def in_steps(self, unit: float) -> "Residuals":
        """The same where a step is so many of the new ones."""
        parts = {one: part * unit for one, part in self.parts.items()}
        variances = {one: v * unit**2 for one, v in self.variances.items()}
        return replace(self, parts=parts, variances=variances, rounding=self.rounding * unit**2)

    def within(self, family: Family) -> "Residuals":
        """What it says of the components of another family; those that only one of both has are left out."""
        if family is self.family:
            return self
        places = {one: place_of(family, self.family.table(one)) for one in self.parts}
        kept = {one: there for one, there in places.items() if there in family.components}
        order = [self.family.names.index(name) for name in family.names if name in self.family.names]
        parts = {there: _turned(self.parts[one], one, order) for one, there in kept.items()}
        variances = {there: self.variances[one] for one, there in kept.items()}
        shares = {there: self.inherited[one] for one, there in kept.items() if one in self.inherited}
        return Residuals(family, parts, variances, self.even, shares, self.rounding)

    def stated(self) -> Components:
        """What a release states of them."""
        listed = self.family.components
        shares = tuple(self.inherited.get(one, 0.0) for one in listed) if any(self.inherited.values()) else ()
        rounding = self.rounding if shares else 0.0
        return Components(
            tuple(self.variances[one] for one in listed), self.even, inherited=shares, inherited_rounding=rounding
        )


def place_of(family: Family, table: Table) -> Component | None:
    """The levels of a family that are those of a table; none where no table of the family holds it."""
    found = family.levels({one.name: len(one.levels.leaves) for one in table.attributes})
    return found if found is not None and family.holder(found) is not None else None


def shared_evenly(family: Family, table: Table) -> str:
    """The first attribute whose parts are not made of as many cells of a table as their siblings; '' where all are."""
    top = place_of(family, table) or ()
    for name, tree, level in zip(family.names, family.trees, top, strict=False):
        if any(len(set(rung.children.tolist())) > 1 for rung in tree.rungs[1 : level + 1]):
            return name
    return ""


def _summed(family: Family, table: Floats, top: Component, component: Component) -> Floats:
    """A table summed to the levels of a component."""
    axis = table.ndim - sum(level > 0 for level in top)
    for tree, high, low in zip(family.trees, top, component, strict=True):
        for level in range(high, low, -1):
            table = tree.rungs[level].summed(table, axis)
        if high and not low:
            table = table.squeeze(axis)
        axis += low > 0
    return table


def _turned(part: Floats, component: Component, order: list[int]) -> Floats:
    """A part with the attributes that it tells apart in another order."""
    told = [at for at, level in enumerate(component) if level]
    copies = part.ndim - len(told)
    axes = [copies + told.index(at) for at in order if at in told]
    return part.transpose([*range(copies), *axes])

"""Excess: how far above clipped totals the true ones may lie, where a release bought noisy numbers of what was cut.

With C the clipped total of some records and E what their values have above the clip, up to a farther bound, the true
total up to that bound is C + E. No record has less than 0 in E, so E is no more than that of all records that a bought
table does not tell apart from these: its noisy number plus its margin is an upper bound. Where no value is below 0, a
record that was cut counts as the clip and has at most `up_to` - clip above it: E is at most (`up_to` / clip - 1) C.

An interval of level 1 - a spends a share of its risk on these bounds, and the rest on noise (Bonferroni), so that it
holds whatever was cut above the clip, if no value is below 0: of totals a/2 below, and above (1 - `SHARE`) a/2 for
noise and `SHARE` a/2 for both bounds. Values below 0 are raised to 0, which nobody bought a number of.
"""

from dataclasses import dataclass
from math import log, prod
from typing import Any

import numpy as np

from sfumato.query.caveats import margin_of, took_of
from sfumato.query.sides import NoisySide
from sfumato.release import Product, Release, Withheld
from sfumato.release.error_law import NORMAL, ErrorLaw, Floats, NoisyTotals
from sfumato.release.tails import CENSUS_90, z_score
from sfumato.release.value_bounds import ClipTook
from sfumato.schema import Attribute, Box, Grid, LeafGroups


@dataclass(frozen=True, eq=False)
class ClipExcess:
    """Upper bounds of what a clip took of each of some totals: bought tables of it, and the totals themselves."""

    tables: tuple[NoisySide, ...]
    clipped: NoisySide
    share: float | None
    """The most that a record that was cut has above the clip, as a share of it; None where values may be below 0."""

    def above(self, risk: float) -> Floats:
        """How far above each clipped total the true one may lie, but for this risk."""
        each = 1 - risk / len(self.tables) if self.share is not None else 1 - 2 * risk / len(self.tables)
        found = np.minimum.reduce([np.maximum(one.totals.values + one.reach(each)[1], 0.0) for one in self.tables])
        if self.share is None:
            return np.asarray(found, dtype=np.float64)
        most = np.maximum(self.clipped.totals.values + self.clipped.reach(1 - risk)[1], 0.0)
        return np.asarray(np.minimum(found, self.share * most), dtype=np.float64)

    def allowance(self, risk: float) -> tuple[Floats, Floats]:
        above = self.above(risk)
        return np.zeros_like(above), above

    def only(self, some: Any) -> "ClipExcess":
        """That of some of the totals."""
        return ClipExcess(tuple(one.only(some) for one in self.tables), self.clipped.only(some), self.share)


@dataclass(frozen=True, eq=False)
class BoughtExcess:
    """What a release says of what lies above the clip of one of its products: a number, or tables of such."""

    product: Product
    took: ClipTook
    tables: tuple[Product, ...]

    @classmethod
    def of(cls, release: Release, product: Product) -> "BoughtExcess | None":
        """None where nothing was bought that intervals can count."""
        took = took_of(product)
        if took is None:
            return None
        named = (release.products[name] for name in took.tables if name in release.products)
        return cls(product, took, tuple(table for table in named if _stated(table) and _is_coarser(table, product)))

    def over(self, grid: Grid, clipped: NoisySide) -> ClipExcess:
        """The bounds of the totals of a grid, cell by cell."""
        bounds = self.product.subject.value_bounds
        assert bounds is not None  # noqa: S101 - it is what was bought
        size = len(clipped.totals.values)
        tables = tuple(self._table(one, grid) for one in self.tables) or (self._whole(size),)
        share = float((self.took.up_to - bounds.high) / bounds.high) if bounds.low >= 0 and bounds.high > 0 else None
        return ClipExcess(tables, clipped, share)

    def _whole(self, size: int) -> NoisySide:
        """What was cut in all, which is no less than what was cut of a part; of a release that states only that."""
        value, margin = np.full(size, self.took.value), margin_of(self.took) or 0.0
        step = 0.0 if self.product.subject.value_bounds is None else float(self.product.subject.value_bounds.step)
        none = np.zeros(size)
        return NoisySide(NoisyTotals(value, none, none, np.ones(size)), StatedMargin(margin, step))

    def _table(self, table: Product, grid: Grid) -> NoisySide:
        """What was cut of all records that a table does not tell apart from those of each cell."""
        own = {one.name: one for one in self.product.attributes}
        above = {one.name: own[one.name].levels.above(one.levels) for one in table.attributes}
        known = {one.name: one for one in table.attributes}
        axes = tuple((name, _closed(groups, above[name], known[name])) for name, groups in grid.axes if name in known)
        held = {name: mask for name, mask in grid.within.masks.items() if name in known}
        masks = {name: _closed_mask(mask, above[name], known[name]) for name, mask in held.items()}
        coarse, step = Grid(axes, Box(masks)), float(table.subject.step)
        variances = table.variances(coarse)
        assert not isinstance(variances, Withheld)  # noqa: S101 - the table was asked whether it states one
        told = (table.totals(coarse) * step, variances * step**2, np.zeros(coarse.shape), table.cell_counts(coarse))
        place = np.arange(prod(coarse.shape)).reshape([len(one) if name in known else 1 for name, one in grid.axes])
        place = np.broadcast_to(place, grid.shape).ravel()
        columns = (np.asarray(one, dtype=np.float64).ravel()[place] for one in told)
        return NoisySide(NoisyTotals(*columns), table.errors.law(coarse).times(step).only(place))


@dataclass(frozen=True)
class StatedMargin(ErrorLaw):
    """The law of one noisy number of which only the 90% margin is stated: whichever of Laplace and normal goes farther.

    >>> law = StatedMargin(10.0)
    >>> [round(float(law.reach(level, NoisyTotals(*np.zeros((4, 1))))[1][0]), 2) for level in (0.90, 0.99)]
    [10.0, 20.0]
    """

    margin: float
    step: float = 0.0

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        times = max(log(1 - level) / log(0.10), z_score(level) / CENSUS_90)
        far = np.full(len(totals.values), times * self.margin + max(times - 1, 0.0) * self.step)
        return far, far

    def beyond(self, totals: NoisyTotals) -> Floats:
        return NORMAL.beyond(totals)

    def times(self, unit: float) -> "StatedMargin":
        return StatedMargin(self.margin * unit, self.step * unit)


def _stated(table: Product) -> bool:
    """Whether a table of what was cut states its errors, and they add up."""
    law = table.errors.law(Grid((), Box()))
    return not isinstance(table.variances(Grid((), Box())), Withheld) and not (law.by_sides or law.by_ends)


def _is_coarser(table: Product, product: Product) -> bool:
    """Whether every cell of a product lies within one cell of a table."""
    own = {attribute.name: attribute.levels for attribute in product.attributes}
    return all(
        attribute.name in own and set(attribute.levels.leaves) <= set(own[attribute.name].codes)
        for attribute in table.attributes
    )


def _closed(groups: LeafGroups, above: Any, attribute: Attribute) -> LeafGroups:
    """The groups of the coarser levels that hold some leaf of each group."""
    leaves = [np.unique(above[groups.leaves(row)]) for row in range(len(groups))]
    return LeafGroups.listed(leaves, len(attribute.levels.leaves))


def _closed_mask(mask: Any, above: Any, attribute: Attribute) -> Any:
    """The same of one set of leaves."""
    found = np.zeros(len(attribute.levels.leaves), dtype=bool)
    found[above[mask]] = True
    return found

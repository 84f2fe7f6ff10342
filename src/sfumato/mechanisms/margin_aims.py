"""Aims: which components of a family get how much noise, where cells are not all to be equally exact.

A cell of the table w has the variance Σ B s over the components A of w, where s is the variance of A and B what a cell
of w has of it; a record costs Σ p / s. With the aim "cells" the sum of the variances of all cells of all tables is
least: v being what all cells have of s, s is in proportion to √(p / v). With targets the cost is least at which no cell
of a table is noisier than its target t. For weights λ of the kinds of cells and π of the records that may cost most,
s = √(πp / λB) costs least on the average with Σ λ B s = Σ λ t, which is a lower bound, and s over the largest B s / t
meets all targets; λ and π are changed until the largest cost of that and the bound agree.

These are the costs of a record that comes or goes. Where one is put for another, a design that is least by them need
not be the least by what exchanges cost, which is found of the design, as a bound where parts have unequal numbers of
children: the claim holds, and another design may do with less.

Targets say what noise is in proportion to: it is then scaled to what the measure costs. They are public numbers, and
which they are is no promise; the cost of what comes out is summed in fractions, and must be what the measure says.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms.margin_design import MarginDesign
from sfumato.mechanisms.margin_targets import Aim, Targets
from sfumato.mechanisms.noisiest_cells import SLACK, below
from sfumato.privacy import EveryTable
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Component, Family

GAP, MOST_ROUNDS, MOST_WORK = 1e-6, 20_000, 2**30
"""How near the cost comes to the least, as a part, and after how many rounds, of so much work, it is left at that."""
BITS = 40
"""How many binary digits a variance has."""


def refuse_unfit(family: Family, fade: Fraction | None, aim: Aim | None) -> None:
    """Say so where a family cannot fade, or an aim does not fit its tables."""
    if isinstance(aim, Targets):
        aim.of(family)
    uneven = [name for name, tree in zip(family.names, family.trees, strict=True) if len(tree.paths) > 1]
    if aim == "cells" and uneven:
        raise PlanError(
            f'aim = "cells" is for attributes whose parts have as many children each, and those of {uneven[0]} have '
            "not; leave aim out, or give targets."
        )
    if fade is None:
        return
    if any(tree.depth > 1 for tree in family.trees):
        raise PlanError("fade is for attributes without a hierarchy; cut each off at a depth, as in area@0.")
    least = max((1 / Fraction(tree.rungs[-1].size) ** 2 for tree in family.trees if tree.depth), default=Fraction(0))
    if fade <= least:
        raise PlanError(f"fade is {float(fade):g}; with these attributes it is above {float(least):g}.")


@lru_cache(maxsize=64)
def unit_design(family: Family, fade: Fraction | None, aim: Aim | None) -> MarginDesign:
    """The design of a family before it is scaled to what a measure costs."""
    refuse_unfit(family, fade, aim)
    if aim is not None:
        return aimed(family, aim)
    return MarginDesign.flat(family) if fade is None else MarginDesign.faded(family, fade)


@lru_cache(maxsize=64)
def square_of(design: MarginDesign, move: EveryTable) -> Fraction:
    """The square of mu that a unit costs."""
    return move.square(design.cost, None if move.kept is None else design.exchange_cost(move.kept))


@lru_cache(maxsize=64)
def designed(move: EveryTable, mu_squared: Fraction, fade: Fraction | None, aim: Aim | None) -> MarginDesign:
    """The design at which a unit costs what a measure says."""
    unit = unit_design(move.family, fade, aim)
    factor = square_of(unit, move) / mu_squared
    if aim is None:
        return unit.times(factor)
    # What an exchange costs is found in floating point, and again of what is rounded.
    short = rounded_up(factor * (1 + SLACK))
    design = replace(unit, variances=tuple(rounded_up(one * short) for one in unit.variances))
    if square_of(design, move) > mu_squared:
        raise PromiseError("The noise of these tables would cost more than their measure says; nothing is claimed.")
    return design


def aimed(family: Family, aim: Aim) -> MarginDesign:
    """The design that does best by an aim; with targets at the noise that just meets them."""
    design = MarginDesign(family, (Fraction(1),) * len(family.components), any(one.depth > 1 for one in family.trees))
    problem = _Problem.of(design)
    spread = problem.least_sum() if isinstance(aim, str) else problem.least_cost(aim.of(family))
    return replace(design, variances=tuple(rounded_up(Fraction(one)) for one in spread.tolist()))


def rounded_up(number: Fraction) -> Fraction:
    """A number above 0 of few binary digits, a very little more than the given one, so that sums of it stay short.

    >>> rounded_up(Fraction(3)), 1 < rounded_up(Fraction(1, 3)) * 3 < 1 + Fraction(1, 10**11)
    (Fraction(3, 1), True)
    """
    shift = Fraction(2) ** (BITS - number.numerator.bit_length() + number.denominator.bit_length())
    return math.ceil(number * shift) / shift


@dataclass(frozen=True, eq=False)
class _Problem:
    """What records cost by each component, and what cells have of it, of every kind that may be the noisiest."""

    design: MarginDesign
    costs: Floats
    """What a record costs by each component, a row for each that may cost most."""
    tables: Integers
    """The table of every kind of cells."""
    kinds: Integers
    components: Integers
    parts: Floats
    """What a kind of cells has of a component, of which one, listed where it has some."""

    @classmethod
    def of(cls, design: MarginDesign) -> "_Problem":
        family, cells = design.family, design.cells
        place = {one: at for at, one in enumerate(family.components)}
        listed = [(cells.shares(table), [place[low] for low in below(table)]) for table in family.components]
        counts = np.array([len(shares) for shares, _ in listed])
        kinds = np.repeat(np.arange(counts.sum()), np.repeat([len(places) for _, places in listed], counts))
        components = np.concatenate([np.tile(places, len(shares)) for shares, places in listed])
        parts = np.concatenate([shares.ravel() for shares, _ in listed])
        return cls(design, design.record_costs(), np.repeat(np.arange(len(listed)), counts), kinds, components, parts)

    def least_sum(self) -> Floats:
        """The variances in proportion to √(p / v)."""
        cells = np.array([math.prod(self.design.family.shape(one)) for one in self.design.family.components])
        return np.asarray(np.sqrt(self.costs[0] / self._over(cells.astype(np.float64))), dtype=np.float64)

    def least_cost(self, wanted: Mapping[Component, tuple[str, Fraction]]) -> Floats:
        """The variances of the least largest cost at which no cell of a table is noisier than wanted."""
        listed = self.design.family.components
        asked = np.array([one in wanted for one in listed])[self.tables]
        targets = np.array([float(wanted[one][1]) ** 2 if one in wanted else 1.0 for one in listed])[self.tables]
        weights, records = asked / targets, np.full(len(self.costs), 1 / len(self.costs))
        for _ in range(min(MOST_ROUNDS, 1 + MOST_WORK // (len(self.parts) + self.costs.size))):
            costs, over = records @ self.costs, self._over(weights)
            spread, root = np.sqrt(costs / over), np.sqrt(costs * over).sum()
            ratios = asked * self._cells(spread) / targets
            least = root**2 / (weights @ targets)
            meeting: Floats = spread / ratios.max()
            paid = self.costs @ (1 / meeting)
            if paid.max() <= least * (1 + GAP):
                break
            weights = weights * ratios * (root / (weights @ targets)) ** 2
            records = records * paid / (records @ paid)
        return meeting

    def _over(self, weights: Floats) -> Floats:
        """What kinds of cells have of each component, times their weights."""
        found = np.bincount(self.components, self.parts * weights[self.kinds], self.costs.shape[1])
        return np.asarray(found, dtype=np.float64)

    def _cells(self, spread: Floats) -> Floats:
        """The variance of a cell of each kind."""
        found = np.bincount(self.kinds, self.parts * spread[self.components], len(self.tables))
        return np.asarray(found, dtype=np.float64)

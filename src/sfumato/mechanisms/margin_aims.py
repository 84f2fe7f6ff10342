"""Aims: which components of a family get how much noise, where cells are not all to be equally exact.

A cell of the table w has the variance Σ B s over the components A of w, where s is the variance of A and B what a cell
of w has of it; a record costs Σ p / s. With the aim "cells" the sum of the variances of all cells of all tables is
least: v being what all cells have of s, s is in proportion to √(p / v), where a record comes or goes. With targets the
cost is least at which no cell of a table is noisier than its target (`least_cost`).

Where one record is put for another, p is what an exchange costs (`exchanges`), and what is least is so by the dearest
of them all (`exchanged_aims`).

Targets say what noise is in proportion to: it is then scaled to what the measure costs. They are public numbers, and
which they are is no promise; the cost of what comes out is summed in fractions, and must be what the measure says.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms.exchanged_aims import ExchangedAim, unmoved
from sfumato.mechanisms.exchanges import Partings, exchange_cost
from sfumato.mechanisms.least_cost import WantedCells
from sfumato.mechanisms.margin_design import MarginDesign
from sfumato.mechanisms.margin_targets import Aim, Targets
from sfumato.mechanisms.mechanism import Furthest
from sfumato.mechanisms.noisiest_cells import SLACK, below
from sfumato.privacy import EveryTable
from sfumato.schema import Component, Family

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
def unit_design(family: Family, fade: Fraction | None, aim: Aim | None, move: EveryTable | None = None) -> MarginDesign:
    """The design of a family before it is scaled to what a measure costs, where a record comes or goes, or moves so."""
    refuse_unfit(family, fade, aim)
    if aim is not None:
        return aimed(family, aim, move)
    return MarginDesign.flat(family) if fade is None else MarginDesign.faded(family, fade)


def unit_design_of(move: EveryTable, fade: Fraction | None, aim: Aim | None) -> MarginDesign:
    """The same for a move; one that comes or goes has the same design however far it does."""
    return unit_design(move.family, fade, aim, None if aim is None or move.kept is None else move)


@lru_cache(maxsize=64)
def square_of(design: MarginDesign, move: EveryTable) -> Fraction:
    """The square of mu that a unit costs, by whatever its rows add where they leave and where they come."""
    return max(_square(design, move, left, come) for left, come in move.apart)


def _square(design: MarginDesign, move: EveryTable, left: Fraction, come: Fraction) -> Fraction:
    """Rows that come or go, or from one end to the other of values below and above 0, are furthest in one cell."""
    kept = move.kept or frozenset()
    return (left - come) ** 2 * design.cost if left * come <= 0 else exchange_cost(design, kept, left, come)


@lru_cache(maxsize=64)
def furthest(design: MarginDesign, move: EveryTable) -> Furthest:
    """The neighbours that cost most; where pairs of records are too many to try, those of the dearest record."""
    names, records = move.family.names, None
    left, come = max(move.apart, key=lambda ends: _square(design, move, *ends))
    if left * come > 0:
        records = Partings(design, move.kept or frozenset()).dearest(left, come, design.variances).records
    one, other = records or (design.dearest, design.dearest if come else ())
    return Furthest(left, come, dict(zip(names, one, strict=True)), dict(zip(names, other, strict=bool(other))))


@lru_cache(maxsize=64)
def designed(move: EveryTable, mu_squared: Fraction, fade: Fraction | None, aim: Aim | None) -> MarginDesign:
    """The design at which a unit costs what a measure says."""
    unit = unit_design_of(move, fade, aim)
    factor = square_of(unit, move) / mu_squared
    if aim is None:
        return unit.times(factor)
    # What an exchange costs is found in floating point, and again of what is rounded.
    short = rounded_up(factor * (1 + SLACK))
    design = replace(unit, variances=tuple(rounded_up(one * short) for one in unit.variances))
    if square_of(design, move) > mu_squared:
        raise PromiseError("The noise of these tables would cost more than their measure says; nothing is claimed.")
    return design


def moved_tables(design: MarginDesign, move: EveryTable) -> list[Component]:
    """The tables that neighbours differ in; all where they differ in none."""
    listed = design.family.components
    if move.kept is None:
        return list(listed)
    still = unmoved(Partings(design, move.kept), move)
    return [one for one, same in zip(listed, still, strict=True) if not same] or list(listed)


def bounded_cost(move: EveryTable, fade: Fraction | None, aim: Aim | None) -> bool:
    """Whether pairs of records are too many to try, or an aim too large to be met by what these cost."""
    unit = unit_design_of(move, fade, aim)
    kept, swapped = move.kept or frozenset(), [ends for ends in move.apart if ends[0] * ends[1] > 0]
    if any(Partings(unit, kept).dearest(*ends, unit.variances).records is None for ends in swapped):
        return True
    return bool(swapped) and aim is not None and not _exchanged(unit, aim, move).solvable


def aimed(family: Family, aim: Aim, move: EveryTable | None = None) -> MarginDesign:
    """The design that does best by an aim; with targets at the noise that just meets them.

    Where records are exchanged and the problem is too large for that, it is the one for records that come or go.
    """
    design = MarginDesign(family, (Fraction(1),) * len(family.components), any(one.depth > 1 for one in family.trees))
    exchanged = None if move is None else _exchanged(design, aim, move)
    if exchanged and exchanged.solvable:
        spread = exchanged.least
    elif isinstance(aim, str):
        spread = np.sqrt(design.record_costs()[0] / _sum_of_cells(design).over(np.ones(1)))
    else:
        spread = _each_cell(design, aim.squares(family)).least(design.record_costs())
    return replace(design, variances=tuple(rounded_up(Fraction(one)) for one in spread.tolist()))


def _exchanged(design: MarginDesign, aim: Aim, move: EveryTable) -> ExchangedAim:
    targets = {} if isinstance(aim, str) else aim.squares(design.family)
    return ExchangedAim(design, _each_cell(design, targets) if targets else _sum_of_cells(design), move, targets)


def _each_cell(design: MarginDesign, targets: Mapping[Component, float]) -> WantedCells:
    """That no cell of a table be noisier than its target, of every kind that may be the noisiest."""
    place = {one: at for at, one in enumerate(design.family.components)}
    listed = [(design.cells.shares(table), [place[low] for low in below(table)]) for table in targets]
    counts = np.array([len(shares) for shares, _ in listed])
    kinds = np.repeat(np.arange(counts.sum()), np.repeat([len(places) for _, places in listed], counts))
    components = np.concatenate([np.tile(places, len(shares)) for shares, places in listed])
    parts = np.concatenate([shares.ravel() for shares, _ in listed])
    return WantedCells(kinds, components, parts, np.repeat([*targets.values()], counts), len(place))


def _sum_of_cells(design: MarginDesign) -> WantedCells:
    """That the sum of the variances of all cells of all tables be 1."""
    each = _each_cell(design, dict.fromkeys(design.family.components, 1.0))
    cells = np.array([math.prod(design.family.shape(one)) for one in design.family.components], dtype=np.float64)
    return WantedCells(
        np.zeros(each.size, dtype=np.intp), np.arange(each.size), each.over(cells), np.ones(1), each.size
    )


def rounded_up(number: Fraction) -> Fraction:
    """A number above 0 of few binary digits, a very little more than the given one, so that sums of it stay short.

    >>> rounded_up(Fraction(3)), 1 < rounded_up(Fraction(1, 3)) * 3 < 1 + Fraction(1, 10**11)
    (Fraction(3, 1), True)
    """
    shift = Fraction(2) ** (BITS - number.numerator.bit_length() + number.denominator.bit_length())
    return math.ceil(number * shift) / shift

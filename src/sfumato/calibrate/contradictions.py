"""Contradictions: exact totals that no table has all of.

Two tables of exact totals have the same sums over what both tell apart, or no table has the totals of both: that is
asked in whole numbers. Where all combinations are possible and all totals exact, it is all there is to ask, as tables
that agree two by two agree in every component, and components are free. Else totals are bound in further ways, through
the cells that are left; then the equations are solved.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.release import Product, Withheld, withheld
from sfumato.release.noisy import Floats, Integers
from sfumato.release.uncertainties.margins import Margins
from sfumato.release.uncertainties.normal import Normal
from sfumato.schema import Attribute, Grid, Table

DOUBLES = 1e-11
"""The part of the largest total that equations leave open in doubles."""
BY_CHANCE = 0.05
"""How often, at the most, tables with noise of their own agree in all that both tell apart and are taken for one."""
CORRECT = "Correct one of them, or give totals that are not exact a standard_error."


def refuse_contradicting(step: str, totals: Mapping[str, Product]) -> None:
    """Say which two tables of exact totals no table sums to both of."""
    exact = {name: one for name, one in totals.items() if _exact_somewhere(one)}
    for (name, one), (other_name, other) in combinations(exact.items(), 2):
        shared = _shared(one, other)
        if _differ(one, other, shared):
            where = f"by {', '.join(attribute.name for attribute in shared)}" if shared else "in the total of all"
            raise PlanError(
                f"Step '{step}': the exact totals '{name}' and '{other_name}' contradict each other {where}, so no "
                f"table meets both. {CORRECT}"
            )


def _exact_somewhere(totals: Product) -> bool:
    """Whether some of its cells are known without error."""
    if not isinstance(totals.domain, Table) or not totals.laid_out or withheld(totals.errors) is not None:
        return False
    if totals.even is not None or totals.errors.weights is None:
        return totals.even == 0
    return bool((totals.errors.weights[0][totals.domain.possible] == 0).any())


def _shared(one: Product, other: Product) -> list[Attribute]:
    """What both tell apart: their common attributes, each at the coarser of its levels."""
    theirs = {attribute.name: attribute for attribute in other.attributes}
    both = ((own, theirs[own.name]) for own in one.attributes if own.name in theirs)
    return [min(pair, key=lambda attribute: len(attribute.levels.leaves)) for pair in both]


def _differ(one: Product, other: Product, shared: Sequence[Attribute]) -> bool:
    """Whether some sum that both know exactly is not the same."""
    grids = [_grid(product, shared) for product in (one, other)]
    return bool((_apart(one, other, grids) & _known(one, grids[0]) & _known(other, grids[1])).any())


def _apart(one: Product, other: Product, grids: Sequence[Grid]) -> NDArray[np.bool_]:
    """Where the sums of two tables are not the same."""
    return np.asarray(_gaps(one, other, grids) != 0, dtype=bool)


def _gaps(one: Product, other: Product, grids: Sequence[Grid]) -> NDArray[Any]:
    """How far the sums of two tables are apart, in whole numbers of their common step."""
    steps = [product.subject.step for product in (one, other)]
    unit = common_step(*steps)
    first, second = (
        _wide(product.totals(grid), int(step / unit))
        for product, grid, step in zip((one, other), grids, steps, strict=True)
    )
    return np.asarray(np.abs(first - second))


def _grid(product: Product, shared: Sequence[Attribute]) -> Grid:
    own = {attribute.name: attribute.levels for attribute in product.attributes}
    return Grid(tuple((one.name, own[one.name].groups(one.levels.leaves)) for one in shared))


def _wide(totals: Integers, factor: int) -> NDArray[Any]:
    """So many times the totals, in integers of any length where 64 bits might not hold them."""
    return totals.astype(object) * factor if factor > 1 else np.asarray(totals)


def _known(product: Product, grid: Grid) -> NDArray[np.bool_]:
    if product.even == 0:
        return np.ones(grid.shape, dtype=bool)
    return np.asarray(product.variances(grid) == 0, dtype=bool)


def same_noise(one: Product, other: Product) -> bool:
    """Whether two noisy tables of totals agree in all that both tell apart, as tables with noise of their own do not.

    They agree where they are the same numbers, however written, or where those of the one with fewer digits are the
    other's, rounded. Two noisy sums are within so many steps with a chance of at most their number over √(2π) standard
    deviations of their difference; where that is too likely for all of them together, nothing is told.
    """
    pair, shared = (one, other), _shared(one, other)
    grids = [_grid(product, shared) for product in pair]
    unit = common_step(one.subject.step, other.subject.step)
    variances = [product.variances(grid) for product, grid in zip(pair, grids, strict=True)]
    if any(isinstance(found, Withheld) or not (found > 0).all() for found in variances):
        return False
    steps = [float(product.subject.step / unit) for product in pair]
    spread = sum(found * step**2 for found, step in zip(variances, steps, strict=True))
    within = _rounded_off(pair, grids, unit)
    chances = np.minimum(1.0, (2 * within + 1) / np.sqrt(2 * np.pi * np.asarray(spread, dtype=np.float64)))
    return bool(np.log(chances).sum() < np.log(BY_CHANCE)) and bool((_gaps(one, other, grids) <= within).all())


def _rounded_off(pair: tuple[Product, Product], grids: Sequence[Grid], unit: Fraction) -> Floats:
    """How far sums may be apart, in whole units, where the table with fewer digits is the other one, rounded."""
    digits = [_digits(product) for product in pair]
    if digits[0] == digits[1]:
        return np.zeros(grids[0].shape)
    coarser = int(digits[1] > digits[0])
    cells = pair[coarser].domain.counts(grids[coarser])
    return np.asarray(np.floor(cells * float(digits[coarser] / unit) / 2), dtype=np.float64)


def _digits(product: Product) -> Fraction:
    """The step of a table's numbers, or the tens, hundreds or thousands of it of which all are multiples."""
    values, step = product.values, product.subject.step
    while np.any(values) and not np.any(values % 10):
        values, step = values // 10, step * 10
    return step


def common_step(one: Fraction, *others: Fraction) -> Fraction:
    """The largest step of which all are multiples.

    >>> common_step(Fraction(1, 4), Fraction(1, 6))
    Fraction(1, 12)
    """
    return reduce(_common, others, one)


def _common(one: Fraction, other: Fraction) -> Fraction:
    under = one.denominator * other.denominator
    return Fraction(gcd(one.numerator * other.denominator, other.numerator * one.denominator), under)


def contradict(margins: Margins, aims: Floats, exact: NDArray[np.bool_], step: float) -> bool:
    """Whether no cells, of any sign, have all the totals that are exact, where these agree two by two.

    Then some of them cancel, whatever the cells, and do not sum to 0: by a step at least, so that any cells miss one of
    them by a step over their number, at least.
    """
    if not exact.any() or (exact.all() and not margins.domain.impossible):
        return False
    normal = Normal(margins, margins.domain.possible, np.where(exact, 0.0, 1.0))
    pulls = normal.solve(aims)
    pulls = pulls + normal.solve(aims - normal.times(pulls))  # what rounding left open
    missed = np.abs(aims - normal.times(pulls))[exact].max()
    return bool(missed > max(step / (2 * exact.sum()), DOUBLES * float(np.abs(aims).max())))

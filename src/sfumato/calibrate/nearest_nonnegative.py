"""Nearest non-negative: the table without cells below 0 that is nearest to the noisy one and keeps some of its totals.

In squares it is the projection on {x ≥ 0, Σx = T} in every kept total: x = max(y − c, 0) with one c for all cells of
the total (Held, Wolfe and Crowder 1974), so no solver is needed. With whole cells each of those that stay is lowered
by ⌊c⌋ or ⌈c⌉. That is also a solution of the linear program that minimises Σ|x − y|: raising every cell below 0 to 0
takes as much out of the others, and any way of lowering them, none below 0, is as near. A kept total that is below 0
itself becomes 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.calibrate.nonnegative import NonNegative, Raised
from sfumato.calibrate.tidy_rows import projected
from sfumato.errors import PlanError, nearest
from sfumato.release.noisy import Integers
from sfumato.release.uncertainties.margins import Margins, numbers
from sfumato.schema import Table
from sfumato.schema.level import Level

Places = NDArray[np.integer[Any]]
HOW = "It is the nearest table without cells below 0."


@dataclass(frozen=True)
class NearestNonnegative(NonNegative):
    """The nearest table that keeps its totals by the attributes of `keeps`; by none it keeps the total of all."""

    kind: ClassVar[str] = "nearest-nonnegative"
    name: str
    table: str
    keeps: tuple[str, ...] = ()
    whole: bool = True
    to: tuple[str, ...] = field(default=(), init=False)

    @property
    def bias(self) -> str:
        kept = f"Totals by {', '.join(self.keeps)} keep their values" if self.keeps else "The total keeps its value"
        return (
            f"{kept}, or 0 in place of one below 0; other totals of cells that are empty or small are biased upward, "
            "and of large ones downward."
        )

    def refuse_unfit(self, table: Table, controls: Sequence[Table]) -> None:
        super().refuse_unfit(table, controls)
        if not isinstance(self.whole, bool):
            raise PlanError(f"Step '{self.name}': whole is true or false; got {self.whole!r}.")
        refuse_unknown_levels(self.name, table, self.keeps)

    def adjusted(self, cells: Integers, table: Table) -> Raised:
        groups, possible = groups_of(table, self.keeps), table.possible.ravel()
        values, group = cells.ravel()[possible], groups[possible]
        if self.whole:
            made = np.zeros(cells.size, dtype=np.int64)
            made[possible] = whole_projection(values, group)
            return Raised(made.reshape(cells.shape), HOW)
        smooth = np.zeros(cells.size)
        smooth[possible] = projected(values.astype(np.float64), group)
        return Raised(smooth.reshape(cells.shape), HOW)


def refuse_unknown_levels(step: str, table: Table, by: Sequence[str]) -> None:
    """Say so where a table is not by what its totals should be kept by."""
    for level in map(Level.read, by):
        if level.name not in table.names:
            raise PlanError(f"Step '{step}': its table is not by '{level.name}'; {nearest(level.name, table.names)}")
        level.within(table.attribute(level.name))


def groups_of(table: Table, by: Sequence[str]) -> Places:
    """For every cell of a table the number of the total by some attributes that it is in."""
    margin = Margins(table, (tuple(map(Level.read, by)),))
    return numbers(table.shape, tuple(range(len(table.shape))), margin.facets[0])


def whole_projection(values: Integers, groups: Places) -> Integers:
    """The projection in whole numbers: cells that stay above 0 are lowered by as much, or by one more.

    >>> whole_projection(np.array([5, 1, 4, -3, -3, 1]), np.array([0, 0, 0, 0, 1, 1])).tolist()
    [4, 0, 3, 0, 0, 0]
    """
    smooth = projected(values.astype(np.float64), groups)
    kept = smooth > 0
    count = int(groups.max(initial=-1)) + 1
    sums = np.maximum(np.bincount(groups, values, count), 0.0)
    keeping = np.bincount(groups, kept, count)
    # In whole numbers: what all that stay are lowered by together, shared out as evenly as can be.
    over = np.rint(np.bincount(groups, np.where(kept, values, 0), count) - sums).astype(np.int64)
    each, rest = np.divmod(over, np.maximum(keeping.astype(np.int64), 1))
    # Of the cells that stay, those from one multiple of their number to the next are lowered by one more.
    order = np.argsort(groups, kind="stable")
    place = np.empty(len(values), dtype=np.int64)
    running = np.cumsum(kept[order])
    first = np.searchsorted(groups[order], np.arange(count))
    before = np.concatenate(([0], running))[first]
    place[order] = running - before[groups[order]] - 1
    size, more = np.maximum(keeping[groups].astype(np.int64), 1), rest[groups]
    extra = (place + 1) * more // size - place * more // size
    return np.where(kept, values - each[groups] - extra, 0)


EXAMPLE = NearestNonnegative("nearest", "cube", ("a0",))

"""Comparisons: the cells of a table, the released number of each beside the true one; every metric starts here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.sealed import Sealed
from sfumato.errors import PlanError
from sfumato.plan import Plan
from sfumato.release import Product
from sfumato.release.tails import z_score
from sfumato.schema import Grid, LeafGroups, Levels, Mask, Table

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Numbers = dict[str, Any]
"""What a report says of some cells, by name; as confidential as they are."""

LEVEL = 0.90
"""The level of the margin of error that a release shows."""
FEW = 100
"""The cells from which on a share of them says something; of fewer, how many of how many is said."""


ALIKE = ("worth", "of_rows")
"""What is the same of all cells of a product."""
FAINT = 0.02
"""Of their margins: how far rows that are left out move numbers, on average, without it being seen in these."""


@dataclass(frozen=True)
class ReportRules:
    """What counts as near zero, in records; what may be published; which tables to look at, if not all small ones."""

    near_zero: float = 0.5
    least: int = 3
    largest_cv: float = 0.30
    tables: tuple[tuple[str, ...], ...] = ()
    least_weighted: float | None = None

    def __post_init__(self) -> None:
        weighted = self.least_weighted is None or self.least_weighted > 0
        if not (self.near_zero > 0 and self.least >= 1 and self.largest_cv > 0 and weighted):
            raise PlanError("Rules of assessment are above 0: near_zero and least in records, largest_cv as a share.")

    @classmethod
    def read(cls, plan: Plan, tables: Sequence[str] = (), **own: float | None) -> "ReportRules":
        """The rules that a user gives, else the plan's; a table is written as occupation,education.

        An unknown attribute, and a weighted frequency where nothing is weighted, are refused.
        """
        named = tuple(tuple(name.strip() for name in table.split(",")) for table in tables)
        for names in named:
            plan.schema.table(names)
            held = (table.names for measure in plan.measures for table in plan.over.tables(measure))
            if not any(set(names) <= set(one) for one in held):
                raise PlanError(f"No measure of this plan has all of {', '.join(names)}, so there is no such table.")
        told = {name: getattr(plan.publish, name) for name in ("least", "largest_cv", "least_weighted")}
        rules = told | {name: value for name, value in own.items() if value is not None}
        if rules["least_weighted"] is not None and plan.schema.weight is None:
            raise PlanError("A least weighted frequency needs the weight of records; name [data] weight.")
        return cls(tables=named, **rules)


@dataclass(frozen=True, eq=False, repr=False)
class Compared(Sealed):
    """Cells in one row: what was released, what is true, and the errors of each.

    `held` is the truth after clip and at_most, which the noise was added to. A noise variance is not a number where it
    is withheld or was not worked out; `margins` are by the law of the noise. `told` is the sampling variance that the
    release states, not a number where it states none, and `margins_of_both` count it. `counted` is the released number
    of records, where the release has one; `weight` is what they weigh, and `weighed` that as it was released. `worth`
    is what one record adds on average, 1 in a count. Intervals go `below` and `above` a number, where that is not as
    far as the margin; `of_rows` says that they are of what rows have, and not of what noise was added to. `clipped` is
    the truth after the clip alone, which tells what at_most took.
    """

    released: Floats
    truth: Floats
    held: Floats
    records: Integers
    noise: Floats
    sampling: Floats | None = None
    counted: Floats | None = None
    weight: Floats | None = None
    weighed: Floats | None = None
    margins: Floats | None = None
    told: Floats | None = None
    margins_of_both: Floats | None = None
    below: Floats | None = None
    above: Floats | None = None
    worth: float = 1.0
    of_rows: bool = False
    clipped: Floats | None = None

    @property
    def size(self) -> int:
        return len(self.truth)

    @property
    def error(self) -> Floats:
        """How far the release is from the data as they are."""
        return self.released - self.truth

    def take(self, chosen: Mask | Integers) -> "Compared":
        """Some of the cells."""
        some: Numbers = {name: part[chosen] for name, part in vars(self).items() if isinstance(part, np.ndarray)}
        return replace(self, **some)

    def stated(self) -> "Compared":
        """The cells whose noise has a stated error."""
        return self.take(np.isfinite(self.noise))

    @property
    def variance(self) -> Floats:
        """Noise and, where it is known, sampling together."""
        return self.noise + (self.sampling if self.sampling is not None else 0.0)

    @property
    def margin(self) -> Floats:
        """The margin of error that the release states for its noise; of a normal law unless told."""
        return np.asarray(z_score(LEVEL) * np.sqrt(self.noise)) if self.margins is None else self.margins

    @property
    def redrawn(self) -> bool:
        """Whether so much was left out that nobody knows what noise was added to.

        Which rows were kept was drawn by the run, and `held` is another draw.
        """
        if self.clipped is None or self.of_rows:
            return False
        moved = np.abs(self.held - self.clipped)
        known = np.isfinite(moved) & np.isfinite(self.margin)
        return bool(moved[known].sum() > FAINT * self.margin[known].sum())

    def holds(self, truth: Floats, slack: float) -> Mask:
        """Which intervals hold a number; none holds what is not one."""
        below, above = (self.margin if one is None else one for one in (self.below, self.above))
        return np.asarray((self.released - truth <= below + slack) & (truth - self.released <= above + slack))


def pooled(parts: Sequence[Compared]) -> Compared:
    """The cells of several tables in one row; an error that one of them lacks is lacking."""
    found = {name: [getattr(part, name) for part in parts] for name in vars(parts[0]) if name not in ALIKE}
    lacking = {name for name, some in found.items() if any(one is None for one in some)}
    columns: Numbers = {name: None if name in lacking else np.concatenate(some) for name, some in found.items()}
    return replace(parts[0], **columns)


@dataclass(frozen=True, eq=False, repr=False)
class ComparedTable(Sealed):
    """The possible cells of one table of a product."""

    table: Table
    cells: Compared

    @property
    def dimension(self) -> int:
        return len(self.table.names)

    @property
    def title(self) -> str:
        """The labels of its attributes; a table of many is called by their number."""
        labels = [attribute.label for attribute in self.table.attributes]
        return " × ".join(labels) if len(labels) <= 3 else f"all {len(labels)} attributes"

    def spread(self, values: Floats | Integers) -> Floats:
        """The cells back in the shape of their table, impossible ones 0."""
        full = np.zeros(self.table.shape)
        full[self.table.possible] = values
        return full


def margin(values: NDArray[Any], names: Sequence[str], kept: Sequence[str]) -> NDArray[Any]:
    """The sums of a table to some of its attributes, in the order asked for; axes after the named ones stay last.

    >>> margin(np.array([[1, 2], [3, 4]]), ("a", "b"), ("b",)).tolist()
    [4, 6]
    """
    others = tuple(axis for axis, name in enumerate(names) if name not in kept)
    left = [name for name in names if name in kept]
    summed = values.sum(axis=others)
    return np.asarray(summed.transpose([*map(left.index, kept), *range(len(left), summed.ndim)]))


def leaves_of(table: Table, product: Product, without: str | None = None) -> Grid:
    """Every cell of a table in the leaves of a product; of one attribute each may be left out instead of taken."""
    known = {one.name: one.levels for one in product.attributes}
    leaves = {one.name: _parts(known.get(one.name, one.levels), one.levels) for one in table.attributes}
    return Grid(tuple((name, each.others if name == without else each) for name, each in leaves.items()))


def _parts(levels: Levels, cut: Levels) -> LeafGroups:
    """For each leaf of levels that may be cut off, the leaves below it."""
    if levels.leaves == cut.leaves:
        return LeafGroups.each(len(levels.leaves))
    return LeafGroups.parted(levels.above(cut), len(cut.leaves))


def totals(product: Product, table: Table, without: str | None = None) -> Floats:
    """The released totals of a table, in the product's unit."""
    found = product.totals(leaves_of(table, product, without)).reshape(table.shape)
    return np.asarray(found * float(product.subject.step))


def counted(**chosen: Mask) -> Numbers:
    """How many cells are chosen, in each of some ways."""
    return {name: int(which.sum()) for name, which in chosen.items()}


def share(part: float, whole: float) -> float | None:
    """A part of a whole, or nothing where there is no whole."""
    return float(part) / float(whole) if whole else None


def mean(values: Sequence[float | None] | Floats) -> float | None:
    """The mean of the numbers that are known, or nothing where there are none."""
    found = np.array(values, dtype=np.float64)
    known = found[~np.isnan(found)]
    return float(known.mean()) if len(known) else None


def quantile(values: Floats, at: float) -> float | None:
    """A quantile, or nothing where there are no values."""
    return float(np.quantile(values, at)) if len(values) else None

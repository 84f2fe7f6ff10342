"""Fourier, non-negative: the tables of up to so many variables kept, the rest smoothed, one amount added to each cell.

Barak, Chaudhuri, Dwork, Kale, McSherry and Talwar (2007) keep of a table the Fourier coefficients that the wanted
margins need and add a little to the first, which adds the same to every cell, so that no cell is below 0. Here the
coefficients are those of the noisy table: the part of it that tables of up to so many variables tell, which is the sum
of its components over these (`by = { up_to = … }` measures them alone, at less noise). The amount is the least that
does, and is published. Variables that rules about impossible cells bind together count as one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sfumato.calibrate.nonnegative import NonNegative, Raised
from sfumato.errors import PlanError, how_many
from sfumato.release.figures import number
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Table


@dataclass(frozen=True)
class FourierNonnegative(NonNegative):
    """The part of a table that its tables of up to `up_to` variables tell, raised until no cell is below 0."""

    kind: ClassVar[str] = "fourier-nonnegative"
    name: str
    table: str
    up_to: int = 2
    to: tuple[str, ...] = field(default=(), init=False)

    @property
    def bias(self) -> str:
        kept = how_many(self.up_to, "variable")
        return (
            f"Tables of up to {kept} are biased upward by the same amount in every cell that they sum; of larger ones "
            "only what these tell is left."
        )

    def refuse_unfit(self, table: Table, controls: Sequence[Table]) -> None:
        super().refuse_unfit(table, controls)
        bound = len(bound_axes(table))
        if isinstance(self.up_to, bool) or not isinstance(self.up_to, int) or not 0 <= self.up_to <= bound:
            raise PlanError(
                f"Step '{self.name}': up_to is a number of variables from 0 to {bound}, those that rules bind together "
                f"counted as one; got {self.up_to!r}."
            )

    def adjusted(self, cells: Integers, table: Table) -> Raised:
        smooth = low_order(cells, table, self.up_to)
        added = max(0.0, -float(smooth[table.possible].min(initial=0.0)))
        # Rounding may leave less than nothing where nothing is meant.
        made = np.where(table.possible, np.maximum(smooth + added, 0.0), 0.0)
        return Raised(made, f"{number(added)} were added to every cell, in steps of the noisy table.")


def bound_axes(table: Table) -> list[list[int]]:
    """The axes of a table, those together that rules about impossible cells name together."""
    found = [{axis} for axis in range(len(table.shape))]
    for rule in table.impossible:
        axes = {table.names.index(name) for name, _ in rule.where}
        together = [one for one in found if one & axes]
        found = [one for one in found if not one & axes] + [set().union(*together)]
    return [sorted(one) for one in sorted(found, key=min)]


def low_order(cells: Integers, table: Table, up_to: int) -> Floats:
    """The sum of the components of a table over up to so many variables.

    >>> from sfumato.schema import Attribute, Levels
    >>> square = Table((Attribute("a", Levels.of("12")), Attribute("b", Levels.of("12"))))
    >>> low_order(np.array([[4, 0], [0, 0]]), square, 1).tolist()      # the mean, and how rows and columns differ
    [[3.0, 1.0], [1.0, -1.0]]
    """
    axes = bound_axes(table)
    order = [axis for group in axes for axis in group]
    lengths = [math.prod(table.shape[axis] for axis in group) for group in axes]
    laid = cells.transpose(order).reshape(lengths).astype(np.float64)
    possible = table.possible.transpose(order).reshape(lengths)
    # Rules bind axes within a group only, so that what is possible is a product of what is in each.
    kept = [possible.any(axis=tuple(one for one in range(len(axes)) if one != place)) for place in range(len(axes))]
    inside = np.ix_(*kept)
    whole = np.zeros(lengths)
    whole[inside] = _up_to(laid[inside], up_to)
    return np.asarray(whole.reshape([table.shape[axis] for axis in order]).transpose(np.argsort(order)))


def _up_to(cells: Floats, most: int) -> Floats:
    """By how many axes a component tells apart: each axis either averages what is there or leaves the difference."""
    parts: list[Floats] = [cells]
    for axis in range(cells.ndim):
        means = [part.mean(axis=axis, keepdims=True) for part in parts]
        longer: list[Floats] = [np.zeros_like(cells) for _ in range(min(len(parts), most) + 1)]
        for count, (part, mean) in enumerate(zip(parts, means, strict=True)):
            longer[count] += mean
            if count < most:
                longer[count + 1] += part - mean
        parts = longer
    return np.asarray(sum(parts))


EXAMPLE = FourierNonnegative("smoothed", "cube", 1)

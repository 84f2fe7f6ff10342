"""Shifted: the error of cells that a step moved away from unbiased ones, by amounts that stand beside them.

A total is now off by its noise s and by what its cells were moved, d, which everybody can sum; stated is
f'Vg + (d'f)(d'g). The mean squared error is that and 2 E[s d]: where each cell is moved by itself, upward and only if
it is below 0, its d goes with noise below 0 and is independent of the noise of others, so that E[s d] ≤ 0 and what is
stated is no less. The same holds of totals of the nearest table without cells below 0, before it is rounded to whole
cells: while k cells of a kept total stay above 0 and a total has j of these, raising one of its cells that do not by 1
changes its d by −1 + j / k ≤ 0, and raising one that does changes it not at all; so d falls with every cell of the
total, whose noise has mean 0 and is independent of that of others, and E[s d] ≤ 0 (Chebyshev). Of totals in Fourier
components and of weights calibrated to margins simulations find the same. Intervals do not rest on that: they hold
their level whatever d depends on, as `moved_error` proves.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.release.error_law import ErrorLaw
from sfumato.release.moved_error import MovedError
from sfumato.release.noisy import Floats, Integers
from sfumato.release.uncertainties.independent import Independent
from sfumato.release.uncertainties.uncertainty import Errors, StatedIn, Uncertainty, Withheld, read_uncertainty
from sfumato.schema import Box, Domain, Grid

COLUMN = "shift"


@dataclass(frozen=True, eq=False)
class Shifted(Uncertainty):
    """What was stated of unbiased cells, and how far each was moved from there."""

    kind: ClassVar[str] = "shifted"
    base: Uncertainty
    shift: Floats

    def over(self, domain: Domain, values: Integers) -> Errors:
        shift = self.shift.reshape(values.shape)
        base = self.base.over(domain, np.rint(values - shift).astype(np.int64))
        return base if isinstance(base, Withheld) else MovedAway(domain, base, shift)

    def refuse_unfit(self, domain: Domain, values: Integers) -> None:
        super().refuse_unfit(domain, values)
        self.base.refuse_unfit(domain, values)

    def in_steps(self, unit: float) -> "Shifted":
        return Shifted(self.base.in_steps(unit), self.shift * unit)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        return {**self.base.columns, COLUMN: self.shift}

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "base": self.base.to_dict()}

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Shifted":
        return cls(read_uncertainty(written["base"], source), source.column(COLUMN).astype(np.float64))


@dataclass(frozen=True, eq=False)
class MovedAway(Errors):
    """The errors of unbiased totals, and the products of how far totals were moved."""

    at_once: ClassVar[bool] = True
    domain: Domain
    base: Errors
    shift: Floats

    def _moved(self, grid: Grid) -> Floats:
        return np.asarray(self.domain.totals(self.shift, grid), dtype=np.float64)

    def law(self, grid: Grid) -> ErrorLaw:
        return MovedError(self.base.law(grid), self._moved(grid).ravel())

    def covariance(self, one: Box, other: Box) -> float | Withheld:
        return self.base.covariance(one, other) + float(self._moved(Grid((), one)) * self._moved(Grid((), other)))

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats | Withheld:
        wide, place = grid.around(kept)
        moved = self._moved(grid).ravel() * self._moved(wide).ravel()[place]
        return self.base.with_whole(grid, kept) + moved.reshape(grid.shape)

    def covariances(self, ones: list[Box], others: list[Box]) -> Floats | Withheld:
        first, second = (np.array([self._moved(Grid((), box)) for box in boxes]) for boxes in (ones, others))
        return self.base.covariances(ones, others) + np.outer(first, second)


EXAMPLE = Shifted(Independent(2.0), np.linspace(-1.0, 2.0, 12))

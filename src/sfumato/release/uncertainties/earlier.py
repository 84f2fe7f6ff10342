"""Earlier: the error of cells as they stood before a step moved them, at the values and in the sizes of then and now.

Some errors follow the values of their own product: those of raking, or of noise on roots. Under another step these are
the values before it, which stand in the file. Where a step multiplied cells by factors far from 1, as raking to totals
of a population does, the error before it is multiplied alike: F V F, which the controls then act on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.release.error_law import ErrorLaw
from sfumato.release.noisy import Floats, Integers
from sfumato.release.uncertainties.independent import Independent
from sfumato.release.uncertainties.uncertainty import Errors, StatedIn, Uncertainty, Withheld, read_uncertainty
from sfumato.schema import Box, Domain, Grid


@dataclass(frozen=True, eq=False)
class Earlier(Uncertainty):
    """What was stated before a step, the values of then, and the factor that each cell was multiplied by."""

    kind: ClassVar[str] = "earlier"
    base: Uncertainty
    values: Floats
    factors: Floats

    def over(self, domain: Domain, values: Integers) -> Errors:
        base = self.base.over(domain, np.rint(self.values).astype(np.int64).reshape(values.shape))
        if isinstance(base, Withheld) or (self.factors == 1).all():
            return base
        return Multiplied(domain, base, self.factors.reshape(values.shape))

    def refuse_unfit(self, domain: Domain, values: Integers) -> None:
        super().refuse_unfit(domain, values)
        self.base.refuse_unfit(domain, values)

    def in_steps(self, unit: float) -> "Earlier":
        return Earlier(self.base.in_steps(unit), self.values * unit, self.factors)

    @property
    def _names(self) -> tuple[str, str]:
        """Its columns; of one that stands on another they have other names than the other's."""
        before = sum(name.startswith("factor") for name in self.base.columns)
        return f"before{before}", f"factor{before}"

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        return {**self.base.columns, **dict(zip(self._names, (self.values, self.factors), strict=True))}

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "base": self.base.to_dict(), "columns": list(self._names)}

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Earlier":
        return cls(read_uncertainty(written["base"], source), *map(source.column, written["columns"]))


@dataclass(frozen=True, eq=False)
class Multiplied(Errors):
    """The errors of cells that were each multiplied by a factor."""

    domain: Domain
    base: Errors
    factors: Floats

    def times(self, cells: Floats) -> Floats:
        return self.factors * self.base.times(self.factors * cells)

    def _with(self, box: Box) -> Floats:
        """The covariance of every cell with the total of a box."""
        masks = (box.mask(attribute).astype(np.float64) for attribute in self.domain.attributes)
        return self.times(reduce(np.multiply.outer, masks, np.ones(())) * self.domain.possible)

    def law(self, grid: Grid) -> ErrorLaw:
        return self.base.law(grid).moved

    def covariance(self, one: Box, other: Box) -> float:
        return float(self.domain.totals(self._with(other), Grid((), one)))

    def covariances(self, ones: list[Box], others: list[Box]) -> Floats:
        found = map(self._with, others)
        return np.array([[self.domain.totals(cells, Grid((), one)) for one in ones] for cells in found]).T


EXAMPLE = Earlier(Independent(2.0), np.arange(12.0), np.linspace(0.5, 3.0, 12))

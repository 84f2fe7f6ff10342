"""Independent: every cell has noise of its own with the same variance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Floats, Integers
from sfumato.release.uncertainties.trend import Trend
from sfumato.release.uncertainties.uncertainty import Errors, StatedIn, Uncertainty
from sfumato.schema import Box, Domain, Grid


@dataclass(frozen=True)
class Independent(Uncertainty):
    """Noise of one law in every cell, so two totals share the cells they have in common.

    `excess` is the excess kurtosis of the noise in one cell: 0 for a normal law, 3 for that of Laplace.
    """

    kind: ClassVar[str] = "independent"
    variance: float
    excess: float = 0.0

    def over(self, domain: Domain, values: Integers) -> Errors:  # noqa: ARG002 - the same at every value
        return Even(domain, self.variance, self.excess)

    def in_steps(self, unit: float) -> "Independent":
        return Independent(self.variance * unit**2, self.excess)

    @property
    def even(self) -> float:
        return self.variance

    @property
    def trend(self) -> Trend:
        return Trend(base=self.variance)

    def to_dict(self) -> dict[str, Any]:
        said = {"kind": self.kind, "variance": self.variance}
        return said | {"excess_kurtosis": self.excess} if self.excess else said

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Independent":  # noqa: ARG003 - all is in the manifest
        return cls(float(written["variance"]), float(written.get("excess_kurtosis", 0.0)))


@dataclass(frozen=True, eq=False)
class Even(Errors):
    """A variance times the cells that two boxes have in common."""

    domain: Domain
    variance: float
    kurtosis: float = 0.0

    def covariance(self, one: Box, other: Box) -> float:
        return self.variance * self.domain.count(one.within(other))

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats:  # noqa: ARG002 - a part's cells
        return np.asarray(self.variance * self.domain.counts(grid), dtype=np.float64)

    def covariances(self, ones: list[Box], others: list[Box]) -> Floats:
        return self.variance * self.domain.common(ones, others)

    def times(self, cells: Floats) -> Floats:
        return self.variance * cells

    @property
    def weights(self) -> tuple[NDArray[Any], float]:
        return self.domain.possible, self.variance

    def excess(self, cells: Integers) -> Floats:
        return np.asarray(self.kurtosis / np.maximum(cells, 1), dtype=np.float64)


EXAMPLE = Independent(2.5, 3.0)

"""Proportional: noise that multiplies every cell, so that its error is the same share of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.release.noisy import Floats, Integers
from sfumato.release.relative_error import RelativeError, stated_share
from sfumato.release.tails import LAPLACE
from sfumato.release.uncertainties.uncertainty import Errors, StatedIn, Uncertainty, amount
from sfumato.release.uncertainties.varying import Varying
from sfumato.schema import Box, Domain, Grid


@dataclass(frozen=True)
class Proportional(Uncertainty):
    """A cell of n steps has variance r (n + shift)², r the relative variance and the shift public.

    At the noisy value it is taken as r / (1 + r) times the square of that with its shift, which is unbiased, as the
    mean of that square is (1 + r) (n + shift)².
    """

    kind: ClassVar[str] = "proportional"
    variance: float
    shift: float

    def over(self, domain: Domain, values: Integers) -> Errors:
        sizes = np.where(domain.possible, np.maximum(values.reshape(domain.possible.shape) + self.shift, 0.0), 0.0)
        share = stated_share(self.variance)
        (coarse, held), (_, squares), (_, fourths) = (domain.condensed(sizes**power) for power in (1, 2, 4))
        return InProportion(coarse, held, squares, fourths, share, (share * sizes**2).reshape(values.shape))

    def in_steps(self, unit: float) -> "Proportional":
        return Proportional(self.variance, self.shift * unit)

    @property
    def follows(self) -> bool:
        return True

    def settled(self, sizes: Floats) -> Varying:
        """The variances at other sizes; no cell is taken to be nearer to nothing than a tenth of its shift."""
        with_shift = np.maximum(sizes + self.shift, self.shift / 10)
        return Varying(self.variance * with_shift**2, excess=LAPLACE)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "variance": self.variance, "shift": self.shift}

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Proportional":  # noqa: ARG003 - all is in the manifest
        stated = cls(amount(written["variance"]), amount(written["shift"]))
        if not stated.variance:
            raise ReleaseError("The manifest states noise in proportion to cells, and none of it; it was edited.")
        return stated


@dataclass(frozen=True, eq=False)
class InProportion(Errors):
    """The errors of cells with noise of their own, each a share of its size."""

    at_once: ClassVar[bool] = True
    domain: Domain
    sizes: Floats
    squares: Floats
    fourths: Floats
    share: float
    variances: Floats

    def covariance(self, one: Box, other: Box) -> float:
        return self.share * float(self.domain.totals(self.squares, Grid((), one.within(other))))

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats:  # noqa: ARG002 - a part's cells
        return np.asarray(self.share * self.domain.totals(self.squares, grid), dtype=np.float64)

    def covariances(self, ones: list[Box], others: list[Box]) -> Floats:
        return self.share * self.domain.common(ones, others, self.squares)

    @property
    def weights(self) -> tuple[NDArray[Any], float]:
        return self.variances, 1.0

    def times(self, cells: Floats) -> Floats:
        return self.variances * cells

    def law(self, grid: Grid) -> RelativeError:
        found = (self.domain.totals(one, grid).ravel() for one in (self.sizes, self.squares, self.fourths))
        return RelativeError(*(np.asarray(one, dtype=np.float64) for one in found))


EXAMPLE = Proportional(0.02, 10.0)

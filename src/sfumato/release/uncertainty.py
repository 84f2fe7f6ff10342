"""Uncertainty: the joint error of a product's cells, answered as the covariance of the totals over two boxes."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.release.calibrated import Calibrated, Raked, controls_from
from sfumato.release.counts import cells_in_common, counts_over
from sfumato.schema import Box, Grid, Table

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Withheld:
    """An error that cannot be stated, as stating it would leak; the reason stands where the number would."""

    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "withheld", "reason": self.reason}

    def covariance(self, table: Table, one: Box, other: Box) -> "Withheld":  # noqa: ARG002 - withheld for all boxes
        return self

    def with_whole(self, table: Table, grid: Grid, kept: tuple[str, ...]) -> "Withheld":  # noqa: ARG002
        return self

    def covariances(self, table: Table, ones: list[Box], others: list[Box]) -> "Withheld":  # noqa: ARG002
        return self


class Uncertainty(Protocol):
    """Whatever can tell the covariance of two totals, in squared steps."""

    def covariance(self, table: Table, one: Box, other: Box) -> float | Withheld: ...

    def to_dict(self) -> dict[str, Any]: ...


@runtime_checkable
class Batched(Protocol):
    """An uncertainty that answers for many boxes at once; one that does not is asked box by box."""

    def with_whole(self, table: Table, grid: Grid, kept: tuple[str, ...]) -> Floats | Withheld:
        """The covariances of the totals of a grid, each with the total of the wider box that only some axes tell."""

    def covariances(self, table: Table, ones: list[Box], others: list[Box]) -> Floats | Withheld:
        """The covariance of each of some totals with each of some others."""


@dataclass(frozen=True)
class Independent:
    """Every cell has noise of its own with the same variance, so two totals share the cells they have in common.

    `excess` is the excess kurtosis of the noise in one cell: 0 for a normal law, 3 for that of Laplace.
    """

    variance: float
    excess: float = 0.0

    def covariance(self, table: Table, one: Box, other: Box) -> float:
        return self.variance * table.count(one.within(other))

    def with_whole(self, table: Table, grid: Grid, kept: tuple[str, ...]) -> Floats:  # noqa: ARG002 - a part's cells
        return np.asarray(self.variance * counts_over(table, grid).ravel(), dtype=np.float64)

    def covariances(self, table: Table, ones: list[Box], others: list[Box]) -> Floats:
        return self.variance * cells_in_common(table, ones, others)

    def to_dict(self) -> dict[str, Any]:
        stated = {"kind": "independent", "variance": self.variance}
        return stated | {"excess_kurtosis": self.excess} if self.excess else stated


def uncertainty_from_dict(written: dict[str, Any], table: Table, values: NDArray[np.int64]) -> Uncertainty:
    """The uncertainty that a manifest states of the values of a table."""
    kind = written.get("kind")
    if kind == "independent":
        return Independent(float(written["variance"]), float(written.get("excess_kurtosis", 0.0)))
    if kind == "calibrated":
        return Calibrated(table, float(written["variance"]), controls_from(written["controls"]))
    if kind == "raked":
        return Raked(table, float(written["variance"]), controls_from(written["controls"]), values.astype(np.float64))
    if kind == "withheld":
        return Withheld(str(written["reason"]))
    raise ReleaseError(
        f"The manifest states an uncertainty of kind '{kind}', which this version does not know; update Sfumato."
    )

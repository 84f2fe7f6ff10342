"""Uncertainty: the joint error of a product's cells, answered as the covariance of the totals over two boxes."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.release.calibrated import Calibrated, Raked, controls_from
from sfumato.schema import Box, Table


@dataclass(frozen=True)
class Withheld:
    """An error that cannot be stated, as stating it would leak; the reason stands where the number would."""

    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "withheld", "reason": self.reason}

    def covariance(self, table: Table, one: Box, other: Box) -> "Withheld":  # noqa: ARG002 - withheld for all boxes
        return self


class Uncertainty(Protocol):
    """Whatever can tell the covariance of two totals, in squared steps."""

    def covariance(self, table: Table, one: Box, other: Box) -> float | Withheld: ...

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Independent:
    """Every cell has noise of its own with the same variance, so two totals share the cells they have in common."""

    variance: float

    def covariance(self, table: Table, one: Box, other: Box) -> float:
        return self.variance * table.count(one.within(other))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "independent", "variance": self.variance}


def uncertainty_from_dict(written: dict[str, Any], table: Table, values: NDArray[np.int64]) -> Uncertainty:
    """The uncertainty that a manifest states of the values of a table."""
    kind = written.get("kind")
    if kind == "independent":
        return Independent(float(written["variance"]))
    if kind == "calibrated":
        return Calibrated(table, float(written["variance"]), controls_from(written["controls"]))
    if kind == "raked":
        return Raked(table, float(written["variance"]), controls_from(written["controls"]), values.astype(np.float64))
    if kind == "withheld":
        return Withheld(str(written["reason"]))
    raise ReleaseError(
        f"The manifest states an uncertainty of kind '{kind}', which this version does not know; update Sfumato."
    )

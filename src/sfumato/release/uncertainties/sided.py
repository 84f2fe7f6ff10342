"""Sided: every cell has an error of its own that reaches further to one side; how far stands beside it in the file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Floats, Integers
from sfumato.release.sided_error import DEVIATES, SidedError, matched_variance
from sfumato.release.uncertainties.uncertainty import Errors, StatedIn, Uncertainty, not_below
from sfumato.release.uncertainties.varying import Apart
from sfumato.release.written import number
from sfumato.schema import Domain, Grid


@dataclass(frozen=True, eq=False)
class Sided(Uncertainty):
    """How far below and above every cell its intervals go at each of `DEVIATES`, in steps; numbers are not summed.

    `excess` is the excess kurtosis of the noise that the intervals were found by.
    """

    kind: ClassVar[str] = "sided"
    below: Floats
    above: Floats
    excess: float = 0.0

    def over(self, domain: Domain, values: Integers) -> Errors:
        shape = (len(DEVIATES), *values.shape)
        below, above = self.below.reshape(shape), self.above.reshape(shape)
        variances = matched_variance(below, above)
        cells, held = domain.condensed(variances)
        sides = [np.stack([domain.condensed(row)[1] for row in side]) for side in (below, above)]
        return ToEachSide(cells, held, variances, below=sides[0], above=sides[1], kurtosis=self.excess)

    def in_steps(self, unit: float) -> "Sided":
        return Sided(self.below * unit, self.above * unit, self.excess)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        sides = {"below": self.below, "above": self.above}
        return {f"{name}_{place}": side[place] for name, side in sides.items() for place in range(len(DEVIATES))}

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "deviates": list(DEVIATES), "excess_kurtosis": self.excess}

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Sided":
        if tuple(written["deviates"]) != DEVIATES:
            raise ValueError("it states its intervals at other deviates than this version knows; update Sfumato")
        sides = [_rising(name, source) for name in ("below", "above")]
        return cls(sides[0], sides[1], number(written["excess_kurtosis"], 0, 100))


def _rising(name: str, source: StatedIn) -> Floats:
    """How far intervals go to one side, none further at a lower level."""
    names = [f"{name}_{place}" for place in range(len(DEVIATES))]
    rows = np.stack([not_below(source.column(one), one).astype(np.float64, copy=False) for one in names])
    if (np.diff(rows, axis=0) < 0).any():
        raise ValueError(f"its intervals reach less far {name} at a higher level")
    return rows


@dataclass(frozen=True, eq=False, kw_only=True)
class ToEachSide(Apart):
    """Errors whose variance is that of a normal law with the same 90% interval; intervals are as they were found."""

    below: Floats
    above: Floats
    kurtosis: float

    def law(self, grid: Grid) -> SidedError:
        sides = [np.stack([self.domain.totals(row, grid).ravel() for row in side]) for side in (self.below, self.above)]
        return SidedError(sides[0], sides[1], self.kurtosis)


_REACH = np.outer(DEVIATES, np.linspace(1.0, 3.0, 12))
EXAMPLE = Sided(_REACH, 1.5 * _REACH, 0.2)

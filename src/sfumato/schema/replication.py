"""Replication: how the variance of an estimate follows from its replicates.

v = scale Σ rscale_r (estimate_r − centre)², with a scale that each method has by its design (Wolter 2007, chapters 3 to
5; Fay and Train 1995 for successive differences). The centre is the estimate, or the mean of the replicates that count.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError, nearest

Floats = NDArray[np.float64]

WORDS = {
    "sdr": "successive difference replication",
    "jk1": "jackknife (JK1)",
    "jkn": "stratified jackknife (JKn)",
    "brr": "balanced repeated replication",
    "fay": "Fay's balanced repeated replication",
    "bootstrap": "bootstrap",
}
SCALES: Mapping[str, Callable[[int], Fraction]] = {
    "sdr": lambda count: Fraction(4, count),
    "jk1": lambda count: Fraction(count - 1, count),
    "jkn": lambda count: Fraction(1),  # noqa: ARG005 - each replicate has its own, (n − 1) / n of its stratum
    "brr": lambda count: Fraction(1, count),
    "fay": lambda count: Fraction(1, count),
}
"""The scale of so many replicates; a bootstrap has that of whoever drew it."""
CENTRES = ("estimate", "mean")


@dataclass(frozen=True)
class Replication:
    """A method by its name, what of its scales is its own, and what departures are taken about.

    >>> Replication("jk1", about="mean").variance(10.0, np.array([9.0, 11.0, 10.0, 14.0])).item()    # 3/4 of 14
    10.5
    """

    method: str = "sdr"
    scale: Fraction | None = None
    rscales: tuple[Fraction, ...] = ()
    about: str = "estimate"
    fay: Fraction | None = None
    assumed: bool = field(default=False, compare=False)
    """Whether nobody said so; the words then do."""

    def __post_init__(self) -> None:
        if self.method not in WORDS:
            raise PlanError(f"[data] method is '{self.method}'; {nearest(self.method, WORDS)}")
        if self.about not in CENTRES:
            raise PlanError(f"[data] method is about '{self.about}'; {nearest(self.about, CENTRES)}")
        if (self.method == "fay") != (self.fay is not None) or not 0 <= (self.fay or 0) < 1:
            raise PlanError(
                "Fay's method, and no other, has `fay`, from 0 to below 1: the share of its weight that a half-sample "
                'keeps. For example method = { method = "fay", fay = "0.5" }.'
            )
        if self.method == "jkn" and not self.rscales:
            raise PlanError(
                "The method jkn needs `rscales`, one for each replicate: (n − 1) / n of the stratum that it leaves a "
                "unit out of, times 1 − n / N where the sample is a large part; all 1 for pairs of half-strata (JK2)."
            )
        if self.method == "bootstrap" and self.scale is None:
            raise PlanError(
                "The method bootstrap needs its `scale`, which those who drew it state: 1 over the number of "
                'replicates for rescaled weights (Rao and Wu), for example scale = "1/500".'
            )
        if (self.scale is not None and self.scale <= 0) or min(self.rscales, default=0) < 0 or not self._counts.any():
            raise PlanError("[data] method has a scale above 0 and rscales of 0 or more, not all 0.")

    def refuse(self, count: int) -> None:
        """Say so where so many replicates cannot be of this method."""
        if self.rscales and len(self.rscales) != count:
            raise PlanError(f"[data] has {count} replicates and {len(self.rscales)} rscales; each replicate has one.")
        if self.method == "sdr" and count > 2 and count % 4:  # the order of a Hadamard matrix
            raise PlanError(
                f"[data] has {count} replicate weights, and successive difference replication, {self._whose}, has "
                f'a multiple of 4; say which method they are of, for example method = "jk1". '
                f"There are {', '.join(WORDS)}."
            )

    @property
    def _whose(self) -> str:
        return "which they are taken for" if self.assumed else f"the method that the plan says ({self.method})"

    @property
    def _counts(self) -> NDArray[np.bool_]:
        """Which replicates count, of those that have a scale of their own."""
        return np.array([one > 0 for one in self.rscales] or [True])

    def factors(self, count: int) -> Floats | float:
        """What each squared departure is multiplied by, one number where it is the same for all."""
        scale = SCALES[self.method](count) / (1 - (self.fay or 0)) ** 2 if self.scale is None else self.scale
        return np.array([float(scale * one) for one in self.rscales]) if self.rscales else float(scale)

    def departures(self, estimate: Any, replicates: NDArray[Any]) -> NDArray[Any]:
        """How far replicates, on the last axis, lie from what they vary about."""
        if self.about == "estimate":
            return np.asarray(replicates - np.asarray(estimate)[..., None])
        counted = replicates[..., self._counts] if self.rscales else replicates
        return np.asarray(replicates - counted.mean(axis=-1, keepdims=True))

    def variance(self, estimate: Any, replicates: NDArray[Any]) -> Floats:
        """The variances of estimates whose replicates stand on the last axis; not a number where a replicate is none.

        >>> Replication().variance(10.0, np.array([12, 8, 11, 9])).item()              # (4 / 4) (4 + 4 + 1 + 1)
        10.0
        """
        squares, factors = np.square(self.departures(estimate, replicates)), self.factors(replicates.shape[-1])
        if isinstance(factors, float):
            return np.asarray(factors * squares.sum(axis=-1))
        return np.asarray((squares * factors).sum(axis=-1))

    def words(self) -> str:
        """The method in words.

        >>> Replication("jk1", Fraction(9, 10), about="mean").words()
        'jackknife (JK1), scale 0.9, departures about the mean of the replicates'
        """
        said = [WORDS[self.method]]
        said += [f"each half-sample keeps {float(self.fay):.4g}"] if self.fay is not None else []
        said += [f"scale {float(self.scale):.6g}"] if self.scale is not None else []
        said += (
            [f"rscales from {float(min(self.rscales)):.4g} to {float(max(self.rscales)):.4g}"] if self.rscales else []
        )
        said += ["departures about the mean of the replicates"] if self.about == "mean" else []
        said += ["taken for it as [data] says no method"] if self.assumed else []
        return ", ".join(said)


SUCCESSIVE = Replication(assumed=True)
"""What replicates are of where nothing is said."""

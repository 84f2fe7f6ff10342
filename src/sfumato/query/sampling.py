"""Sampling error, stated from public numbers alone: none, by a variance function, or withheld with the reason."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.query.estimate import Variance
from sfumato.release import Withheld

Floats = NDArray[np.float64]
NOT_ABOVE = "the whole is not above 0"


class Sampling(ABC):
    """What a release says of the error that comes from having asked a sample."""

    reason = NOT_ABOVE
    """Why an error is withheld, where one is."""

    @abstractmethod
    def totals(self, values: Floats, noise: Floats) -> Floats:
        """The sampling variances of many totals, NaN where they are withheld."""

    @abstractmethod
    def shares(self, parts: Floats, wholes: Floats, noise: Floats, rest: Floats) -> Floats:
        """The sampling variances of many parts within their wholes, NaN where they are withheld.

        `noise` is the variance by noise of each part, and `rest` that of what its whole has besides.
        """

    @abstractmethod
    def ratio(self) -> Variance:
        """The sampling variance of a ratio of any two totals."""

    @abstractmethod
    def in_common(self, values: Floats) -> Floats | Withheld:
        """What the covariance of two totals comes to by the records of both, whose total these are.

        A variance function has a further term, in the product of the two totals, which cancels in every share.
        """

    def total(self, value: float, noise: Variance) -> Variance:
        """The sampling variance of a total."""
        held = isinstance(noise, Withheld)
        found = float(self.totals(np.array([value]), np.array([np.nan if held else noise], dtype=float))[0])
        if not np.isnan(found):
            return found
        return noise if isinstance(noise, Withheld) else Withheld(self.reason)

    def share(self, part: float, whole: float, noise: Variance, rest: Variance) -> Variance:
        """The sampling variance of a part within a whole."""
        known = [np.nan if isinstance(one, Withheld) else one for one in (part, whole, noise, rest)]
        found = float(self.shares(*(np.array([one]) for one in known))[0])
        return Withheld(self.reason) if np.isnan(found) else found


class NotSampled(Sampling):
    """Everybody was asked."""

    def totals(self, values: Floats, noise: Floats) -> Floats:  # noqa: ARG002 - zero for every total
        return np.zeros(len(values))

    def shares(self, parts: Floats, wholes: Floats, noise: Floats, rest: Floats) -> Floats:  # noqa: ARG002
        return np.zeros(len(parts))

    def in_common(self, values: Floats) -> Floats | Withheld:
        return np.zeros_like(values)

    def ratio(self) -> Variance:
        return 0.0


@dataclass(frozen=True)
class Unstated(Sampling):
    """A sample, of which no error may or can be stated."""

    reason: str

    def total(self, value: float, noise: Variance) -> Variance:  # noqa: ARG002
        return Withheld(self.reason)

    def totals(self, values: Floats, noise: Floats) -> Floats:  # noqa: ARG002 - withheld for every total
        return np.full(len(values), np.nan)

    def shares(self, parts: Floats, wholes: Floats, noise: Floats, rest: Floats) -> Floats:  # noqa: ARG002
        return np.full(len(parts), np.nan)

    def in_common(self, values: Floats) -> Floats | Withheld:  # noqa: ARG002
        return Withheld(self.reason)

    def ratio(self) -> Variance:
        return Withheld(self.reason)


@dataclass(frozen=True)
class GeneralisedVariance(Sampling):
    """A generalised variance function: a total x has sampling variance a x² + b x (Wolter 2007, chapter 7).

    The published x holds noise, whose variance is taken off its square. A share p of a whole y has (b / y) p (1 − p).
    Where noise alone may be as large as what was published, that large the true number may be, and at that the function
    is taken: a number at or below 0 is no statement that there was nothing to sample.

    >>> function = GeneralisedVariance(-0.00001, 600)
    >>> function.total(1000.0, 0.0), function.total(-3.0, 400.0), function.total(0.0, 0.0)
    (599990.0, 12000.0, 0.0)
    """

    a: float
    b: float

    def totals(self, values: Floats, noise: Floats) -> Floats:
        least = _at_least(values, noise)
        return np.maximum(self.a * (least * least - noise) + self.b * least, 0.0)

    def shares(self, parts: Floats, wholes: Floats, noise: Floats, rest: Floats) -> Floats:
        above = np.where(wholes > 0, wholes, np.nan)
        inside = np.clip(_at_least(parts, noise) / above, 0.0, 1.0)
        outside = np.clip(_at_least(wholes - parts, rest) / above, 0.0, 1.0)
        return self.b / above * inside * outside

    def in_common(self, values: Floats) -> Floats | Withheld:
        return self.b * np.maximum(values, 0.0)

    def ratio(self) -> Variance:
        return Withheld("the variance function of this release is for totals, shares and differences")


def _at_least(values: Floats, noise: Floats) -> Floats:
    """Each number, or the error of its noise where that is larger; an error that is withheld counts as none."""
    return np.maximum(values, np.sqrt(np.maximum(np.nan_to_num(noise), 0.0)))


def sampling_of(stated: dict[str, Any], product: str) -> Sampling:
    """What a manifest says of the sampling error of a product."""
    if stated["kind"] == "census":
        return NotSampled()
    function = stated.get("functions", {}).get(product)
    if function and not float(function["b"]) > 0 and str(function.get("source")).startswith("bought"):
        # Releases made before could buy a variance of 0, of weights below 1.
        return Unstated("the variance function of this release leaves no variance above 0")
    if function:
        return GeneralisedVariance(float(function["a"]), float(function["b"]))
    reason = stated.get("reason", "the release gives no variance function for this statistic")
    return Unstated(stated.get("refused", {}).get(product, reason))

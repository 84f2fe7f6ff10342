"""Sampling: what a plan says of the error that comes from having asked a sample."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.errors import PlanError
from sfumato.plan.measure import Measure
from sfumato.privacy import Exact, exact, plain, positive
from sfumato.release.tails import z_score

Z90 = z_score(0.90)


@dataclass(frozen=True)
class NoisyTotal:
    """The total of a product, and the variance by noise that the release states of it, if it states one."""

    value: float
    variance: float | None


class StatedVariance(ABC):
    """A product's sampling variance as a x² + b x, from numbers that are public or become so."""

    of: str

    @property
    def bought(self) -> tuple[str, ...]:
        """The measures that it is computed from."""
        return ()

    @abstractmethod
    def refuse(self, bought: Mapping[str, Measure]) -> None:
        """Say so where the measures that it is computed from are not what it takes them for."""

    @abstractmethod
    def stated(self, totals: Mapping[str, NoisyTotal]) -> dict[str, Any] | str:
        """Its numbers, from the noisy totals of all products; or why there are none."""


@dataclass(frozen=True)
class VarianceFunction(StatedVariance):
    """A product's sampling variance as a x² + b x, and where a and b come from.

    They are public already, or `outside` the guarantee: computed from the data at no cost, listed as an exposure.
    """

    of: str
    a: Fraction
    b: Fraction
    source: str
    outside: bool

    def __init__(self, of: str, a: Exact, b: Exact, source: str, outside: bool = False) -> None:
        told = {"of": of, "a": exact(a, "a"), "b": exact(b, "b"), "source": source.strip(), "outside": outside}
        for name, value in told.items():
            object.__setattr__(self, name, value)
        if not self.source:
            raise PlanError(f"The variance function of '{of}' needs its source: which publication a and b come from.")
        if self.b < 0 or (self.b == 0 and self.a != 0):
            raise PlanError(
                f"The variance function of '{of}' has b = {plain(self.b)}, so small totals and shares would be stated "
                "without sampling error; b is above 0, about what one record stands for. Where the stated error holds "
                "sampling already, a and b are both 0, and the source says so."
            )

    def refuse(self, bought: Mapping[str, Measure]) -> None:
        """It is computed from no measure."""

    def stated(self, totals: Mapping[str, NoisyTotal]) -> dict[str, Any]:  # noqa: ARG002 - public already
        return {"a": float(self.a), "b": float(self.b), "source": self.source}


@dataclass(frozen=True)
class BoughtVariance(StatedVariance):
    """A product's sampling variance as b x, b bought with budget: deff (Σw² / Σw − certain) from two noisy totals.

    Σw² − certain Σw estimates the variance of Σw when records are drawn one by one (Poisson sampling), with `certain`
    the weight of a record that is drawn for certain: 1, or 0.001 where weights are in thousands. At 0 the variance is
    that of drawing with replacement, a little larger, in whatever unit weights are. deff is the public factor by which
    the design, its clusters above all, is worse or better than that.
    """

    of: str
    squares: str
    weights: str
    deff: Fraction
    certain: Fraction

    def __init__(self, of: str, squares: str, weights: str, deff: Exact = 1, certain: Exact = 0) -> None:
        told = {"of": of, "squares": squares, "weights": weights, "deff": positive(deff, "deff")}
        for name, value in (told | {"certain": exact(certain, "certain")}).items():
            object.__setattr__(self, name, value)
        if self.certain < 0:
            raise PlanError(f"certain is {plain(self.certain)}; it is the weight of a record drawn for certain, or 0.")

    @property
    def bought(self) -> tuple[str, ...]:
        return self.squares, self.weights

    def refuse(self, bought: Mapping[str, Measure]) -> None:
        squares, weights = (bought[name] for name in self.bought)
        square, weight = squares.of.contribution, weights.of.contribution
        if (square.power, weight.power) != (2, 1) or square.column is None or square.column != weight.column:
            raise PlanError(
                f"[[sampling]] of '{self.of}': '{self.squares}' and '{self.weights}' must be totals of the squares of "
                "a column (power = 2) and of the same column, the weight."
            )
        if (
            weight.high is None
            or square.high is None
            or weight.high**2 != square.high
            or squares.where != weights.where
        ):
            raise PlanError(
                f"[[sampling]] of '{self.of}': '{self.squares}' and '{self.weights}' must be over the same records, "
                "each weight held within the same bounds, clip_value of the one and clip of the other."
            )

    def stated(self, totals: Mapping[str, NoisyTotal]) -> dict[str, Any] | str:
        """The b of the noisy totals and its margin; none where that reaches 0, as noise alone may be all of it."""
        squares, weights = (totals[name] for name in self.bought)
        said = f"the noisy totals '{self.squares}' and '{self.weights}', which were bought for it,"
        if squares.variance is None or weights.variance is None:
            return f"{said} state no error of their noise, so that nothing tells how good it is"
        certain = float(self.certain)
        over, error = squares.value - certain * weights.value, math.sqrt(weights.variance)
        if over <= 0 or weights.value <= Z90 * error:
            return f"{said} leave no variance above 0"
        b, ratio = float(self.deff) * over / weights.value, squares.value / weights.value
        margin = Z90 * float(self.deff) * math.hypot(math.sqrt(squares.variance), ratio * error) / weights.value
        if b <= margin:
            return f"{said} give b as {b:.3g} ± {margin:.3g}, which noise alone may be"
        told = f"bought: {self.squares} and {self.weights}, b ± {margin:.2g} (90%, by noise)"
        return {"a": 0.0, "b": b, "source": told}

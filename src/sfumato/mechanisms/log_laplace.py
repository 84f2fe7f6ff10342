"""The log-Laplace mechanism: two-sided geometric noise on the logarithm of a size, a pure epsilon.

Claim. Cells that grow or shrink in c steps in all, each from x to at most max((1 + alpha) x, x + 1), lose epsilon.
Law. With 1 / alpha added to a size its logarithm goes ln(1 + alpha) in a step at most, and from 0 to 1 it does. On the
lattice g = ln(1 + alpha) / 1000 the logarithm m is the nearest multiple of g; m + J is published, J two-sided geometric
with a = exp(-epsilon / 1001 c) for c steps, as the size e^(g (m + J)) / M(g) - 1 / alpha, where M(h) = E e^(hJ) =
(1 - a)² / ((1 - a e^h)(1 - a e^-h)): without bias. The error is in proportion to the size with 1 / alpha added.
Proof. 1,000 lattice steps apart, logarithms are at most 1,000 apart once each is rounded half up; the one step more is
for floats, which may round a tie either way. c such moves cost c 1001 / 1001 c of epsilon (Dwork et al. 2006), and what
is made of m + J is arithmetic on public numbers. Rounding the logarithm moves a size by g / 2 of itself at most.
Factor. 2 doubles the noise at the same epsilon, as published. What it hides at epsilon beyond the claim: one worker, or
the alpha of a size, that leaves one establishment and comes to another, which is two steps and 2 epsilon at factor 1.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.draws import Draws, TwoSidedGeometric
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.example import Floats, example
from sfumato.mechanisms.mechanism import Mechanism, Typical
from sfumato.privacy import Approximate, Exact, Loss, Move, positive, relative
from sfumato.release import Noisy, Product, Proportional, Uncertainty, Withheld
from sfumato.release.manifest import NoiseLine
from sfumato.release.noisy import Integers
from sfumato.release.relative_error import RelativeError

FINE, HUNDREDTHS = 1_000, 100
"""How many lattice steps ln(1 + alpha) is, and into how many parts the step of a measure is divided in what is
published."""
LARGEST = 2**52
"""The largest published number in steps: noise beyond it is held to it."""
ROOM = 16
"""How many times a number may be, by noise, what it is, before it is held."""
TOO_LARGE = "some values are so large that they cannot be published in hundredths of a step; use a coarser step."
GROWS = "its noise grows with the number it is on: state a typical size, which is public knowledge"
ESTIMATES = ("unbiased", "as drawn")


@dataclass(frozen=True)
class LogLaplace(Mechanism):
    """Noise in proportion to the size of a cell that costs epsilon.

    `estimate` is "as drawn" where what is published is not corrected for the mean of e^noise, as in the paper.
    """

    name: ClassVar[str] = "log-laplace"
    source: ClassVar[str] = (
        "Haney et al. 2017, algorithm 1; on a public lattice, without bias and at half its noise here"
    )
    epsilon: Fraction
    factor: int
    estimate: str

    def __init__(self, epsilon: Exact, factor: int = 1, estimate: str = "unbiased") -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "estimate", estimate)
        if isinstance(factor, bool) or factor not in {1, 2}:
            raise PlanError(f"The factor of {self.name} is {factor!r}; it is 1, or 2 as published.")
        if estimate not in ESTIMATES:
            raise PlanError(f"The estimate of {self.name} is '{estimate}'; it is {' or '.join(map(repr, ESTIMATES))}.")

    def parameters(self) -> str:
        more = [f"factor {self.factor}"] * (self.factor != 1) + [self.estimate] * (self.estimate != ESTIMATES[0])
        return ", ".join([f"epsilon {float(self.epsilon):g}", *more])

    def loss(self, move: Move) -> Loss:
        self.law(move)
        return Approximate(self.epsilon)

    def law(self, move: Move) -> TwoSidedGeometric:
        """The law of the noise on a logarithm, in lattice steps; refused where what is published has no mean."""
        steps = self.factor * relative(move, self.name).cells * (FINE + 1)
        law = TwoSidedGeometric(self.epsilon / steps)
        if float(law.rate) <= lattice(move):
            least = steps * lattice(move)
            raise PromiseError(
                f"{self.words()}: at alpha {float(relative(move, self.name).alpha):g} its noise has no mean, which "
                f"takes an epsilon above {above(least)}; from {above(2 * least)} on it has a variance too."
            )
        return law

    def clean(self, cells: Cells, given: Mapping[str, Product] | None = None) -> Integers:  # noqa: ARG002
        """The logarithms on the lattice, to which the noise is added."""
        sizes = cells.totals * float(cells.step) + shift(cells.move)
        return np.asarray(np.floor(np.log(sizes) / lattice(cells.move) + 0.5), dtype=np.int64)

    def unfit(self, cells: Cells) -> str:
        """Why what is reported cannot be carried: what is published of it would be held to the largest number."""
        return TOO_LARGE if cells.totals.max(initial=0) * HUNDREDTHS * ROOM > LARGEST else ""

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:
        if cells.places is not None:
            raise PlanError(f"{self.name} changes every cell, and is for tables of which every cell is laid out.")
        logs, step = self.clean(cells, given), cells.step / HUNDREDTHS
        logs += self.law(cells.move).draw(logs.size, draws).reshape(logs.shape)
        values = self._sizes(logs, cells.move, float(step))
        return Noisy(cells.domain, np.where(cells.domain.possible, values, 0), step, cells.move)

    def _sizes(self, logs: Integers, move: Move, step: float) -> Integers:
        """What is published of noisy logarithms, in steps; whatever is too large for 64 bits is held."""
        sizes = np.exp(np.minimum(logs * lattice(move) - math.log(step * self.mean(move)), math.log(LARGEST)))
        return np.asarray(np.floor(sizes - shift(move) / step + 0.5), dtype=np.int64)

    def seen(self, noisy: Noisy) -> Integers:
        """The noisy logarithms that the published values tell, to the digits that they have."""
        sizes = np.maximum(noisy.values + shift(noisy.move) / float(noisy.step), 0.25)
        logs = np.log(sizes * float(noisy.step) * self.mean(noisy.move)) / lattice(noisy.move)
        return np.asarray(np.rint(logs), dtype=np.int64)

    def law_at(self, noisy: Noisy, place: int) -> TwoSidedGeometric:  # noqa: ARG002 - the same in all
        return self.law(noisy.move)

    def stretch(self, move: Move) -> int:  # noqa: ARG002 - whatever it is
        return HUNDREDTHS

    def mean(self, move: Move) -> float:
        """What sizes are divided by: the mean of e^noise, or 1 where they are left as drawn."""
        return 1.0 if self.estimate == "as drawn" else moment(self.law(move), lattice(move))

    def variance(self, move: Move) -> float | Withheld:
        """The mean squared error of what is published over the square of a size with 1 / alpha added."""
        law, g = self.law(move), lattice(move)
        if float(law.rate) <= 2 * g:
            least = above(2 * self.factor * relative(move, self.name).cells * (FINE + 1) * g)
            return Withheld(f"noise in proportion has no variance at this epsilon, which it has above {least}")
        mean = self.mean(move)
        return moment(law, 2 * g) / mean**2 - 2 * moment(law, g) / mean + 1

    def uncertainty(self, noisy: Noisy) -> Uncertainty:
        variance = self.variance(noisy.move)
        if why := self.unstated(noisy.move):
            return Withheld(why)
        assert not isinstance(variance, Withheld)  # noqa: S101 - it would be unstated
        return Proportional(variance, shift(noisy.move) / float(noisy.step))

    def unstated(self, move: Move) -> str:
        if isinstance(variance := self.variance(move), Withheld):
            return variance.reason
        if self.estimate == ESTIMATES[0]:
            return ""
        high = moment(self.law(move), lattice(move)) - 1
        return f"numbers are left as drawn, {high:.1%} too high on average with 1 / alpha added to each"

    def expected(self, move: Move, number: Typical) -> float | Withheld:
        """The error of a number that so many equal cells sum to."""
        variance = self.variance(move)
        if isinstance(variance, Withheld):
            return variance
        if number.size is None:
            return Withheld(GROWS)
        return math.sqrt(variance * number.cells) * (number.size / number.cells + shift(move))

    def error_law(self, move: Move, number: Typical) -> RelativeError:
        cell = (number.size or 0.0) / number.cells + shift(move)
        return RelativeError(*(np.array([number.cells * cell**power]) for power in (1, 2, 4)))

    def facts(self, move: Move, number: Typical) -> NoiseLine:
        law, g, step = self.law(move), lattice(move), float(number.step) / HUNDREDTHS
        if isinstance(why := self.variance(move), Withheld):
            return NoiseLine(why=why.reason)

        def error(size: float) -> float:
            return float(self.expected(move, Typical(size=size)))  # type: ignore[arg-type]

        def below(true: float, edges: Floats) -> Floats:
            ratios = np.maximum(edges + shift(move), 1e-300) * self.mean(move) / (true + shift(move))
            return law.below(np.ceil(np.log(ratios) / g))

        shown = example(error, below, step)
        if shown is None:
            return NoiseLine(why="its noise grows with the number it is on")
        return NoiseLine(standard_error=error(shown.low), at="size", size=shown.low, example=shown)


def lattice(move: Move) -> float:
    """The step of the logarithm."""
    return math.log1p(float(relative(move, LogLaplace.name).alpha)) / FINE


def shift(move: Move) -> float:
    """What is added to a size before its logarithm is taken: at 1 / alpha, one more than 0 is alpha of it."""
    return float(1 / relative(move, LogLaplace.name).alpha)


def moment(law: TwoSidedGeometric, power: float) -> float:
    """E e^(power J), finite where the power is below the rate.

    >>> round(moment(TwoSidedGeometric(Fraction(1, 1001)), 0.0953102 / 1000), 5)      # 1 / (1 - l²) at l = .0954
    1.00919
    """
    rate = float(law.rate)
    return float(math.expm1(-rate) ** 2 / (math.expm1(power - rate) * math.expm1(-power - rate)))


def above(least: float) -> str:
    """A number of four digits that is not below another."""
    digits = 3 - math.floor(math.log10(least))
    return f"{math.ceil(least * 10**digits) / 10**digits:.4g}"


EXAMPLE = LogLaplace(1)

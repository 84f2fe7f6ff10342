"""Logarithmic: two-sided geometric noise on the logarithm of a size with a public shift, on a public lattice.

Law. With s added to a size its logarithm m, in lattice steps of g, is rounded half up; m + J is published as the size
e^(g (m + J)) / M(g) - s, where M(h) = E e^(hJ) = (1 - a)² / ((1 - a e^h)(1 - a e^-h)): without bias. The error is in
proportion to the size with s added. What is made of m + J is arithmetic on public numbers; rounding the logarithm moves
a size by g / 2 of itself at most, whose square is counted with the variance of the noise.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from sfumato.draws import Draws, TwoSidedGeometric
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.example import Floats, example
from sfumato.mechanisms.mechanism import GROWS, Mechanism, Typical
from sfumato.mechanisms.published_law import PublishedLaw
from sfumato.privacy import Approximate, Loss, Move
from sfumato.privacy.exact import digits_down, digits_up
from sfumato.release import Noisy, Product, Proportional, Uncertainty, Withheld, withheld
from sfumato.release.manifest import NoiseLine
from sfumato.release.noisy import Integers
from sfumato.release.relative_error import RelativeError, stated_share

HUNDREDTHS = 100
"""Into how many parts the step of a measure is divided in what is published."""
LARGEST = 2**52
"""The largest published number in steps: noise beyond it is held to it."""
ROOM = 16
"""How many times a number may be, by noise, what it is, before it is held."""
TOO_LARGE = "some values are so large that they cannot be published in hundredths of a step; use a coarser step."


class Logarithmic(Mechanism):
    """Noise in proportion to the size of a cell that costs epsilon."""

    epsilon: Fraction

    @abstractmethod
    def lattice(self, move: Move) -> float:
        """The step of the logarithm."""

    @abstractmethod
    def shift(self, move: Move) -> float:
        """What is added to a size before its logarithm is taken."""

    @abstractmethod
    def rate(self, move: Move) -> Fraction:
        """What a lattice step costs."""

    @abstractmethod
    def where(self, move: Move) -> str:
        """Of what move an epsilon is too small, in words."""

    def loss(self, move: Move) -> Loss:
        self.law(move)
        return Approximate(self.epsilon)

    def law(self, move: Move) -> TwoSidedGeometric:
        """The law of the noise on a logarithm, in lattice steps; refused where what is published has no mean."""
        law = TwoSidedGeometric(self.rate(move))
        if float(law.rate) <= self.lattice(move):
            raise PromiseError(
                f"{self.words()}: {self.where(move)} its noise has no mean, which takes an epsilon above "
                f"{self._least(move, 1)}; from {self._least(move, 2)} on it has a variance too."
            )
        return law

    def _least(self, move: Move, power: int) -> str:
        """The epsilon above which what is published has a mean, or a variance."""
        return above(power * self.lattice(move) * float(self.epsilon / self.rate(move)))

    def clean(self, cells: Cells, given: Mapping[str, Product] | None = None) -> Integers:  # noqa: ARG002
        """The logarithms on the lattice, to which the noise is added."""
        sizes = cells.totals * float(cells.step) + self.shift(cells.move)
        return np.asarray(np.floor(np.log(sizes) / self.lattice(cells.move) + 0.5), dtype=np.int64)

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
        sizes = np.exp(np.minimum(logs * self.lattice(move) - math.log(step * self.mean(move)), math.log(LARGEST)))
        return np.asarray(np.floor(sizes - self.shift(move) / step + 0.5), dtype=np.int64)

    def seen(self, noisy: Noisy) -> Integers:
        """The noisy logarithms that the published values tell, to the digits that they have."""
        sizes = np.maximum(noisy.values + self.shift(noisy.move) / float(noisy.step), 0.25)
        logs = np.log(sizes * float(noisy.step) * self.mean(noisy.move)) / self.lattice(noisy.move)
        return np.asarray(np.rint(logs), dtype=np.int64)

    def law_at(self, noisy: Noisy, place: int) -> TwoSidedGeometric:  # noqa: ARG002 - the same in all
        return self.law(noisy.move)

    def stretch(self, move: Move) -> int:  # noqa: ARG002 - whatever it is
        return HUNDREDTHS

    def mean(self, move: Move) -> float:
        """What sizes are divided by: the mean of e^noise."""
        return moment(self.law(move), self.lattice(move))

    def variance(self, move: Move) -> float | Withheld:
        """The mean squared error of what is published over the square of a size with its shift, at the most."""
        law, g = self.law(move), self.lattice(move)
        if float(law.rate) <= 2 * g:
            least = self._least(move, 2)
            why = f"noise in proportion has no variance at this epsilon, which it has above {least}"
            return Withheld(why, self._told(move))
        mean = self.mean(move)
        return moment(law, 2 * g) / mean**2 - 2 * moment(law, g) / mean + 1 + g**2 / 4

    def within(self, move: Move, level: float = 0.90) -> tuple[float, float]:
        """Of how many times what is published of one cell the true one lies at a level, their shift added to both.

        It takes no variance: the logarithm of the noise has Laplace's law, but for its lattice.
        """
        far = -math.log1p(-level) * self.lattice(move) / float(self.law(move).rate)
        return self.mean(move) * math.exp(-far), self.mean(move) * math.exp(far)

    def _told(self, move: Move) -> str:
        """The same in words, rounded outward, for where no error is stated."""
        low, high = self.within(move)
        return (
            f"nine times in ten the true number of a cell as measured is {digits_down(low)} to {digits_up(high)} times "
            f"what is published, with {self.shift(move):g} added to both"
        )

    def uncertainty(self, noisy: Noisy) -> Uncertainty:
        variance = self.variance(noisy.move)
        if why := self.unstated(noisy.move):
            return why
        assert not isinstance(variance, Withheld)  # noqa: S101 - it would be unstated
        return Proportional(variance, self.shift(noisy.move) / float(noisy.step))

    def unstated(self, move: Move) -> Withheld | None:
        return withheld(self.variance(move))

    def expected(self, move: Move, number: Typical) -> float | Withheld:
        """The error of a number that so many equal cells truly sum to."""
        variance = self.variance(move)
        if isinstance(variance, Withheld):
            return variance
        if number.size is None:
            return Withheld(GROWS)
        return math.sqrt(variance * number.cells) * (number.size / number.cells + self.shift(move))

    def stated_variance(self, move: Move, number: Typical) -> float | Withheld:
        """That of so many equal cells that are published as they are: of each a share of its square."""
        if number.size is None:
            return Withheld(GROWS)
        if why := self.unstated(move):
            return why
        variance = self.variance(move)
        assert not isinstance(variance, Withheld)  # noqa: S101 - it would be unstated
        return stated_share(variance) * float(self.error_law(move, number).squares[0])

    def error_law(self, move: Move, number: Typical) -> RelativeError:
        cell = (number.size or 0.0) / number.cells + self.shift(move)
        return RelativeError(*(np.array([number.cells * cell**power]) for power in (1, 2, 4)))

    def published_law(self, move: Move, number: Typical) -> PublishedLaw | Withheld:
        if isinstance(why := self.expected(move, number), Withheld):
            return why
        return PublishedLaw(self._below(move), even=False)

    def _below(self, move: Move) -> Callable[[Floats | float, Floats], Floats]:
        """The chance that a number, which is 0 at least, is published below each of some edges."""
        law, shift, g, mean = self.law(move), self.shift(move), self.lattice(move), self.mean(move)

        def below(true: Floats | float, edges: Floats) -> Floats:
            logs = np.floor(np.log(np.maximum(true, 0.0) + shift) / g + 0.5)
            return law.below(np.ceil(np.log(np.maximum(edges + shift, 1e-300) * mean) / g - logs))

        return below

    def facts(self, move: Move, number: Typical) -> NoiseLine:
        step = float(number.step) / HUNDREDTHS
        if isinstance(why := self.variance(move), Withheld):
            return NoiseLine(why=why.in_full)

        def error(size: float) -> float:
            return float(self.expected(move, Typical(size=size)))  # type: ignore[arg-type]

        shown = example(error, self._below(move), step)
        if shown is None:  # the noise swamps every pair of sizes a tenth apart
            size = next(size for size in (100.0 * 10**times for times in range(30)) if size >= 10 * float(number.step))
            return NoiseLine(standard_error=error(size), at="size", size=size)
        return NoiseLine(standard_error=error(shown.low), at="size", size=shown.low, example=shown)


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

"""Smooth sensitivity: noise scaled to how far the largest establishment of a cell can move it, which is confidential.

With x the largest establishment of a cell, one that grows by a step moves the cell by max(alpha x, 1) at most. Noise is
scaled to S = alpha x + 1, which is never less, and of which neighbours have at most 1 + alpha times as much:
alpha max((1 + alpha) x, x + 1) + 1 <= (1 + alpha)(alpha x + 1). S = max(alpha x, 1), as published, has both as well and
is less; but an establishment of x that grows to (1 + alpha) x rounded up then may be two steps away.
Whoever knew the scale of the noise would know x, so nothing of it is published, unless `told` pays for it: its
logarithm goes ln(1 + alpha) in a step and gets noise as in log-laplace; the error that is stated is then that of a
scale which is too small with a chance of 1 in 40.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.draws import Draws, Quartic, RoundedLaplace, TwoSidedGeometric
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.log_laplace import FINE, lattice
from sfumato.mechanisms.logarithmic import above
from sfumato.mechanisms.mechanism import STATE_LARGEST, Mechanism, Typical
from sfumato.mechanisms.published_law import PublishedLaw
from sfumato.mechanisms.told_errors import ToldErrors
from sfumato.privacy import Exact, Move, plain, positive, relative
from sfumato.release import Noisy, Product, Uncertainty, Varying, Withheld
from sfumato.release.error_law import NormalError
from sfumato.release.manifest import NoiseLine
from sfumato.release.noisy import Floats, Integers
from sfumato.release.relative_error import HEAVY
from sfumato.release.tails import LAPLACE
from sfumato.schema import Aggregate, Largest, Rows

LOCAL = ("plus one", "at least one")
LARGEST_VALUE = 2**52
"""The largest published number in steps: what noise takes beyond is held to it."""
SHOWN = 100.0
"""The size of the largest establishment for which errors are told to readers."""
WIDEST = 2**40
"""The widest scale of noise in steps of what is published."""
TOO_WIDE = "some values are so large that noise in proportion to them cannot be drawn; use a coarser step."
MISSED = 40
"""Once in so many cells the scale that is told is below the one that noise was drawn with."""
FOLLOWS = "its noise follows the largest unit in a cell, which is confidential"


class Smooth(Mechanism):
    """Noise on counts of jobs, scaled to what the largest establishment of each cell may add to it."""

    ratio_least: ClassVar[Fraction] = Fraction(0)
    """The least scale of the noise, in steps of what is published, at which its law keeps the claim."""
    deviation: ClassVar[float]
    """The standard deviation of noise over its scale."""
    epsilon: Fraction
    local: str
    told: Fraction | None

    @abstractmethod
    def ratio(self, move: Move) -> Fraction:
        """The scale of the noise over S; refused where no scale keeps the claim."""

    @abstractmethod
    def law_of(self, scale: Fraction) -> Quartic | RoundedLaplace:
        """The law of noise of one scale."""

    @abstractmethod
    def drawn(self, scales: Sequence[Fraction], which: Integers, draws: Draws) -> Integers:
        """Independent noise, each of the scale that `which` names among some."""

    def needs(self, of: tuple[Aggregate, ...]) -> tuple[Aggregate, ...]:
        """The largest establishment of a cell; of a register the reports themselves tell it."""
        return (Largest(),) if of == (Rows(),) else ()

    def sensitivity(self, largest: Fraction, move: Move) -> Fraction:
        """S, in the unit of the measure."""
        grows = relative(move, self.name).alpha * largest
        return grows + 1 if self.local == LOCAL[0] else max(grows, Fraction(1))

    def parts(self, move: Move, step: Fraction) -> int:
        """Into how many parts a step is divided, so that no scale is below the least."""
        return max(1, math.ceil(self.ratio_least * step / self.ratio(move)))

    def largest(self, cells: Cells) -> Integers:
        """The largest establishment of every cell, in steps: confidential."""
        if Largest() in cells.columns:
            return np.asarray(cells.columns[Largest()])[..., 0]
        return cells.values if cells.grouping is None else cells.grouping.largest(cells.values)

    def noise_scales(self, cells: Cells) -> tuple[list[Fraction], Integers]:
        """The scales of the noise in steps of what is published, and which of them each cell has: confidential."""
        sizes, which = np.unique(self.largest(cells), return_inverse=True)
        each = self.ratio(cells.move) * self.parts(cells.move, cells.step) / cells.step
        return [each * self.sensitivity(int(size) * cells.step, cells.move) for size in sizes], which.ravel()

    def clean(self, cells: Cells, given: Mapping[str, Product] | None = None) -> Integers:  # noqa: ARG002
        return np.asarray(cells.totals.astype(np.int64) * self.parts(cells.move, cells.step))

    def unfit(self, cells: Cells) -> str:
        """Why what is reported cannot be carried: noise so wide that it is not drawn exactly."""
        scales, _ = self.noise_scales(cells)
        return TOO_WIDE if max(scales) > WIDEST else ""

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:
        if cells.places is not None:
            raise PlanError(f"{self.name} changes every cell, and is for tables of which every cell is laid out.")
        values, (scales, which) = self.clean(cells, given), self.noise_scales(cells)
        values += self.drawn(scales, which, draws).reshape(values.shape)
        held = np.where(cells.domain.possible, np.clip(values, -LARGEST_VALUE, LARGEST_VALUE), 0)
        public = {}
        if told := self.told_errors(cells):
            logs, law = told
            public["variance"] = np.where(cells.domain.possible, law.drawn(logs, draws).reshape(values.shape), 0.0)
        return Noisy(cells.domain, held, cells.step / self.parts(cells.move, cells.step), cells.move, public)

    def law_in(self, cells: Cells, place: int, noisy: Noisy) -> Quartic | RoundedLaplace | None:  # noqa: ARG002
        """That of the scale of the cell; a scale that is told too has a draw of its own."""
        scales, which = self.noise_scales(cells)
        return self.law_of(scales[int(which[place])])

    def told_errors(self, cells: Cells) -> tuple[Integers, ToldErrors] | None:
        """Those of noisy scales, so large that few are too small."""
        if self.told is None:
            return None
        (scales, which), law, g = self.noise_scales(cells), self._telling(cells.move), lattice(cells.move)
        # The scale is S times a public number, so its logarithm goes as far as that of S.
        logs = np.floor(np.log([float(scale) for scale in scales]) / g + 0.5).astype(np.int64)
        upper = math.exp(g * law.scale * math.log(MISSED / 2))
        return logs[which], ToldErrors(law, g, (self.deviation * upper) ** 2)

    def _telling(self, move: Move) -> TwoSidedGeometric:
        """The law of the noise on the logarithm of a scale that is told."""
        assert self.told is not None  # noqa: S101 - asked where something is told
        return TwoSidedGeometric(self.told / (relative(move, self.name).cells * (FINE + 1)))

    def refuse_untelling(self, move: Move) -> None:
        """Say so where a scale that is told would be told as anything."""
        told = self.told and lattice(move) * self._telling(move).scale
        if told and told > 1:
            least = float(self.told or 0) * told
            raise PromiseError(
                f"{self.words()}: a scale that is told for {plain(self.told or Fraction(0))} tells nothing, as its own "
                f"noise is several times the scale; it takes {above(least)} or more."
            )

    def stretch(self, move: Move) -> int:
        return self.parts(move, Fraction(1))

    def uncertainty(self, noisy: Noisy) -> Uncertainty:
        return self.unstated(noisy.move) or Varying(noisy.public["variance"], excess=LAPLACE)

    def unstated(self, move: Move) -> Withheld | None:
        """Why no error is stated, and what of it the plan alone says."""
        if self.told:
            return None
        reach = self.margin(move, Typical(largest=SHOWN))
        told = f"where that has {SHOWN:g}, 90% of cells as measured lie within {reach:.3g} of the true number"
        return Withheld(FOLLOWS, told)

    def stated_variance(self, move: Move, number: Typical) -> float | Withheld:
        """That of the scale which is told, where one is, at the middle of what may be told."""
        variance = super().stated_variance(move, number)
        if self.told is None or isinstance(variance, Withheld):
            return variance
        return variance * math.exp(2 * lattice(move) * self._telling(move).scale * math.log(MISSED / 2))

    def error_law(self, move: Move, number: Typical) -> NormalError:  # noqa: ARG002 - in either unit
        """With the tails of Laplace's law, which up to 99% reach as far as those of the fourth power."""
        return HEAVY

    def margin(self, move: Move, number: Typical, level: float = 0.90) -> float | Withheld:
        """As a release states it, where it does; else how far the law of one cell reaches, or that of many, normal."""
        if self.told or number.cells > 1 or number.largest is None:
            return super().margin(move, number, level)
        return float(_reach(self._typical_law(move, number), level) * number.step / self.parts(move, number.step))

    def published_law(self, move: Move, number: Typical) -> PublishedLaw | Withheld:
        if isinstance(why := self.expected(move, number), Withheld):
            return why
        law = self._typical_law(move, number)

        def below(steps: Floats) -> Floats:
            """P(K < m), by the chance of m or more either way."""
            above, under = law.survival(np.maximum(steps, 1)) / 2, law.survival(1 - np.minimum(steps, 0)) / 2
            return np.where(steps > 0, 1 - above, under)

        return PublishedLaw.of_steps(below, float(number.step / self.parts(move, number.step)))

    def _typical_law(self, move: Move, number: Typical) -> Quartic | RoundedLaplace:
        """That of the noise in a cell with such a largest establishment."""
        scale = self.ratio(move) * self.parts(move, number.step) / number.step
        return self.law_of(scale * self.sensitivity(_exactly(number.largest or 0.0), move))

    def expected(self, move: Move, number: Typical) -> float | Withheld:
        """The error of a sum of cells that each have such a largest establishment."""
        ratio = self.ratio(move)
        if number.largest is None:
            return Withheld(f"{FOLLOWS}: {STATE_LARGEST}")
        return (
            self.deviation * float(ratio * self.sensitivity(_exactly(number.largest), move)) * math.sqrt(number.cells)
        )

    def facts(self, move: Move, number: Typical) -> NoiseLine:
        error = self.expected(move, replace(number, largest=SHOWN, cells=1))
        assert not isinstance(error, Withheld)  # noqa: S101 - it is told by the largest
        return NoiseLine(standard_error=error, at="largest", size=SHOWN)


def _exactly(size: float) -> Fraction:
    return Fraction(size).limit_denominator(10**6)


def _reach(law: Quartic | RoundedLaplace, level: float) -> int:
    """The least number of steps that noise stays within at a level.

    >>> _reach(RoundedLaplace(Fraction(1000)), 0.90)      # 1000 ln 10 = 2302.6
    2303
    """
    low, high = -1, 0
    while float(law.survival(high + 1)) > 1 - level:
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if float(law.survival(middle + 1)) <= 1 - level else (middle, high)
    return high


def local_kind(local: str, name: str) -> str:
    """The word for how noise is scaled, if it is one."""
    if local not in LOCAL:
        raise PlanError(f"The local of {name} is '{local}'; it is {' or '.join(map(repr, LOCAL))}.")
    return local


def telling(told: Exact | None) -> Fraction | None:
    """What is paid for a scale that readers are told, if something is."""
    return None if told is None else positive(told, "told")


def options(mechanism: Smooth) -> list[str]:
    """What is not as usual, in words."""
    local = [f"local {mechanism.local}"] * (mechanism.local != LOCAL[0])
    return [*local, *([f"told {plain(mechanism.told)}"] if mechanism.told else [])]

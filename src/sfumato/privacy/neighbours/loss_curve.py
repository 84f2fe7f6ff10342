"""LossCurve: how much more a large establishment loses than a small one, on a public curve that rises slowly.

The curve is ln(1 + x / bend) over what that is at `at` jobs: nearly job by job up to `bend` jobs, and beyond as slowly
as their logarithm (Seeman et al. 2023; Finley et al. 2024). It is concave from 0 on, so that a cell, whoever else is in
it, moves no further on the curve than the one establishment in it that does: f(n + y) - f(n + x) <= f(y) - f(x).
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import PlanError, PromiseError
from sfumato.privacy.exact import Exact, plain, positive, rounded_up
from sfumato.privacy.move import Move

BENDS = (Fraction(1, 1_000), Fraction(10_000))
"""The least and the largest bend: beyond, floats would tell logarithms in too few digits."""
MOST = 10_000
"""The largest establishment whose loss a plan states."""


@dataclass(frozen=True)
class LossCurve:
    """The loss of an establishment by its jobs, in steps of that of one of `at` jobs."""

    bend: Fraction
    at: int

    @classmethod
    def of(cls, bend: Exact, at: object) -> "LossCurve":
        """The curve that a plan states, if it is one."""
        curve = positive(bend, "bend")
        if not BENDS[0] <= curve <= BENDS[1]:
            least, most = map(plain, BENDS)
            raise PlanError(f"bend is {plain(curve)}; it is a number of jobs, from {least} to {most}.")
        if isinstance(at, bool) or not isinstance(at, int) or not 1 <= at <= MOST:
            raise PlanError(
                f"at is {at!r}; it is the number of jobs of an establishment that loses what the plan states, a whole "
                f"number from 1 to {MOST:,}."
            )
        return cls(curve, at)

    @property
    def rise(self) -> float:
        """The logarithm at `at` jobs: what one step of the curve is."""
        return math.log1p(self.at / float(self.bend))

    def height(self, jobs: float) -> float:
        """What an establishment of so many jobs loses that is there or not, in steps.

        >>> [round(LossCurve(Fraction(10), 100).height(jobs), 3) for jobs in (0, 1, 10, 100, 1_000)]
        [0.0, 0.04, 0.289, 1.0, 1.925]
        """
        return math.log1p(jobs / float(self.bend)) / self.rise

    def steps(self, jobs: int) -> Fraction:
        """The same in ten-thousandths of a step, rounded up."""
        return Fraction(1) if jobs == self.at else _up(self.height(jobs))

    def within(self, alpha: Fraction) -> Fraction:
        """How many steps, at most, a size goes that grows by alpha of itself or by one, rounded up."""
        return max(self.steps(1), _up(math.log1p(float(alpha)) / self.rise))

    def reach(self, jobs: int) -> tuple[int, int]:
        """The sizes that are within one step of a size.

        >>> LossCurve(Fraction(10), 100).reach(100), LossCurve(Fraction(10), 100).reach(1_000)   # 11 times 110, 1010
        ((0, 1200), (82, 11100))
        """
        bend, times = self.bend, 1 + Fraction(self.at) / self.bend
        return max(0, math.ceil((jobs + bend) / times - bend)), math.floor((jobs + bend) * times - bend)

    def steeper(self, other: "LossCurve") -> bool:
        """Whether no two sizes are further apart on another curve than on this one.

        The slope 1 / (x + bend) rise is nowhere less on this one just where it is not at 0 nor far out.
        """
        far_out = self.at / self.bend <= other.at / other.bend
        return self == other or (
            far_out and float(self.bend) * self.rise < float(other.bend) * other.rise * (1 - 1e-12)
        )

    def holds(self, alpha: Fraction) -> bool:
        """Whether no size that grows by alpha of itself, or by one, goes further than a step."""
        return alpha <= self.at / self.bend


def _up(steps: float) -> Fraction:
    return Fraction(math.ceil(10**4 * rounded_up(steps)), 10**4)


@dataclass(frozen=True)
class AlongCurve(Move):
    """So many cells move at most, each as far along the curve as the establishment does, and never less than a job."""

    curve: LossCurve
    cells: int = 1

    def words(self) -> str:
        return (
            "between loss-by-size neighbours one establishment may be there or not with all its jobs, which is further "
            "than noise of one width hides, or noise for sizes within a share or within a distance of their roots; use "
            "curve-laplace, whose noise follows the curve"
        )


def along_curve(move: Move, mechanism: str) -> AlongCurve:
    """The move, if it is one along a curve of loss."""
    if isinstance(move, AlongCurve):
        return move
    raise PromiseError(
        f"{mechanism} hides establishments at a loss that follows their size; that is promised with [hidden] "
        f'neighbours = "loss-by-size", for counts of jobs. As it is, {move.words()}.'
    )

"""The square-root mechanism: exact normal noise on the square root of a value, squared again without bias.

Claim. Values that move, k at once, so that the square root of each goes at most beta away lose mu, published one by one
or as totals that each is in one of.
Law. On the lattice g = beta / 1000 the root m is the nearest multiple of g; m + floor(s Z + 1/2) is published, with
s = 1000 / mu, as the value g² ((m + N)² − s² − 1/12). Its variance is close to 4 x (g s)² + 2 (g s)⁴. Where k > 1 units
of a firm move at once, s = 1001 √k / mu.
Proof. The vector of noisy roots is that of the m with normal noise of one scale s, rounded after, so it loses mu where
the m of neighbours are at most s mu apart in l2 (Dong, Roth and Su 2022), and squaring is arithmetic on public numbers.
One value: roots at most beta apart, 1,000 lattice steps, are at most 1,000 apart once each is rounded half up, as that
number is whole; in a total, √T is the length of the vector of its roots and moves no further than that does.
A firm: a total with n of its k units moves √n beta at most, 1000 √n steps, and rounded it moves a whole number of steps
below 1000 √n + 1 ≤ 1001 √n; as every unit is in one total the squares sum to 1001² k at most. The 0.1% is for rounding.
Rounding the root biases the value by at most g √x + g²/4, and rounding the constant by half of g².
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.draws import Draws, RoundedNormal
from sfumato.errors import DataError, PlanError, PromiseError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.example import Floats, example
from sfumato.mechanisms.mechanism import GROWS, Mechanism, Typical
from sfumato.mechanisms.published_law import PublishedLaw
from sfumato.privacy import Exact, Gaussian, Loss, Move, Root, positive
from sfumato.release import Noisy, Product, Squared, Withheld
from sfumato.release.manifest import NoiseLine
from sfumato.release.noisy import Integers
from sfumato.release.root_error import RootError

FINE = 1_000
"""How many lattice steps beta is."""
LARGEST_ROOT = 2**30
"""The largest root on the lattice: its square still leaves room for the sum of a frame in 64 bits."""
TOO_LARGE = "some values are too large for the lattice of a square root; use a larger beta or a coarser step."
TOO_LARGE_TOGETHER = (
    "all values together, with their noise, are too large for 64 bits on the lattice of a square root, which is beta / "
    "1000 fine, so that totals would be wrong; use a larger beta."
)
LARGEST_SUM = 2**62
"""What all values may sum to on the lattice: half of what 64 bits hold."""
LARGEST_NOISE, LEAST_MU = 2**27, "0.00001"
"""Noise on roots that can still be squared, and a mu at which it is no wider."""


@dataclass(frozen=True)
class SquareRoot(Mechanism):
    """Normal noise on the square root that costs mu."""

    name: ClassVar[str] = "square-root"
    source: ClassVar[str] = "Toth, BLS; cmla-psu; noise on a public lattice here, so that mu holds exactly"
    mu: Fraction

    def __init__(self, mu: Exact) -> None:
        object.__setattr__(self, "mu", positive(mu, "mu"))

    def loss(self, move: Move) -> Loss:
        rooted(move, self.name)
        return Gaussian(self.mu)

    def root_law(self, move: Move) -> RoundedNormal:
        """The law of the noise on a root, in lattice steps."""
        law = RoundedNormal(apart(rooted(move, self.name)) / self.mu**2)
        if law.scale > LARGEST_NOISE:
            raise PlanError(f"{self.words()} has noise too wide to be squared in 64 bits; mu is {LEAST_MU} or more.")
        return law

    def clean(self, cells: Cells, given: Mapping[str, Product] | None = None) -> Integers:  # noqa: ARG002
        """The roots on the lattice, to which the noise is added."""
        return nearest_roots(cells.totals, cells.step / self._step(cells.move))

    def unfit(self, cells: Cells) -> str:
        totals, scale = cells.totals, cells.step / self._step(cells.move)
        if _too_large(totals, scale):
            return TOO_LARGE
        # The squares of noisy roots sum to the square of their length, which is that of the roots and of the noise at
        # most, s (√n + 9) but for a chance of e^-40; as much as the constants of all is taken off again.
        noise = self.root_law(cells.move).scale
        length = math.sqrt(float(totals.sum(dtype=np.float64)) * float(scale)) + noise * (math.sqrt(totals.size) + 9)
        return TOO_LARGE_TOGETHER if length**2 + totals.size * noise**2 >= LARGEST_SUM else ""

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:
        law, roots = self.root_law(cells.move), self.clean(cells, given)
        roots += law.draw(roots.size, draws).reshape(roots.shape)
        return Noisy(cells.domain, roots * roots - offset(law), self._step(cells.move), cells.move)

    def seen(self, noisy: Noisy) -> Integers:
        """The noisy roots that the published values tell: all but their signs."""
        return whole_roots(noisy.values + offset(self.root_law(noisy.move)))

    def law_at(self, noisy: Noisy, place: int) -> RoundedNormal:  # noqa: ARG002 - the same in all
        return self.root_law(noisy.move)

    def _step(self, move: Move) -> Fraction:
        return (rooted(move, self.name).beta / FINE) ** 2

    def uncertainty(self, noisy: Noisy) -> Squared:
        return Squared(self.root_law(noisy.move).variance)

    def expected(self, move: Move, number: Typical) -> float | Withheld:
        """The root of 4 x s² + 2 n s⁴ for n rows that sum to x, with s the noise of a root: beta / mu, alone."""
        self.root_law(move)
        if number.size is None:
            return Withheld(GROWS)
        spread = (root_error(rooted(move, self.name)) / float(self.mu)) ** 2
        return math.sqrt(4 * number.size * spread + 2 * number.cells * spread**2)

    def error_law(self, move: Move, number: Typical) -> RootError:
        spread = (root_error(rooted(move, self.name)) / float(self.mu)) ** 2
        return RootError(spread, np.array([number.size or 0.0]))

    def published_law(self, move: Move, number: Typical) -> PublishedLaw | Withheld:
        if isinstance(why := self.expected(move, number), Withheld):
            return why
        return PublishedLaw(self._below(move), even=False)

    def _below(self, move: Move) -> Callable[[Floats | float, Floats], Floats]:
        """The chance that |root + noise| < √(edge + offset), between lattice points too, too many to be seen."""
        law, step = self.root_law(move), float(self._step(move))

        def below(true: Floats | float, edges: Floats) -> Floats:
            root, ends = np.sqrt(np.maximum(true, 0.0) / step), np.sqrt(np.maximum(edges / step + offset(law), 0.0))
            return np.maximum(law.below(ends - root) - law.below(1 - ends - root), 0.0)

        return below

    def facts(self, move: Move, number: Typical) -> NoiseLine:  # noqa: ARG002 - a row of the example's size
        step = float(self._step(move))

        def error(size: float) -> float:
            return float(self.expected(move, Typical(size=size)))  # type: ignore[arg-type]

        shown = example(error, self._below(move), step)
        if shown is None:
            return NoiseLine(why="its noise grows with the number it is on")
        return NoiseLine(standard_error=error(shown.low), at="size", size=shown.low, example=shown)


def rooted(move: Move, mechanism: str) -> Root:
    """The move, if it is one of square roots."""
    if isinstance(move, Root):
        return move
    raise PromiseError(
        f"{mechanism} hides how far a square root moves; that is promised with [hidden] neighbours = "
        f'"square-root-within", for totals of a frame. As it is, {move.words()}.'
    )


def apart(move: Root) -> Fraction:
    """The most that roots on the lattice go together between neighbours, squared.

    >>> apart(Root(Fraction(1))), apart(Root(Fraction(1), 40))      # 1000², 40 · 1001²
    (Fraction(1000000, 1), Fraction(40080040, 1))
    """
    return Fraction(move.units * (FINE + (move.units > 1)) ** 2)


def root_error(move: Root) -> float:
    """The standard deviation of the noise on a root at mu = 1, in the unit of beta."""
    return float(move.beta) * math.sqrt(apart(move) / FINE**2)


def offset(law: RoundedNormal) -> int:
    """What the square of the noise adds on average, to the nearest lattice step."""
    return round(law.variance)


def nearest_roots(values: Integers, scale: Fraction) -> Integers:
    """The integer nearest to √(value · scale), half up, in whole numbers: (1 + isqrt(floor(4 value scale))) // 2.

    >>> nearest_roots(np.array([0, 1, 2, 6, 7]), Fraction(1)).tolist()      # √6 = 2.449, √7 = 2.646
    [0, 1, 1, 2, 3]
    """
    four = 4 * scale
    if (values < 0).any():
        raise DataError("A value below 0 has no square root; the measure is of amounts that are 0 or more.")
    if _too_large(values, scale):
        raise DataError(f"Of a measure {TOO_LARGE}")
    if int(values.max(initial=0)) * four.numerator < 2**62:
        whole = values * four.numerator // four.denominator
    else:
        listed = [int(value) * four.numerator // four.denominator for value in values.ravel()]
        whole = np.array(listed, dtype=np.int64).reshape(values.shape)
    return np.asarray((1 + whole_roots(whole)) // 2, dtype=np.int64)


def _too_large(values: Integers, scale: Fraction) -> bool:
    return bool(int(values.max(initial=0)) * scale >= LARGEST_ROOT**2)


def whole_roots(values: Integers) -> Integers:
    """The largest integers whose squares are at most the values, below 2^62.

    >>> whole_roots(np.array([0, 1, 3, 4, 2**60 - 1, 2**60])).tolist()
    [0, 1, 1, 2, 1073741823, 1073741824]
    """
    roots = np.sqrt(values.astype(np.float64)).astype(np.int64)
    roots -= roots * roots > values
    return np.asarray(roots + ((roots + 1) * (roots + 1) <= values), dtype=np.int64)


EXAMPLE = SquareRoot(1)

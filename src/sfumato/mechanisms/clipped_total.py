"""The clipped-total mechanism: totals of values cut off at what a noisy identity measure says is large.

Claim. Values whose square roots go at most beta away lose mu, whatever the topcodes are.
Law. Each group has a topcode T from the published values of its rows: the largest noisy root in it plus t of its
standard deviations, squared. The total of min(x, T) gets rounded normal noise of scale c S / mu, with S the whole steps
in 2 beta √T − beta², or in T where that is below beta². c is 1 for one value; where all units of a firm move at once,
it is the largest √Σn² of any firm in the public frame, which has n units in a group.
Proof. x and x' at most T with roots at most beta apart differ by |√x − √x'| (√x + √x') ≤ beta (2 √T − beta) where
T ≥ beta², and by at most T below; being whole steps, by no more than the whole steps in that. Cutting off at T brings
values no further apart. So n of them move the total by n S at most, n / c of what its noise is scaled to, and over all
groups the squares of that sum to Σn² / c² ≤ 1: all totals together lose mu. √n would not do: n equal values below T
that grow by S move their total by n S. T is arithmetic on numbers that were paid for, so it may be known, and the loss
does not depend on it.
What it costs. The largest value of a group is cut where its own noise was below −t standard deviations s, which has a
chance of `clip`, and then by little: on average a group loses at most 2 s √T E(Z − t)⁺, 0.0034 times 2 s √T at 1%,
which is a third of a percent of the noise that the total has at mu = mu of the rows. No other value is ever cut.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from sfumato.draws import Draws, RoundedNormal
from sfumato.errors import PlanError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.mechanism import STATE_LARGEST, Mechanism, Typical
from sfumato.mechanisms.published_law import PublishedLaw
from sfumato.mechanisms.square_root import SquareRoot, root_error, rooted, whole_roots
from sfumato.privacy import Exact, Gaussian, Loss, Move, Root, positive
from sfumato.release import Noisy, Product, Trend, Varying, Withheld
from sfumato.release.manifest import NoiseLine
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Grouping

_BITS = 8
"""Scales keep so many leading binary digits, rounded up, so that few different laws are drawn from."""
OF_GROUPS = "clipped-total is of groups, given a measure of their rows with square-root."
LARGEST_TOPCODE = 2**53
"""No value is larger than that in steps, so nothing is cut by a topcode that is held to it."""
GIVEN = 'clipped-total is given one square-root measure of the rows: given = ["its name"].'


@dataclass(frozen=True)
class ClippedTotal(Mechanism):
    """Normal noise on totals of clipped values that costs mu; `given` names the square-root measure of the rows."""

    name: ClassVar[str] = "clipped-total"
    source: ClassVar[str] = "cmla-psu, 'PNC'; topcodes and scales in whole numbers here"
    rests_on: ClassVar[tuple[Mechanism, ...]] = (SquareRoot(1),)
    mu: Fraction
    clip: Fraction

    def __init__(self, mu: Exact, clip: Exact = "0.01") -> None:
        object.__setattr__(self, "mu", positive(mu, "mu"))
        object.__setattr__(self, "clip", positive(clip, "clip"))
        if self.clip >= 1:
            raise PlanError(
                f"clip is {float(self.clip)}; it is the chance that the largest value of a group is cut, below 1."
            )

    @property
    def note(self) -> str:
        return (
            "Totals were measured with values cut off at a topcode of each group, which its noisy rows tell: what lies "
            f"above it is not in them. It cuts the largest value of a group with a chance of {float(self.clip):.3g}."
        )

    def loss(self, move: Move) -> Loss:
        rooted(move, self.name)
        return Gaussian(self.mu)

    def _law(self, scale: int, move: Root) -> RoundedNormal:
        return RoundedNormal(move.crowded * Fraction(scale) ** 2 / self.mu**2)

    def clean(self, cells: Cells, given: Mapping[str, Product] | None = None) -> Integers:
        """The totals of what is not cut off."""
        return self._kept(cells, self.topcodes(cells, identity(given)))

    def _kept(self, cells: Cells, topcodes: Integers) -> Integers:
        grouping = _groups(cells)
        return grouping.sums(np.minimum(cells.values, topcodes[grouping.of]))

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:
        rows = identity(given)
        topcodes = self.topcodes(cells, rows)
        totals, move = self._kept(cells, topcodes), rooted(cells.move, self.name)
        scales = scales_of(topcodes, move, cells.step)
        for scale in np.unique(scales):
            here = scales == scale
            totals[here] += self._law(int(scale), move).draw(int(here.sum()), draws)
        reach = self._reach(roots_of(rows)[1]) * float(rows.subject.step / cells.step) ** 0.5
        public = {"topcode": topcodes, "scale": scales, "reach": np.array([reach])}
        return Noisy(cells.domain, totals, cells.step, cells.move, public)

    def topcodes(self, cells: Cells, rows: Product) -> Integers:
        """For each group the largest value that is counted whole, in steps, from published numbers alone."""
        roots, deviation = roots_of(rows)
        largest = np.maximum(_groups(cells).largest(roots), 0)
        squares = (largest + self._reach(deviation)) ** 2 * float(rows.subject.step / cells.step)
        return np.asarray(np.minimum(np.floor(squares), LARGEST_TOPCODE), dtype=np.int64)

    def _reach(self, deviation: float) -> float:
        """How far above the largest noisy root the topcode is, on the lattice of the roots."""
        return float(NormalDist().inv_cdf(1 - float(self.clip)) * deviation)

    def law_at(self, noisy: Noisy, place: int) -> RoundedNormal:
        return self._law(int(noisy.public["scale"][place]), rooted(noisy.move, self.name))

    def uncertainty(self, noisy: Noisy) -> Varying:
        scales, back = np.unique(noisy.public["scale"], return_inverse=True)
        move = rooted(noisy.move, self.name)
        variances = np.array([self._law(int(scale), move).variance for scale in scales])[back]
        beta = float(move.beta**2 / noisy.step) ** 0.5
        # 2 beta root − beta² − 1/2, the half for whole steps, is 2 beta (root − beta / 2 − 1 / 4 beta).
        reach = float(noisy.public["reach"][0]) - beta / 2 - 1 / (4 * beta)
        return Varying(variances, Trend(slope=2 * beta * math.sqrt(move.crowded) / float(self.mu), reach=reach))

    def expected(self, move: Move, number: Typical) -> float | Withheld:
        """The error of a group with such a largest value, whose topcode its rows are expected to give."""
        law = self._typical_law(rooted(move, self.name), number)
        return law if isinstance(law, Withheld) else float(number.step) * math.sqrt(number.cells * law.variance)

    def published_law(self, move: Move, number: Typical) -> PublishedLaw | Withheld:
        law = self._typical_law(rooted(move, self.name), number)
        return law if isinstance(law, Withheld) else PublishedLaw.of_steps(law.below, float(number.step))

    def _typical_law(self, move: Root, number: Typical) -> RoundedNormal | Withheld:
        self._law(1, move)
        rows = given_rows(number)
        if number.largest is None:
            return Withheld(f"its noise follows the largest value in a group: {STATE_LARGEST}")
        reach = NormalDist().inv_cdf(1 - float(self.clip)) * root_error(move) / float(rows.mu)
        topcode = math.floor((math.sqrt(number.largest) + reach) ** 2 / number.step)
        return self._law(int(scales_of(np.array([topcode]), move, number.step)[0]), move)

    def facts(self, move: Move, number: Typical) -> NoiseLine:
        size = given_rows(number).facts(move, number).size
        shown = super().facts(move, replace(number, largest=size))
        return shown.model_copy(update={"at": "largest", "size": size})


def _groups(cells: Cells) -> Grouping:
    if cells.grouping is None:
        raise PlanError(OF_GROUPS)
    return cells.grouping


def given_rows(number: Typical) -> SquareRoot:
    """The mechanism of the one measure of the rows that topcodes will be taken from."""
    rows = [one for one in number.given if isinstance(one, SquareRoot)]
    if len(rows) != 1:
        raise PlanError(GIVEN)
    return rows[0]


def roots_of(rows: Product) -> tuple[Floats, float]:
    """The noisy roots of rows, and the standard deviation of their noise."""
    found = rows.uncertainty.roots(rows.values)
    if found is None or not rows.per_row:
        raise PlanError(OF_GROUPS)
    return found


def identity(given: Mapping[str, Product] | None) -> Product:
    """The one measure of the rows that topcodes are taken from."""
    if given is None or len(given) != 1:
        raise PlanError(GIVEN)
    (rows,) = given.values()
    return rows


def scales_of(topcodes: Integers, move: Root, step: Fraction) -> Integers:
    """How far one value can move a clipped total, in whole steps, never less than it can.

    >>> scales_of(np.array([0, 37, 10_000]), Root(Fraction(1, 2)), Fraction(1)).tolist()    # 2 β √T − β² = 5.83, 99.75
    [1, 5, 99]
    """
    # With q = n/d steps for beta², the largest k with k + q <= sqrt(4 q T) is that with k d + n <= isqrt(4 n d T).
    q = move.beta**2 / step
    if int(topcodes.max(initial=0)) * 4 * q.numerator * q.denominator >= 2**62:
        raise PlanError("Topcodes are too large for 64 bits; use a coarser step, or a beta with fewer digits.")
    far = (whole_roots(topcodes * (4 * q.numerator * q.denominator)) - q.numerator) // q.denominator
    alone = np.where(topcodes <= int(q), topcodes, far)
    return _rounded_up(np.maximum(alone, 1))


def _rounded_up(scales: Integers) -> Integers:
    """The scales with all but their leading binary digits rounded up."""
    digits = np.maximum(np.ceil(np.log2(scales + 1)).astype(np.int64) - _BITS, 0)
    unit = np.int64(1) << digits
    return np.asarray(-(-scales // unit) * unit, dtype=np.int64)


EXAMPLE = ClippedTotal("0.5")

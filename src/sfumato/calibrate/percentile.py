"""Percentile: where the noisy counts of a cell by bands of a value reach a share of it, with an interval.

Foote, Machanavajjhala and McKinney 2019: bands that are public, a noisy histogram, a distribution made monotone of it,
and percentiles between its ends. All of it is arithmetic on noisy counts, so it costs nothing more, for as many
percentiles as are wanted. Cells of few are left out by their noisy count, which says no more than the count does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, sqrt
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from sfumato.calibrate.crossings import Floats, NoisyHistograms
from sfumato.calibrate.step import Diverged, Step, evenly, laid_out
from sfumato.errors import PlanError, nearest
from sfumato.privacy import Exact, exact, plain, positive
from sfumato.release import Incomplete, NoNumber, Product, Sided, Subject
from sfumato.release.figures import number
from sfumato.release.noisy import Integers
from sfumato.release.sided_error import DEVIATES
from sfumato.release.tails import LAPLACE, reach
from sfumato.schema import Attribute, Bands, Clipped, Sorted, Table

FEWEST_BANDS = 6
"""Two at either end, in which nothing is told, and some between them."""
SMOOTH, ANYTHING = "smooth", "anything"
INTERVALS = {
    SMOOTH: "Intervals are of the percentile of these {unit}, taken to lie smoothly within bands and across their "
    "ends; where many share a number, as a round one or a legal minimum, they hold it less often than they say.",
    ANYTHING: "Intervals are of the percentile of these {unit}, however they lie within bands; none is shorter.",
}
"""What intervals are of, by what is taken for granted within bands."""
AS_OFTEN = 6
"""From how many standard errors of its count on the intervals of a cell hold as often as they say.

Where the noise of a cell is as large as its counts by band, what lies below a value falls and rises again, and all that
is between two values within reach is held (`crossings`), which is more often. Of a cell that has a number because noise
lifted its count to the least, or its percentile out of the outer bands, they hold it less often.
"""
FINER = 100
"""How many times finer than what is published the percentile of rows is read, so that rounding is no error of it."""


@dataclass(frozen=True)
class Percentile(Step):
    """The value that a share `at` of the records of each cell lie below, by the bands `of` an attribute."""

    kind: ClassVar[str] = "percentile"
    apart: ClassVar[bool] = True
    beside: ClassVar[bool] = True
    additive: ClassVar[bool] = False
    name: str
    table: str
    of: str
    at: Exact
    up_to: Exact
    """The end of the highest band: a value above it is taken for it."""
    least: Exact = 30
    """The noisy count below which a cell has no number."""
    within: str = SMOOTH
    """How records lie within a band: smoothly between its neighbours, or as anything, which takes whole bands."""
    rounded_to: Exact = 1
    title: str = ""
    unit: str = ""
    to: tuple[str, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        read = {"at": exact(self.at, "at"), "up_to": exact(self.up_to, "up_to"), "least": exact(self.least, "least")}
        for name, value in (read | {"rounded_to": positive(self.rounded_to, "rounded_to")}).items():
            object.__setattr__(self, name, value)
        if self.within not in {SMOOTH, ANYTHING}:
            raise PlanError(
                f"Step '{self.name}': within is '{self.within}'; it says how records lie within a band, "
                f"'{SMOOTH}' or '{ANYTHING}'."
            )
        if not 0 < self.share < 1:
            raise PlanError(f"Step '{self.name}': at is {_said(self.at)}; a percentile is a share, as \"0.5\".")

    @property
    def share(self) -> float:
        return float(Fraction(self.at))

    def makes(self, table: Table) -> Table:
        return table.margin([level for level in table.by if level.name != self.of])

    def refuse_unfit(self, table: Table, controls: Sequence[Table]) -> None:  # noqa: ARG002 - it has no controls
        if self.of not in table.names:
            raise PlanError(
                f"Step '{self.name}': '{self.table}' is not by '{self.of}'; {nearest(self.of, table.names)}"
            )
        edges = self._bands(table.attribute(self.of))
        if len(edges) < FEWEST_BANDS:
            raise PlanError(
                f"Step '{self.name}': {self.of} has {len(edges)} bands, and a percentile is told between the two "
                f"lowest and the two highest; give {FEWEST_BANDS} or more, of which none holds much more than another."
            )
        if Fraction(self.up_to) <= edges[-1]:
            raise PlanError(
                f"Step '{self.name}': up_to is {_said(self.up_to)}; the last band begins at {_said(edges[-1])}."
            )
        if any(self.of in dict(rule.where) for rule in table.impossible):
            raise PlanError(f"Step '{self.name}': a combination with {self.of} is impossible; leave out such rules.")

    def _bands(self, attribute: Attribute) -> tuple[Fraction, ...]:
        """The lower ends of the bands."""
        if not isinstance(attribute.read, Bands) or attribute.depth is not None or attribute.levels.depth:
            raise PlanError(
                f"Step '{self.name}': {self.of} has no bands; read it by public ones, [attributes.{self.of}] "
                'bands = ["0", "20000", "35000", "50000"], and measure by it at its lowest level.'
            )
        return attribute.read.edges

    def apply(self, products: Mapping[str, Product]) -> Incomplete | Diverged:
        cube, table = laid_out(products[self.table], self)
        attribute, made = table.attribute(self.of), self.makes(table)
        counts = np.moveaxis(cube.values, table.names.index(self.of), -1)[..., attribute.banded]
        edges = np.array([*map(float, self._bands(attribute)), float(Fraction(self.up_to))])
        variance = evenly(cube, self)
        histograms = NoisyHistograms(counts.reshape(-1, counts.shape[-1]).astype(np.float64), edges, variance)
        found, which = histograms.crossing(self.share), self._status(histograms)
        ends = histograms.ends if self.within == SMOOTH else histograms.band_ends
        low, high = ends(self.share, self._deviates(len(edges) - 1))
        which = np.where(which > 0, which, _beyond(found, edges)) * made.possible.ravel()
        step, shown = float(Fraction(self.rounded_to)), (which == 0) & made.possible.ravel()
        values = np.where(shown, np.rint(found / step), 0).astype(np.int64)
        sides = [np.where(shown, np.maximum(one, 0.0), 0.0) for one in (values * step - low, high - values * step)]
        below, above = (side.reshape((len(DEVIATES), *made.shape)) / step for side in sides)
        return Incomplete(
            self._subject(cube.subject, attribute, variance),
            made,
            values.reshape(made.shape),
            Sided(below, above),
            which.reshape(made.shape),
            self._kinds(cube.subject, attribute),
        )

    def of_rows(self, table: Table) -> Sorted:
        """The percentile of the rows themselves, finer than it is published."""
        attribute = table.attribute(self.of)
        low, high = self._bands(attribute)[0], Fraction(self.up_to)
        return Sorted(Clipped(attribute.column, low, high, Fraction(self.rounded_to) / FINER, low), Fraction(self.at))

    def ideal(self, table: Product) -> Incomplete | Diverged:
        return replace(self, least=1).apply({self.table: table})

    def _deviates(self, bands: int) -> tuple[float, ...]:
        """By how many standard deviations D is tested where a normal law would be by each of the deviates.

        Noise of one Laplace law in each band has excess kurtosis in D, at most so much.
        """
        p = self.share
        excess = LAPLACE * ((1 - p) ** 3 + p**3) / (bands * p * (1 - p))
        return tuple(reach(2 * NormalDist().cdf(one) - 1, excess) for one in DEVIATES)

    def _status(self, histograms: NoisyHistograms) -> Integers:
        few = histograms.counts.sum(axis=1) < float(Fraction(self.least))
        return np.asarray(few, dtype=np.int64)

    def _promised(self, bands: int, variance: float, unit: str) -> str:
        """Of which cells intervals hold as often as they say: a true count is meant, which no reader knows."""
        if self.within != SMOOTH:
            return ""
        often = max(Fraction(self.least), Fraction(as_often_from(bands, variance)))
        return (
            f" They hold as often as they say of cells that have {_said(often)} {unit} or more and a percentile in one "
            "of the inner bands; of others that have a number by their noise they need not."
        )

    def _kinds(self, counted: Subject, attribute: Attribute) -> tuple[NoNumber, ...]:
        edges = self._bands(attribute)
        few = f"Fewer than {_said(self.least)} {counted.unit} here, by the noisy count."
        return (
            NoNumber(few, "n", "Q"),
            NoNumber(f"Below {_said(edges[2])}, in one of the two lowest bands of {attribute.label}.", "<"),
            NoNumber(f"Above {_said(edges[-2])}, in one of the two highest bands of {attribute.label}.", ">"),
        )

    def _subject(self, counted: Subject, attribute: Attribute, variance: float) -> Subject:
        percent, bands = plain(100 * Fraction(self.at)), len(self._bands(attribute))
        note = (
            f"Where noisy counts by {bands} public bands of {attribute.label} reach {percent}%, "
            f"values above {_said(self.up_to)} taken for that; cells of fewer than {_said(self.least)} {counted.unit}, "
            f"by the noisy count, have no number. {INTERVALS[self.within].format(unit=counted.unit)}"
            f"{self._promised(bands, variance, counted.unit)}"
        )
        return replace(
            counted,
            name=self.name,
            statistic="percentile",
            title=self.title or f"Percentile {percent} of {attribute.label}",
            unit=self.unit or attribute.label,
            step=Fraction(self.rounded_to),
            additive=False,
            note=" ".join(one for one in (counted.note, note) if one),
        )


def as_often_from(bands: int, variance: float) -> int:
    """From how many records on the intervals of a cell hold as often as they say, for noise of a variance in a band.

    >>> as_often_from(20, 0.74), as_often_from(10, 7.84)      # geometric noise at epsilon 1.5 and 0.5
    (24, 54)
    """
    return ceil(AS_OFTEN * sqrt(bands * variance))


def _beyond(found: Floats, edges: Floats) -> Integers:
    """2 where a percentile lies in the two lowest bands, 3 where in the two highest: there nothing is told of where.

    The outermost band is wide and says nothing of how people lie in it, so the one beside it has a border of unknown
    density, and intervals in it hold less often the more people there are.
    """
    return np.where(found < edges[2], 2, np.where(found > edges[-3], 3, 0))


def _said(amount: Exact) -> str:
    return number(float(Fraction(amount)))


EXAMPLE = Percentile("middle", "cube", "a0", "0.5", up_to=90)

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
from sfumato.calibrate.share_noise import LEAST_CHANCE, ShareNoise
from sfumato.calibrate.step import Diverged, Step, evenly, laid_out
from sfumato.errors import PlanError, nearest
from sfumato.privacy import Exact, exact, plain, positive
from sfumato.release import Incomplete, Independent, NoNumber, Product, Sided, Subject
from sfumato.release.figures import number
from sfumato.release.sided_error import DEVIATES
from sfumato.release.tails import LAPLACE, reach
from sfumato.release.weighting import title_like
from sfumato.schema import Attribute, Bands, Clipped, Sorted, Table
from sfumato.schema.leaf_groups import Flags

SMOOTH, ANYTHING = "smooth", "anything"
FEWEST_BANDS = {ANYTHING: 2, SMOOTH: 6}
"""Of smooth ones two at either end, which tell nothing of how records lie in them, and some between these."""
INTERVALS = {
    SMOOTH: "Intervals are of the percentile of these {unit}, taken to lie smoothly within bands and across their "
    "ends; where many share a number, as a round one or a legal minimum, they hold it less often than they say.",
    ANYTHING: "Intervals are of the percentile of these {unit}, however they lie within bands, and end where bands do.",
}
"""What intervals are of, by what is taken for granted within bands."""
NEAR = 6
"""Up to how many standard errors of its count above the least a cell counts as near it.

Of cells near the least some have a number because noise lifted their count, and the noise that did that is in their
percentile. Their intervals are at a level that is nearer to 1 by the share of cells of the table that are near, so that
of all that are shown no more miss on average than is said (the false coverage rate of Benjamini and Yekutieli 2005).
Further up there is hardly a cell that only noise has brought there.
"""
FINER = 100
"""How many times finer than what is published the percentile of rows is read, so that rounding is no error of it."""


@dataclass(frozen=True)
class Percentile(Step):
    """The value that a share `at` of the records of each cell lie below, by the bands `of` an attribute."""

    kind: ClassVar[str] = "percentile"
    apart: ClassVar[bool] = True
    unweighted: ClassVar[bool] = True
    beside: ClassVar[bool] = True
    additive: ClassVar[bool] = False
    columns_beside: ClassVar[int] = 2 * len(DEVIATES) + 1
    name: str
    table: str
    of: str
    at: Exact
    up_to: Exact
    """The end of the highest band: a value above it is taken for it."""
    least: Exact = 30
    """The noisy count below which a cell has no number."""
    within: str = ANYTHING
    """How records lie within a band: as anything, which takes whole bands, or smoothly between its neighbours."""
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
                f"'{ANYTHING}' or '{SMOOTH}'."
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
        if len(edges) < FEWEST_BANDS[self.within]:
            raise PlanError(
                f"Step '{self.name}': {self.of} has {len(edges)} bands, and a percentile within = \"{self.within}\" "
                f"takes {FEWEST_BANDS[self.within]} or more, of which none should hold much more than another."
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
        histograms = NoisyHistograms(counts.reshape(-1, counts.shape[-1]).astype(np.float64), edges, evenly(cube, self))
        possible, step = made.possible.ravel(), float(Fraction(self.rounded_to))
        few = possible & (histograms.counts.sum(axis=1) < float(Fraction(self.least)))
        shown = possible & ~few
        values = np.where(shown, np.rint(histograms.crossing(self.share) / step), 0).astype(np.int64)
        low, high = self._ends(histograms, self._noise(cube, len(edges) - 1), shown, int(possible.sum()))
        sides = [np.where(shown, np.maximum(one, 0.0), 0.0) for one in (values * step - low, high - values * step)]
        below, above = (side.reshape((len(DEVIATES), *made.shape)) / step for side in sides)
        return Incomplete(
            self._subject(cube.subject, attribute, histograms.variance),
            made,
            values.reshape(made.shape),
            Sided(below, above),
            few.astype(np.int64).reshape(made.shape),
            (NoNumber(f"Fewer than {_said(self.least)} {cube.subject.unit} here, by the noisy count.", "n", "Q"),),
        )

    def _noise(self, counted: Product, bands: int) -> ShareNoise:
        stated = counted.uncertainty
        noise = stated if isinstance(stated, Independent) else Independent(evenly(counted, self), LAPLACE)
        return ShareNoise(noise, Fraction(self.at), bands)

    def _ends(self, histograms: NoisyHistograms, noise: ShareNoise, shown: Flags, cells: int) -> tuple[Floats, Floats]:
        """The lowest and the highest value that each percentile may have, further out in cells near the least."""
        counts, misses = histograms.counts, np.array([2 * NormalDist().cdf(-one) for one in DEVIATES])
        near = shown & (counts.sum(axis=1) < self._near(histograms.variance, noise.bands))
        low, high = (np.zeros((len(DEVIATES), len(counts))) for _ in range(2))
        for some, share in ((shown & ~near, 1.0), (near, near.sum() / max(cells, 1))):
            part, chances = replace(histograms, counts=counts[some]), np.maximum(misses * share, LEAST_CHANCE)
            if self.within == SMOOTH:
                deviates = tuple(reach(1 - chance, noise.excess) for chance in chances)
                low[:, some], high[:, some] = part.ends(self.share, deviates)
            else:
                low[:, some], high[:, some] = part.band_ends(noise.share, noise.reaches(chances.tolist()))
        return low, high

    def _near(self, variance: float, bands: int) -> int:
        """The noisy count below which a cell is near the least.

        >>> EXAMPLE._near(0.74, 20), EXAMPLE._near(7.84, 10)      # geometric noise at epsilon 1.5 and 0.5, least 30
        (54, 84)
        """
        return ceil(float(Fraction(self.least)) + NEAR * sqrt(bands * variance))

    def of_rows(self, table: Table) -> Sorted:
        """The percentile of the rows themselves, finer than it is published."""
        attribute = table.attribute(self.of)
        low, high = self._bands(attribute)[0], Fraction(self.up_to)
        return Sorted(Clipped(attribute.column, low, high, Fraction(self.rounded_to) / FINER, low), Fraction(self.at))

    def ideal(self, table: Product) -> Incomplete | Diverged:
        return replace(self, least=1).apply({self.table: table})

    def _subject(self, counted: Subject, attribute: Attribute, variance: float) -> Subject:
        percent, bands = plain(100 * Fraction(self.at)), len(self._bands(attribute))
        note = (
            f"Where noisy counts by {bands} public bands of {attribute.label} reach {percent}%, "
            f"values above {_said(self.up_to)} taken for that; cells of fewer than {_said(self.least)} {counted.unit}, "
            f"by the noisy count, have no number. {INTERVALS[self.within].format(unit=counted.unit)} Cells "
            f"of fewer than {_said(self._near(variance, bands))} may have theirs by their noise alone; intervals of "
            "such cells are longer, so that of those shown no more miss, on average, than is said."
        )
        return replace(
            counted,
            name=self.name,
            statistic="percentile",
            title=title_like(counted.title, self.title or f"Percentile {percent} of {attribute.label}"),
            unit=self.unit or attribute.label,
            step=Fraction(self.rounded_to),
            additive=False,
            note=" ".join(one for one in (counted.note, note) if one),
        )


def _said(amount: Exact) -> str:
    return number(float(Fraction(amount)))


EXAMPLE = Percentile("middle", "cube", "a0", "0.5", up_to=90)

"""Percentiles of earnings from noisy counts by bands: how far they are off, how often intervals hold, how many bands.

Cells of people with lognormal earnings, whose logarithms have a standard deviation of 0.75. Everything is published by
the geometric mechanism and the step that plans name; beside it the exponential mechanism buys three percentiles, each
for a third of the epsilon, where the bands give all of them.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist

import numpy as np

from sfumato.calibrate import Percentile
from sfumato.calibrate.percentile import ANYTHING, SMOOTH
from sfumato.draws import Draws, SeededDraws
from sfumato.mechanisms import Cells, Geometric
from sfumato.mechanisms.exponential_quantile import ExponentialQuantile
from sfumato.pictures import Picture, svg
from sfumato.pictures.svg import WIDTH, Scale
from sfumato.privacy import Bounded, Unsummed
from sfumato.release import Cube, Incomplete, Subject, measured
from sfumato.release.noisy import Floats
from sfumato.schema import Attribute, Bands, Grid, LeafGroups, Levels, Ragged, Table
from sfumato.statistics.quantile import Quantile
from sfumato.studies.study import Line

SPREAD, MEDIAN, TOP = 0.75, 40_000, 1_000_000
SETTINGS = {("1.5", 20): (0.059, 0.023, 0.010, 0.004), ("0.5", 10): (0.151, 0.049, 0.020, 0.008)}
"""The median relative error of the median of a cell in an earlier simulation, by epsilon, bands and people."""
PEOPLE = (30, 100, 300, 1000)
SHARES = ("0.25", "0.5", "0.75")
ONE_ROW = Bounded(1, 1, 1)
CHOICES = (6, 8, 12, 16, 24, 32, 48, 64)
"""Numbers of bands of which errors are drawn."""
FINER = (12, 20, 40, 80, 160)
"""Numbers of bands of which intervals are laid side by side."""
APART = 0.3
"""How far the medians of cells lie apart, in logarithms, where bands are the same for all."""


def edges(bands: int, spread: float = SPREAD) -> tuple[int, ...]:
    """The lower ends of bands that are equally likely: public, as the law that they are taken from is."""
    inner = [NormalDist(0, spread).inv_cdf(place / bands) for place in range(1, bands)]
    return (0, *(round(MEDIAN * float(np.exp(one))) for one in inner))


@dataclass(frozen=True, eq=False)
class SmallCells:
    """People of some cells, a row a cell, in whole dollars."""

    earnings: Floats

    @classmethod
    def drawn(cls, cells: int, people: int, seed: int, apart: float = 0.0) -> "SmallCells":
        rng = np.random.default_rng(seed)
        middles = rng.normal(0.0, apart, (cells, 1)) if apart else 0.0
        logs = middles + rng.normal(0.0, SPREAD, (cells, people))
        return cls(np.sort(np.rint(MEDIAN * np.exp(logs)), axis=1))

    def true(self, share: str) -> Floats:
        """The value that a share of the people of each cell do not exceed."""
        return np.quantile(self.earnings, float(share), axis=1, method="inverted_cdf")

    @cached_property
    def _cell(self) -> Attribute:
        return Attribute("cell", Levels.of(range(len(self.earnings))))

    def counted(self, epsilon: str, bands: tuple[int, ...], draws: Draws) -> Cube:
        """How many people of every cell are in each band, with noise."""
        read, cells = Bands("earnings", bands), np.arange(len(self.earnings))[:, None]
        table = Table((self._cell, Attribute("earnings", read.levels(), read=read)))
        place = cells * len(bands) + np.searchsorted(bands, self.earnings, "right") - 1
        counts = np.bincount(place.ravel(), minlength=table.size).reshape(table.shape)
        noisy = Geometric(epsilon).perturb(Cells(table, counts, Fraction(1), ONE_ROW), draws)
        uncertainty = Geometric(epsilon).uncertainty(noisy)
        made = measured(Subject("people", "count", "People", "people", Fraction(1)), noisy, uncertainty)
        assert isinstance(made, Cube)  # noqa: S101 - a count of one table is laid out
        return made

    def published(self, epsilon: str, bands: tuple[int, ...], share: str, draws: Draws) -> Incomplete:
        """A percentile of every cell, from counts with noise; none is left out as too small."""
        return percentile(self.counted(epsilon, bands, draws), share)

    def exponential(self, epsilon: Fraction, share: str, draws: Draws) -> Floats:
        """One percentile for an epsilon, out of values 200 dollars apart."""
        statistic = Quantile("earnings", share, clip=(0, 400_000), step=200)
        (of,) = statistic.aggregates
        cells, people = self.earnings.shape
        values = np.rint(np.minimum(self.earnings, 400_000) / 200).astype(np.int64)
        column = Ragged(np.arange(cells + 1) * people, values.ravel())
        empty, table, move = np.zeros(cells, dtype=np.int64), Table((self._cell,)), Unsummed(ONE_ROW)
        of_rows = Cells(table, empty, statistic.step, move, columns={of: column})
        return np.asarray(ExponentialQuantile(epsilon, 2001).perturb(of_rows, draws).values * 200.0)


def percentile(counted: Cube, share: str, within: str = SMOOTH) -> Incomplete:
    step = Percentile("middle", "people", "earnings", share, TOP, least=-(10**9), within=within)
    made = step.apply({"people": counted})
    assert isinstance(made, Incomplete)  # noqa: S101 - it always has an answer
    return made


def relative(found: Floats, true: Floats) -> float:
    """The median of how far numbers are off, as a share of what is true."""
    return float(np.median(np.abs(found / true - 1)))


def interval_ends(made: Incomplete, level: float = 0.95) -> tuple[Floats, Floats]:
    """Both ends of the interval of every cell."""
    from sfumato.query.columns import Columns

    grid = Grid((("cell", LeafGroups.each(made.values.size)),))
    variances, some = made.variances(grid), np.ones(made.values.size)
    assert isinstance(variances, np.ndarray)  # noqa: S101 - it states its errors
    shown = Columns(made.values, variances, 0 * some, some.astype(np.int64), law=made.errors.law(grid))
    return shown.ends(level)


def held(made: Incomplete, true: Floats, level: float = 0.95) -> float:
    """How often intervals hold what is true, of cells that have a number."""
    low, high = interval_ends(made, level)
    return float(((low <= true) & (true <= high))[made.which == 0].mean())


def length(made: Incomplete, true: Floats, level: float = 0.95) -> float:
    """How long intervals are, as a share of what is true: the median over cells."""
    low, high = interval_ends(made, level)
    return float(np.median((high - low) / true))


def intervals(counted: Cube, cells: SmallCells, within: str) -> str:
    """How often 95% intervals hold each percentile, and how long those of the median are."""
    made = {share: percentile(counted, share, within) for share in SHARES}
    often = " / ".join(f"{100 * held(made[share], cells.true(share)):.1f}" for share in SHARES)
    return f"{often}%, {100 * length(made['0.5'], cells.true('0.5')):.3g}% long"


def lines(runs: int) -> list[Line]:
    found = []
    for (epsilon, bands), known in SETTINGS.items():
        for people, before in zip(PEOPLE, known, strict=True):
            cells, draws = SmallCells.drawn(runs, people, people), SeededDraws(people)
            counted, true = cells.counted(epsilon, edges(bands), draws), cells.true("0.5")
            alone = relative(cells.exponential(Fraction(epsilon) / len(SHARES), "0.5", draws), true)
            found.append(
                Line(
                    f"epsilon {epsilon}, {bands} bands, {people:,} people",
                    f"{before:.3f}",
                    f"{relative(percentile(counted, '0.5').values.astype(float), true):.4f}",
                    f"95% intervals hold {intervals(counted, cells, ANYTHING)}; smooth "
                    f"{intervals(counted, cells, SMOOTH)}; exponential, at a third each {alone:.4f}",
                )
            )
    return found + [lengths(people, runs) for people in PEOPLE]


def lengths(people: int, runs: int, epsilon: str = "1.5") -> Line:
    """How long 95% intervals of a median are by the number of bands, however people lie within them."""
    cells, draws = SmallCells.drawn(runs, people, people), SeededDraws(people)
    counted = {bands: cells.counted(epsilon, edges(bands), draws) for bands in FINER}
    long = (length(percentile(one, "0.5", ANYTHING), cells.true("0.5")) for one in counted.values())
    ours = ", ".join(f"{100 * one:.3g}%" for one in long)
    return Line(f"length, epsilon {epsilon}, {people:,} people", "–", ours, f"with {', '.join(map(str, FINER))} bands")


def choices(runs: int, epsilon: str = "1.5") -> dict[int, list[float]]:
    """The median relative error of P50 by people and number of bands, where cells have medians of their own."""
    found: dict[int, list[float]] = {}
    for people in PEOPLE:
        cells, draws = SmallCells.drawn(runs, people, people, APART), SeededDraws(people)
        true, spread = cells.true("0.5"), float(np.hypot(SPREAD, APART))
        found[people] = [
            relative(cells.published(epsilon, edges(bands, spread), "0.5", draws).values.astype(float), true)
            for bands in CHOICES
        ]
    return found


def picture(runs: int = 2000) -> Picture:
    """How far the median of a cell is off by how many bands there are: too few blur it, too many drown it in noise."""
    found, title = choices(runs), "Median relative error of a median by the number of bands, epsilon 1.5"
    left, top, bottom = 70, 60, 330
    up = Scale(*svg.powers_around([one for some in found.values() for one in some]), bottom, top, powers=True)
    side = Scale(float(CHOICES[0]), float(CHOICES[-1]), left, WIDTH - 110, powers=True)
    parts = [svg.paper(WIDTH, 400), svg.text(14, 22, title, "value")]
    for tick in up.ticks():
        parts += [svg.line(left, up(tick), side.end, up(tick), "hair")]
        parts += [svg.text(left - 8, up(tick) + 4, svg.tick_words(tick, percent=True), "axis", "end")]
    for bands in CHOICES:
        parts += [svg.text(side(bands), bottom + 18, str(bands), "axis", "middle")]
    axis = "public bands, equally likely over all cells"
    parts.append(svg.text((left + side.end) / 2, bottom + 38, axis, "axis", "middle"))
    for number, (people, errors) in enumerate(found.items()):
        points = [(side(bands), up(error)) for bands, error in zip(CHOICES, errors, strict=True)]
        parts += [svg.path(points, f"curve k{number}"), *(svg.glyph(number, x, y, f"f{number}", 4) for x, y in points)]
        parts.append(svg.text(side.end + 10, points[-1][1] + 4, f"{people:,} people", f"f{number}"))
    told = tuple(
        f"{people:,} people, {bands} bands: {100 * error:.2g}%"
        for people, errors in found.items()
        for bands, error in zip(CHOICES, errors, strict=True)
    )
    return Picture(title, svg.drawing(400, title, *parts), told)

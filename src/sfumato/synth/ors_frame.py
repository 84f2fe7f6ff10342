"""The frame of the synthetic Occupational Requirements Survey, and the systematic sample of establishments from it.

First stage: within a stratum (industry sector and size class) establishments are sorted by the employment on the frame
and drawn systematically with chances in proportion to it, the interval fixed before collection. Second stage: every
establishment gives the number of quotes of its size class. So a quote stands for interval / quotes jobs of the frame,
the public weight of its stratum, but for what the establishment has grown or shrunk since the frame was made.
Shares, sizes and intervals are round numbers of the right order, not those of the real survey.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sfumato.errors import PlanError
from sfumato.synth.columns import FIGURES, Floats, Integers

AGEING = 0.2  # how far an establishment has moved from the frame by the time of collection, in logarithms


@dataclass(frozen=True)
class SizeClass:
    """Establishments of low to under high workers: their Pareto index, quotes each, jobs a quote, share of quotes."""

    label: str
    low: int
    high: int
    index: float
    quotes: int
    weight: int
    share: float

    @property
    def interval(self) -> int:
        """How many jobs of the frame lie between two selected establishments; above any size, so none is certain."""
        return self.quotes * self.weight


# The lognormal body of the synthetic employment has a local Pareto index near 0.45 at ten workers and 1.1 at fifty,
# and its tail from 100 up has 1.1: the same skew, class by class.
CLASSES = (
    SizeClass("5-19", 5, 20, 0.45, 4, 300, 0.36),
    SizeClass("20-99", 20, 100, 1.1, 5, 400, 0.30),
    SizeClass("100-499", 100, 500, 1.1, 6, 700, 0.22),
    SizeClass("500+", 500, 4000, 1.1, 8, 1000, 0.12),
)
SECTORS = FIGURES["ors"]["sectors"]
FEWEST = 2  # establishments of a stratum, for a variance within it
LEAST_ROWS = 1_000
SPARE = 40  # quotes kept back so that the last ones can be met with establishments of four and of five


@dataclass(frozen=True)
class Stratum:
    """One sector and size class, and how many establishments are drawn from it."""

    sector: str
    size: SizeClass
    count: int

    @property
    def code(self) -> str:
        return f"{self.sector} {self.size.label}"


@dataclass(frozen=True)
class Listing:
    """The establishments of one stratum in the order of selection: workers on the frame and workers now."""

    listed: Integers
    workers: Integers


@dataclass(frozen=True)
class Sample:
    """The selected establishments in selection order; `weight` is that of each of their quotes."""

    number: Integers
    stratum: Integers
    workers: Integers
    quotes: Integers
    weight: Floats


def strata(rows: int) -> tuple[Stratum, ...]:
    """The strata in serpentine order of size, allotted so that their quotes are exactly `rows`.

    >>> sum(one.count * one.size.quotes for one in strata(12_345))
    12345
    """
    if rows < LEAST_ROWS:
        raise PlanError(
            f"ors was asked for {rows} rows; a sample of all {len(SECTORS) * len(CLASSES)} strata "
            f"has at least {LEAST_ROWS}."
        )
    share = np.outer(list(SECTORS.values()), [size.share for size in CLASSES])
    quotes = np.array([size.quotes for size in CLASSES])
    count = np.maximum((rows - SPARE) * share // quotes, FEWEST).astype(np.int64)
    # What is left is met by establishments of five and of four: any number from 12 up is 5b + 4a with b < 4.
    left = rows - int((count * quotes).sum())
    fives, sector = left % 4, np.arange(len(SECTORS))
    fours = (left - 5 * fives) // 4
    count[:, 1] += sector < fives
    count[:, 0] += fours // len(SECTORS) + (sector < fours % len(SECTORS))
    return tuple(
        Stratum(name, CLASSES[place], int(count[row, place]))
        for row, name in enumerate(SECTORS)
        for place in _turned(np.arange(len(CLASSES)), row)
    )


def _turned(values: Integers, place: int) -> Integers:
    """Every second run backwards, so that neighbours across a border are alike."""
    return values[::-1] if place % 2 else values


def listings(design: tuple[Stratum, ...], rng: np.random.Generator, *, aged: bool = True) -> Iterator[Listing]:
    """The frame, stratum by stratum; not aged, every establishment is as large as listed."""
    for place, stratum in enumerate(design):
        listed = _turned(_sizes(stratum.size, stratum.count * stratum.size.interval, rng), place // len(CLASSES))
        grown = rng.lognormal(-(AGEING**2) / 2, AGEING, listed.size) if aged else np.ones(listed.size)
        workers = np.maximum(np.rint(listed * grown), stratum.size.quotes).astype(np.int64)
        yield Listing(listed, workers)


def _sizes(size: SizeClass, total: int, rng: np.random.Generator) -> Integers:
    """Sizes of a class that sum to `total`, smallest first: Pareto between the ends of the class."""
    # Every size is at least `low`, so total // low draws always suffice.
    rate = (size.low / size.high) ** size.index
    drawn = (size.low * rng.uniform(rate, 1, total // size.low) ** (-1 / size.index)).astype(np.int64)
    sizes = np.sort(drawn[: np.searchsorted(np.cumsum(drawn), total, side="right")])
    # What is short of the total goes to the smallest, each filled up to the end of its class.
    room = np.cumsum(size.high - 1 - sizes)
    short = total - int(sizes.sum())
    sizes += np.clip(short - np.concatenate([[0], room[:-1]]), 0, size.high - 1 - sizes)
    return np.sort(sizes)


def systematic(listed: Integers, interval: int, rng: np.random.Generator) -> Integers:
    """Which establishments hold every interval-th job from a random start: chances listed / interval, exactly.

    >>> systematic(np.array([1, 2, 3, 2]), 4, np.random.default_rng(1)).tolist()
    [1, 2]
    """
    ends = np.cumsum(listed)
    points = np.arange(int(rng.integers(interval)), int(ends[-1]), interval)
    return np.asarray(np.searchsorted(ends, points, side="right"), dtype=np.int64)


def select(design: tuple[Stratum, ...], frame: Iterator[Listing], rng: np.random.Generator) -> Sample:
    """The establishments of every stratum, in the order of the frame."""
    parts, before = [], 0
    for place, (stratum, listing) in enumerate(zip(design, frame, strict=True)):
        hit = systematic(listing.listed, stratum.size.interval, rng)
        workers, size = listing.workers[hit], stratum.size
        weight = size.interval * workers / (listing.listed[hit] * size.quotes)
        parts.append((before + hit, np.full(hit.size, place), workers, np.full(hit.size, size.quotes), weight))
        before += listing.listed.size
    number, stratum_of, workers, quotes, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Sample(number, stratum_of, workers, quotes, weight)

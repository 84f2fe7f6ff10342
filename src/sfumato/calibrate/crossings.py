"""Crossings: where the noisy distribution of a cell reaches a share of its records, and where the true one may.

D(x), how many records lie below x less the share of all, rises through 0 at the percentile. Of n records that is the
k-th, k the least whole number from p n on, and where counts are spread over their bands it stands at k − 1/2: half of
itself lies below it. Of noisy counts by band D has the weights 1 − p on bands below x, −p on those above, u − p on the
one that x is in, u the part of it below x; so its variance by noise is known at every x. Within a band records have a
density that rises or falls evenly between what neighbouring bands say of its ends, which moves these weights a little,
and lie about it as draws do: n F (1 − F) more variance, F the share of them below x. An interval is the places at which
D is within so many standard deviations of 0, sought from either end: a test at every place in a fixed order, which is
wrong with at most the chance of one test (Maurer, Hothorn and Lehmacher 1995), and less often where noise makes D fall
and rise again, so that places between two that are within reach are held too. The number itself is where the counts
cross that are made monotone by isotonic regression. In the two lowest and the two highest bands nothing is told of how
records lie, as the outermost are wide and border on the others, so an interval that ends there ends where these do.
Where nothing is to be taken for granted of any band, D is looked at at the ends of bands alone: where fewer than the
share lie below an end, for sure, the percentile is not below it, and where no fewer do, it is (`share_noise`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PLACES = 16
"""Into how many parts a band is cut; closer to its ends, where the square root of a variance bends most."""
WITHIN = np.sin(np.pi * np.arange(PLACES) / (2 * PLACES)) ** 2
BENT = WITHIN * (1 - WITHIN) / 2
"""What a slope of the density takes off at each place."""
ROUNDED = 1 / 12
"""The most variance that k has as a whole number: by noise in n it is another part of one above p n."""
NEARLY = 1e-6
"""By how much a whole number of records may be off as a sum of floats."""
OUTER = 2
"""How many bands at either end tell nothing of how records lie in them."""
AT_ONCE = 2_000
"""Cells that are looked at together, so that places by cells stay small."""


def monotone(cumulated: Floats) -> Floats:
    """The rising rows that are nearest in squares: the largest over starts of the least over ends of their averages.

    >>> monotone(np.array([[1.0, 5.0, 3.0, 8.0]])).tolist()
    [[1.0, 4.0, 4.0, 8.0]]
    """
    length = cumulated.shape[1]
    sums = np.concatenate([np.zeros((len(cumulated), 1)), np.cumsum(cumulated, axis=1)], axis=1)
    found = np.full(cumulated.shape, -np.inf)
    for start in range(length):
        averages = (sums[:, start + 1 :] - sums[:, start : start + 1]) / np.arange(1, length - start + 1)
        least = np.minimum.accumulate(averages[:, ::-1], axis=1)[:, ::-1]
        found[:, start:] = np.maximum(found[:, start:], least)
    return found


def middle_rank(counts: Floats, share: float) -> Floats:
    """How many lie below the record that is the percentile, itself counted half, in a distribution without steps.

    Of n records it is the k-th, k the least whole number from share · n on.

    >>> middle_rank(np.array([[10.0, 20.0], [10.0, 21.0]]), 0.5).tolist()
    [14.5, 15.5]
    """
    return np.asarray(np.ceil(share * counts.sum(axis=1) - NEARLY) - 0.5, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NoisyHistograms:
    """Noisy counts by band, a row a cell, with noise of one variance in each count, and the ends of the bands."""

    counts: Floats
    edges: Floats
    variance: float

    @cached_property
    def places(self) -> Floats:
        """The values at which it is looked, from the lowest end to the highest."""
        inner = self.edges[:-1, None] + WITHIN * np.diff(self.edges)[:, None]
        return np.append(inner.ravel(), self.edges[-1])

    def _within(self, counts: Floats) -> Floats:
        """How many records of each band lie below each of its places, by densities that rise or fall evenly."""
        (left, right), held = self._shared, np.maximum(counts, 0.0)
        slope = np.zeros_like(counts)
        slope[:, 1:-1] = right * (counts[:, 1:-1] + counts[:, 2:]) - left * (counts[:, :-2] + counts[:, 1:-1])
        slope = np.clip(slope, -2 * held, 2 * held)  # no density is below 0
        return np.asarray(counts[:, :, None] * WITHIN - slope[:, :, None] * BENT, dtype=np.float64)

    @cached_property
    def _shared(self) -> tuple[Floats, Floats]:
        """The width of each inner band as a share of that of itself and the band below it, and above it."""
        widths = np.diff(self.edges)
        return widths[1:-1] / (widths[:-2] + widths[1:-1]), widths[1:-1] / (widths[1:-1] + widths[2:])

    def _below(self, counts: Floats, aim: Floats) -> Floats:
        """D at every place of every cell: how many records lie below it less those that are to."""
        before = np.cumsum(counts, axis=1) - counts
        inner = (before[:, :, None] + self._within(counts)).reshape(len(counts), -1)
        below = np.concatenate([inner, counts.sum(axis=1)[:, None]], axis=1)
        return np.asarray(below - aim[:, None], dtype=np.float64)

    def _deviations(self, counts: Floats, share: float) -> Floats:
        """The standard deviation of D at every place of every cell."""
        bands, held = counts.shape[1], np.pad(np.maximum(counts, 0.0), ((0, 0), (1, 1)))[:, :, None]
        beside, own, above = held[:, :-2], held[:, 1:-1], held[:, 2:]
        part = np.clip(self._within(counts) / np.where(own > 0, own, 1.0), 0.0, 1.0)
        left, right = self._bent
        bent = left**2 * beside + (left - right) ** 2 * own + right**2 * above
        rounded = min(ROUNDED, self.variance * bands)
        inner = self.variance * self._weights(share) + own * part * (1 - part) + bent + rounded
        last = np.full((len(counts), 1), self.variance * bands * (1 - share) ** 2)
        return np.asarray(np.sqrt(np.concatenate([inner.reshape(len(counts), -1), last], axis=1)), dtype=np.float64)

    @cached_property
    def _bent(self) -> tuple[Floats, Floats]:
        """What a record in the band below a place, and in the one above, moves D there by the slope of its density."""
        left, right = (np.pad(one, 1)[:, None] * BENT for one in self._shared)
        return left, right

    def _weights(self, share: float) -> Floats:
        """The sum of the squares of what all counts weigh in D at every place, a row a band."""
        bands, (left, right) = len(self.edges) - 1, self._bent
        lower = np.arange(bands)[:, None]
        others = lower * (1 - share) ** 2 + (bands - 1 - lower) * share**2
        beside = left * (2 * (1 - share) + left) + right * (2 * share + right)
        return np.asarray(others + beside + (WITHIN - share + left - right) ** 2, dtype=np.float64)

    def crossing(self, share: float) -> Floats:
        """The percentile of every cell; of one without records by its noisy counts, the middle of the bands."""
        found = np.full(len(self.counts), self.edges[len(self.edges) // 2])
        for some in self._pieces:
            rising = np.maximum(monotone(np.cumsum(self.counts[some], axis=1)), 0.0)
            counts = np.diff(rising, axis=1, prepend=0.0)
            there = rising[:, -1] > 0
            found[some][there] = self._first(self._below(counts, middle_rank(counts, share))[there], self.places)
        return found

    def ends(self, share: float, deviates: tuple[float, ...]) -> tuple[Floats, Floats]:
        """The lowest and the highest value that the percentile may have, a row a deviate."""
        low, high = (np.empty((len(deviates), len(self.counts))) for _ in range(2))
        for some in self._pieces:
            counts = self.counts[some]
            below, spread = self._below(counts, middle_rank(counts, share)), self._deviations(counts, share)
            for row, deviate in enumerate(deviates):
                low[row, some] = self._first(below + deviate * spread, self.places)
                high[row, some] = self._first((deviate * spread - below)[:, ::-1], self.places[::-1])
        return self._outward(low, -1), self._outward(high, 1)

    def _outward(self, ends: Floats, way: int) -> Floats:
        """Ends of intervals; those in the two lowest and the two highest bands go on to where the band ends."""
        band = np.clip(np.searchsorted(self.edges, ends, side="right" if way < 0 else "left") - 1, 0, self._last - 1)
        outer = (band < OUTER) | (band >= self._last - OUTER)
        return np.where(outer, self.edges[band + (way > 0)], ends)

    @property
    def _last(self) -> int:
        return len(self.edges) - 1

    def band_ends(self, share: Fraction, reaches: Floats) -> tuple[Floats, Floats]:
        """The ends of the bands that the percentile may be in, however records lie within them.

        `reaches` are how far noise may have moved D at each end, a row a level (`ShareNoise`).
        """
        low, high = (np.empty((len(reaches), len(self.counts))) for _ in range(2))
        for some in self._pieces:
            below = np.pad(np.cumsum(self.counts[some], axis=1), ((0, 0), (1, 0)))
            below = below - float(share) * below[:, -1:]
            for row, reach in enumerate(reaches):
                # the percentile lies below an end where D is 0 or more there, else D is a lattice step less or more
                reached = below + reach >= -NEARLY
                short = below - reach <= NEARLY - 1 / share.denominator
                first = np.where(reached.any(axis=1), reached.argmax(axis=1), self._last)
                last = np.where(short.any(axis=1), self._last - short[:, ::-1].argmax(axis=1), 0)
                low[row, some] = self.edges[np.maximum(first - 1, 0)]
                high[row, some] = self.edges[np.minimum(last + 1, self._last)]
        return low, high

    @property
    def _pieces(self) -> Iterator[slice]:
        return (slice(start, start + AT_ONCE) for start in range(0, len(self.counts), AT_ONCE))

    @staticmethod
    def _first(rising: Floats, places: Floats) -> Floats:
        """Where each row is first 0 or more, between places by a straight line; the last place where it never is."""
        reached = rising >= 0
        at = np.where(reached.any(axis=1), reached.argmax(axis=1), len(places) - 1)
        before, rows = np.maximum(at - 1, 0), np.arange(len(rising))
        one, other = rising[rows, before], rising[rows, at]
        part = np.divide(-one, other - one, out=np.zeros(len(rising)), where=other != one)
        return np.asarray(places[before] + np.clip(part, 0.0, 1.0) * (places[at] - places[before]), dtype=np.float64)

"""Utility: what noise did to the numbers that people use."""

from dataclasses import dataclass

import numpy as np

from sfumato.confidential.assessment.comparisons import Compared, Floats, ReportRules, quantile
from sfumato.query.tails import z_score

CLASSES = ((0, 0), (1, 2), (3, 9), (10, 99), (100, 999), (1000, None))
"""Sizes of cells, by the records in them."""


@dataclass(frozen=True)
class Differences:
    """Released less true: absolute, relative to a truth other than 0, squared, and with its sign."""

    cells: int
    mean_absolute: float | None
    root_mean_square: float | None
    bias: float | None
    mean_relative: float | None
    relative: tuple[float | None, float | None, float | None]


def differences(cells: Compared) -> Differences:
    """Differences of estimates; `relative` is the first decile, the median and the ninth decile."""
    error, some = cells.error, cells.truth != 0
    relative = np.abs(error[some] / cells.truth[some])
    return Differences(
        cells=cells.size,
        mean_absolute=_mean(np.abs(error)),
        root_mean_square=float(np.sqrt(np.square(error).mean())) if cells.size else None,
        bias=_mean(error),
        mean_relative=_mean(relative),
        relative=(quantile(relative, 0.1), quantile(relative, 0.5), quantile(relative, 0.9)),
    )


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def by_size(cells: Compared) -> list[tuple[str, Compared]]:
    """The cells by how many records are in them."""
    found = []
    for low, high in CLASSES:
        inside = (cells.records >= low) & (cells.records <= (np.inf if high is None else high))
        words = f"{low:,} or more" if high is None else "empty" if high == 0 else f"{low:,}–{high:,}"
        found.append((words, cells.take(inside)))
    return found


@dataclass(frozen=True)
class Publishable:
    """Cells that pass the threshold rules before noise, after it, newly and no longer; and after it by the CV alone."""

    cells: int
    before: int
    after: int
    newly: int
    lost: int
    by_cv: int
    newly_by_cv: int
    count_known: bool


def publishable(cells: Compared, rules: ReportRules) -> Publishable:
    """Threshold rules on the true and on the released numbers, where the released ones have a stated error."""
    cells = cells.stated()
    sampling = cells.sampling if cells.sampling is not None else np.zeros(cells.size)
    before = (cells.records >= rules.least) & (_cv(sampling, cells.truth) <= rules.largest_cv)
    by_cv = (cells.released > 0) & (_cv(cells.variance, cells.released) <= rules.largest_cv)
    after = by_cv if cells.counted is None else by_cv & (np.rint(cells.counted) >= rules.least)
    return Publishable(
        cells=cells.size,
        before=int(before.sum()),
        after=int(after.sum()),
        newly=int((after & ~before).sum()),
        lost=int((before & ~after).sum()),
        by_cv=int(by_cv.sum()),
        newly_by_cv=int((by_cv & ~before).sum()),
        count_known=cells.counted is not None,
    )


def _cv(variance: Floats, value: Floats) -> Floats:
    """The standard error as a share of the value: 0 where there is no error, infinite where only the value is 0."""
    error = np.sqrt(np.maximum(variance, 0))
    cv = np.full(len(value), np.inf)
    np.divide(error, np.abs(value), out=cv, where=value != 0)
    return np.where(error == 0, 0.0, cv)


def grade_a(cells: Compared, largest_cv: float) -> float | None:
    """The share of cells that a page of the release would grade A: by noise alone, and away from 0."""
    cells = cells.stated()
    if not cells.size:
        return None
    sure = (np.abs(cells.released) > cells.margin) | (cells.noise == 0)
    return float((sure & (_cv(cells.noise, cells.released) < largest_cv)).mean())


def cramers_v(table: Floats) -> float | None:
    """Cramér's V of a two-way table, negative cells as 0, without its empty rows and columns (Agresti 2002).

    >>> cramers_v(np.array([[10.0, 0.0], [0.0, 10.0]]))
    1.0
    """
    counts = np.maximum(table, 0)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape, default=0) < 2:
        return None
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    phi_squared = (np.square(counts - expected) / expected).sum() / counts.sum()
    return float(np.sqrt(phi_squared / (min(counts.shape) - 1)))


def hellinger(one: Floats, other: Floats) -> float | None:
    """The distance of two tables as shares: 0 where they are the same, 1 where they share no cell; negatives are 0.

    >>> hellinger(np.array([1.0, 0.0]), np.array([0.0, 5.0]))
    1.0
    """
    first, second = np.maximum(one, 0), np.maximum(other, 0)
    if not first.sum() or not second.sum():
        return None
    gap = np.sqrt(first / first.sum()) - np.sqrt(second / second.sum())
    return float(np.sqrt(np.square(gap).sum() / 2))


def overlap(centre: Floats, error: Floats, other: Floats, other_error: Floats, level: float = 0.95) -> Floats:
    """How far two intervals cover each other (Karr et al. 2006): 1 if equal, below 0 if apart.

    >>> float(overlap(np.zeros(1), np.ones(1), np.ones(1), np.ones(1)).round(3)[0])      # shifted by one error
    0.745
    """
    reach, other_reach = z_score(level) * error, z_score(level) * other_error
    shared = np.minimum(centre + reach, other + other_reach) - np.maximum(centre - reach, other - other_reach)
    return np.asarray((shared / (2 * reach) + shared / (2 * other_reach)) / 2)


@dataclass(frozen=True)
class Overlap:
    """The overlap of the 95% intervals without and with noise, over the cells that have a sampling error."""

    cells: int
    mean: float | None
    median: float | None
    apart: int


def overlaps(cells: Compared) -> Overlap | None:
    """Interval overlap; nothing in a census, whose true intervals have no width."""
    if cells.sampling is None:
        return None
    cells = cells.take(np.isfinite(cells.noise) & (cells.sampling > 0))
    if cells.sampling is None or not cells.size:
        return None
    found = overlap(cells.truth, np.sqrt(cells.sampling), cells.released, np.sqrt(cells.variance))
    return Overlap(cells.size, float(found.mean()), float(np.median(found)), int((found < 0).sum()))

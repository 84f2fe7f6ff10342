"""Utility: what noise did to the numbers that people use."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.assessment.comparisons import (
    Compared,
    Floats,
    Numbers,
    ReportRules,
    counted,
    mean,
    quantile,
)
from sfumato.query.grade import grades_of
from sfumato.release.tails import z_score

FEWEST = 20
"""The cells from which on a fifth of them is some."""
CLASSES = ((0, 0), (1, 2), (3, 9), (10, 99), (100, 999), (1000, None))
"""Sizes of cells, by the records in them."""


def differences(cells: Compared) -> Numbers:
    """Released less true: absolute, relative to a truth other than 0, squared, and with its sign.

    `relative`, the absolute percentage difference, is the first decile, the median and the ninth decile; `within_10` is
    the share of cells in which it is a tenth at most, and `right_tail` how often a cell of a tail is put into it.
    """
    error, some = cells.error, cells.truth != 0
    relative = np.abs(error[some] / cells.truth[some])
    return {
        "cells": cells.size,
        "mean_absolute": mean(np.abs(error)),
        "root_mean_square": None if (squared := mean(np.square(error))) is None else squared**0.5,
        "bias": mean(error),
        "mean_relative": mean(relative),
        "relative": tuple(quantile(relative, at) for at in (0.1, 0.5, 0.9)),
        "within_10": float(np.mean(relative <= 0.1)) if len(relative) else None,
        "right_tail": right_tail(cells.truth, cells.released),
    }


def right_tail(truth: Floats, released: Floats, share: float = 0.2) -> float | None:
    """Of the cells that are truly in the lowest or the highest fifth, those that released numbers put there too.

    None where there are so few cells, or so many alike, that fifths are not told apart.

    >>> right_tail(np.arange(20.0), np.append(np.arange(19.0), -5.0))      # the highest of 20 came out lowest
    0.75
    """
    if len(truth) < FEWEST:
        return None
    ends = [np.quantile(one, [share, 1 - share]) for one in (truth, released)]
    tails = [(one < low, one > high) for one, (low, high) in zip((truth, released), ends, strict=True)]
    right, whole = ((one & other).sum() for one, other in zip(*tails, strict=True)), sum(one.sum() for one in tails[0])
    return float(sum(right) / whole) if whole else None


def by_size(cells: Compared) -> list[tuple[str, Compared]]:
    """The cells by how many records are in them."""
    found = []
    for low, high in CLASSES:
        inside = (cells.records >= low) & (cells.records <= (np.inf if high is None else high))
        words = f"{low:,} or more" if high is None else "empty" if high == 0 else f"{low:,}–{high:,}"
        found.append((words, cells.take(inside)))
    return found


def publishable(cells: Compared, rules: ReportRules) -> Numbers:
    """Cells that pass the threshold rules before noise, after it, newly and no longer; and after it by the CV alone.

    The released numbers are those that have a stated error.
    """
    cells = cells.stated()
    sampling = cells.sampling if cells.sampling is not None else np.zeros(cells.size)
    before = (cells.records >= rules.least) & (_cv(sampling, cells.truth) <= rules.largest_cv)
    before &= _heavy(cells.weight, rules)
    by_cv = (cells.released > 0) & (_cv(cells.variance, cells.released) <= rules.largest_cv)
    after = by_cv if cells.counted is None else by_cv & (np.rint(cells.counted) >= rules.least)
    after = after & _heavy(cells.weighed, rules)
    found = counted(before=before, after=after, newly=after & ~before, lost=before & ~after)
    found |= counted(by_cv=by_cv, newly_by_cv=by_cv & ~before)
    known = cells.counted is not None and (rules.least_weighted is None or cells.weighed is not None)
    return {"cells": cells.size, **found, "count_known": known}


def _heavy(weights: Floats | None, rules: ReportRules) -> NDArray[np.bool_] | np.bool_:
    """Which cells have the weighted frequency that the rule asks for; all where it asks for none, or none is known."""
    return np.True_ if rules.least_weighted is None or weights is None else weights >= rules.least_weighted


def _cv(variance: Floats, value: Floats) -> Floats:
    """The standard error as a share of the value: 0 where there is no error, infinite where only the value is 0."""
    error = np.sqrt(np.maximum(variance, 0))
    cv = np.full(len(value), np.inf)
    np.divide(error, np.abs(value), out=cv, where=value != 0)
    return np.where(error == 0, 0.0, cv)


def grade_a(cells: Compared, grades: Mapping[str, float]) -> float | None:
    """The share of cells that a page of the release grades A, by the errors that it states; none where it grades none.

    Where the release states nothing of the sampling error a cell has no grade.
    """
    cells = cells.stated()
    told = np.zeros(cells.size) if cells.told is None else cells.told
    margin, graded = cells.margin if cells.margins_of_both is None else cells.margins_of_both, np.isfinite(told)
    if not graded.any():
        return None
    error = np.sqrt(np.maximum(cells.noise + told, 0))
    return float((grades_of(cells.released, error, margin, grades) == "A").mean())


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


def overlaps(cells: Compared) -> Numbers | None:
    """The overlap of the 95% intervals without and with noise, over the cells that have a sampling error.

    Nothing in a census, whose true intervals have no width.
    """
    if cells.sampling is None:
        return None
    cells = cells.take(np.isfinite(cells.noise) & (cells.sampling > 0))
    if cells.sampling is None or not cells.size:
        return None
    found = overlap(cells.truth, np.sqrt(cells.sampling), cells.released, np.sqrt(cells.variance))
    return {"cells": cells.size, "mean": mean(found), "median": quantile(found, 0.5), "apart": int((found < 0).sum())}

"""Bins: samples of two sides counted between pooled quantiles, and how much each bin speaks for one of them."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
COARSE = 48
"""How many bins make up unions."""


def scores(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Bins, and the log-ratio of the samples in each."""
    ends = edges(one, other, COARSE)
    return ends, np.log((histogram(ends, one) + 0.5) / (histogram(ends, other) + 0.5))


def edges(one: Floats, other: Floats, bins: int) -> Floats:
    """Where bins end; ties are common in integers, so the smallest value is no edge."""
    pooled = np.concatenate([one, other])
    ends = np.unique(np.quantile(pooled, np.arange(1, bins) / bins, method="inverted_cdf"))
    return ends[ends > pooled.min()] if pooled.max() > pooled.min() else pooled[:1] + 1.0


def histogram(ends: Floats, values: Floats) -> Floats:
    return np.bincount(np.searchsorted(ends, values, side="right"), minlength=len(ends) + 1).astype(float)

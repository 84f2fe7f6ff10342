"""Honesty: whether stated errors are the realised ones, and what the errors are made of."""

from dataclasses import dataclass

import numpy as np

from sfumato.confidential.assessment.comparisons import Compared, Floats, quantile, share

SLACK = 1e-6
"""Of a record: how far a total may be off by rounding alone, where the stated error is 0."""


@dataclass(frozen=True)
class Honesty:
    """How many 90% margins hold the truth, and the mean of squared error over stated variance, which is 1 if honest.

    `held` is against the truth after clip and at_most, which is all that the stated error speaks of; `truth` is
    against the data as they are.
    """

    cells: int
    held: float | None
    truth: float | None
    squared: float | None


def honesty(cells: Compared) -> Honesty:
    """Stated against realised error, where an error is stated."""
    cells = cells.stated()
    noisy = cells.noise > 0
    squared = np.square(cells.released - cells.held)[noisy] / cells.noise[noisy]
    return Honesty(
        cells=cells.size,
        held=_within(cells, cells.held),
        truth=_within(cells, cells.truth),
        squared=float(squared.mean()) if len(squared) else None,
    )


def _within(cells: Compared, truth: Floats) -> float | None:
    inside = np.abs(cells.released - truth) <= cells.margin + SLACK * cells.worth
    return share(int(inside.sum()), cells.size)


@dataclass(frozen=True)
class StandardErrors:
    """Standard errors: of noise, of sampling, of both, and what the paper's formula would print instead.

    `ratio` is the median of the error with noise over the error without. `literal` is the root of the mean of
    var + (estimate − truth)², `honest` that of sampling and noise variance. `gives_away` counts the cells in which the
    literal error equals the estimate to nine digits, and `empty` those of them that are empty.
    """

    cells: int
    noise: float | None
    sampling: float | None
    noise_share: float | None
    ratio: float | None
    honest: float
    literal: float
    gives_away: int
    empty: int


def errors(cells: Compared) -> StandardErrors | None:
    """What the errors are made of; nothing where none is stated."""
    cells = cells.stated()
    if not cells.size:
        return None
    sampling = cells.sampling if cells.sampling is not None else np.zeros(cells.size)
    literal = sampling + np.square(cells.error)
    off = np.abs(np.sqrt(literal) - np.abs(cells.released))
    gives_away = (cells.released != 0) & (off <= 1e-9 * np.abs(cells.released))
    sampled = sampling > 0
    return StandardErrors(
        cells=cells.size,
        noise=quantile(np.sqrt(cells.noise), 0.5),
        sampling=quantile(np.sqrt(sampling), 0.5) if cells.sampling is not None else None,
        noise_share=share(cells.noise.sum(), cells.variance.sum()),
        ratio=quantile(np.sqrt(cells.variance[sampled] / sampling[sampled]), 0.5),
        honest=float(np.sqrt(cells.variance.mean())),
        literal=float(np.sqrt(literal.mean())),
        gives_away=int(gives_away.sum()),
        empty=int((gives_away & (cells.records == 0)).sum()),
    )

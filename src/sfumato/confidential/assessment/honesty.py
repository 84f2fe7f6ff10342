"""Honesty: whether stated errors are the realised ones, and what the errors are made of."""

import numpy as np

from sfumato.confidential.assessment.comparisons import Compared, Floats, Numbers, counted, mean, quantile, share

SLACK = 1e-6
"""Of a record: how far a total may be off by rounding alone, where the stated error is 0."""


def honesty(cells: Compared) -> Numbers:
    """How many 90% margins hold the truth, and the mean of squared error over stated variance, which is 1 if honest.

    `held` is against the truth after clip and at_most, which is all that the stated error speaks of; `truth` is
    against the data as they are.
    """
    cells = cells.stated()
    noisy = cells.noise > 0
    squared = np.square(cells.released - cells.held)[noisy] / cells.noise[noisy]
    held, truth = (_within(cells, one) for one in (cells.held, cells.truth))
    return {"cells": cells.size, "held": held, "truth": truth, "squared": mean(squared)}


def _within(cells: Compared, truth: Floats) -> float | None:
    inside = np.abs(cells.released - truth) <= cells.margin + SLACK * cells.worth
    return share(int(inside.sum()), cells.size)


def errors(cells: Compared) -> Numbers | None:
    """Standard errors: of noise, of sampling, of both, and what the paper's formula would print instead.

    `ratio` is the median of the error with noise over the error without. `literal` is the root of the mean of
    var + (estimate − truth)², `honest` that of sampling and noise variance. `gives_away` counts the cells in which the
    literal error equals the estimate to nine digits, and `empty` those of them that are empty.
    """
    cells = cells.stated()
    if not cells.size:
        return None
    sampling = cells.sampling if cells.sampling is not None else np.zeros(cells.size)
    literal = sampling + np.square(cells.error)
    off = np.abs(np.sqrt(literal) - np.abs(cells.released))
    gives_away = (cells.released != 0) & (off <= 1e-9 * np.abs(cells.released))
    sampled = sampling > 0
    return {
        "cells": cells.size,
        "noise": quantile(np.sqrt(cells.noise), 0.5),
        "sampling": quantile(np.sqrt(sampling), 0.5) if cells.sampling is not None else None,
        "noise_share": share(cells.noise.sum(), cells.variance.sum()),
        "ratio": quantile(np.sqrt(cells.variance[sampled] / sampling[sampled]), 0.5),
        "honest": float(np.sqrt(cells.variance.mean())),
        "literal": float(np.sqrt(literal.mean())),
        **counted(gives_away=gives_away, empty=gives_away & (cells.records == 0)),
    }

"""Honesty: whether stated errors are the realised ones, what they are made of, and what the bounds took before."""

import numpy as np

from sfumato.confidential.assessment.comparisons import (
    FEW,
    LEVEL,
    Compared,
    Floats,
    Numbers,
    counted,
    mean,
    quantile,
    share,
)
from sfumato.confidential.assessment.layout import hits, parts, percent
from sfumato.confidential.assessment.truth import Truth
from sfumato.privacy import plain

BENT = 0.1
"""Of its margin: how far clip, step and at_most may move a number before its margin is said to miss the data."""
SLACK = 1e-6
"""Of a record: how far a total may be off by rounding alone, where the stated error is 0."""
OF_ROWS = (
    "the percentile of the data: within bands these lie otherwise than smoothly, as round numbers do; "
    'leave out within = "smooth" in the step, so that intervals end where bands do'
)


def honesty(cells: Compared) -> Numbers:
    """How many 90% margins hold the truth, and the mean of squared error over stated variance, which is 1 if honest.

    `held` is against the truth after clip and at_most, which is all that most stated errors speak of; `truth` is
    against the data as they are, and `bent` counts the cells in which the two are apart, by `unnoised` in the median.
    `promised` is that of the two which the errors speak of: of percentiles, which are of rows, it is the data. Where
    rows were left out by a draw nobody knows what the noise was added to, and nothing is said of that.
    """
    cells = cells.stated()
    noisy = cells.noise > 0
    spoken_of = cells.truth if cells.of_rows else cells.held
    squared = np.square(cells.released - spoken_of)[noisy] / cells.noise[noisy]
    redrawn = cells.redrawn
    held, truth = None if redrawn else _within(cells, cells.held), _within(cells, cells.truth)
    bent = counted(bent=np.abs(cells.held - cells.truth) > BENT * cells.margin + SLACK * cells.worth)
    promised, some = truth if cells.of_rows else held, cells.truth != 0
    apart = np.abs(cells.held[some] / cells.truth[some] - 1)
    unnoised = quantile(apart[np.isfinite(apart)], 0.5)
    told = {"cells": cells.size, "held": held, "truth": truth, "promised": promised, "of_rows": cells.of_rows}
    return told | {"squared": None if redrawn else mean(squared), "unnoised": unnoised, **bent}


def broken(numbers: Numbers) -> list[str]:
    """Where fewer of the stated margins hold than chance explains, and how many do.

    Half a point is allowed where the normal law stands in, and four errors of the share of so many cells besides: one
    false alarm in 30,000 tables, of as many cells as that takes.
    """
    found = []
    for name, _, part in parts(numbers):
        held, cells = part["honesty"]["promised"], part["independent"]
        if held is not None and cells >= FEW and held < LEVEL - 0.005 - 4 * np.sqrt(LEVEL * (1 - LEVEL) / cells):
            of = OF_ROWS if part["honesty"]["of_rows"] else "what the noise was added to"
            found.append(f"{name}: {held:.1%} of the {LEVEL:.0%} margins hold {of}")
    return found


def missed(numbers: Numbers) -> list[str]:
    """Where bounds took so much that fewer of the stated margins hold the data as they are, and how many do."""
    found = []
    for name, product, part in parts(numbers):
        one, bounds = part["honesty"], product["bounds"]
        aim = LEVEL if one["held"] is None else one["held"]
        if one["bent"] and one["truth"] < aim and not one["of_rows"]:
            truth, held = (hits(value, one["cells"]) for value in (one["truth"], aim))
            beside = "should" if one["held"] is None else "hold what the noise was added to"
            lost = None if bounds["clipped"] is None else bounds["clipped"] + bounds["left_out"]
            took = "the rest" if lost is None else f"{percent(lost)} of the total"
            found.append(
                f"{name}: {truth} of the {LEVEL:.0%} margins hold the data, where {held} {beside}. "
                f"Clip and at_most took {took} before, and no margin counts that"
            )
    return found


def _within(cells: Compared, truth: Floats) -> float | None:
    told = np.isfinite(truth)
    return share(int((cells.holds(truth, SLACK * cells.worth) & told).sum()), int(told.sum()))


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


def bounds(truth: Truth) -> Numbers:
    """The share of the total that clip and step took, on balance, and that at_most took besides; the rows left out.

    `worst` is the margin of one attribute, and the level in it, that lost the largest share to clip and step. Of what
    may not be summed only the rows are told.
    """
    once = truth.laid_out.first
    total, clipped, kept = (float(once(part).sum()) for part in (truth.as_is, truth.clipped, truth.kept))
    rows = int(once(truth.records).sum())
    additive = truth.additive
    worst, level = _worst(truth) if additive else (None, "")
    return {
        "clip": _clip(truth),
        "total": total if additive else None,
        "clipped": share(total - clipped, total) if additive else None,
        "worst": worst,
        "worst_level": level,
        "rows": rows,
        "dropped": rows - truth.kept_rows,
        "left_out": share(clipped - kept, total) if additive else None,
    }


def _clip(truth: Truth) -> str:
    of = truth.measure.of
    if (held := of.value_bounds) is None:
        return ""
    words = f"{plain(held.low)} to {plain(held.high)} in steps of {plain(held.step)}"
    weight = held.weight
    return f"{words}, times weights of {plain(weight.low)} to {plain(weight.high)}" if weight else words


def _worst(truth: Truth) -> tuple[float | None, str]:
    """The largest share that clip and step took from the margin of a single level with three records or more."""
    largest, where = None, ""
    for attribute in truth.laid_out.attributes:
        parts = (truth.as_is, truth.clipped, truth.records)
        true, held, rows = (truth.laid_out.summed(part, [attribute.name]) for part in parts)
        lost = np.divide(true - held, true, out=np.zeros(len(true)), where=(true != 0) & (rows >= 3))
        place = int(np.argmax(np.abs(lost)))
        if largest is None or abs(lost[place]) > abs(largest):
            leaf = attribute.levels.leaves[place]
            largest, where = float(lost[place]), f"{attribute.label}: {attribute.levels.label(leaf)}"
    return largest, where if largest else ""

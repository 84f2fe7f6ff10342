"""Bounds: what clip, step and at_most took from the data before any noise was added."""

import numpy as np

from sfumato.confidential.assessment.comparisons import Numbers, margin, share
from sfumato.confidential.assessment.truth import Truth
from sfumato.privacy import plain
from sfumato.statistics import Total


def bounds(truth: Truth) -> Numbers:
    """The share of the total that clip and step took, on balance, and that at_most took besides; the rows left out.

    `worst` is the margin of one attribute, and the level in it, that lost the largest share to clip and step. Of what
    may not be summed only the rows are told.
    """
    total, clipped, kept = (float(part.sum()) for part in (truth.as_is, truth.clipped, truth.kept))
    rows = int(truth.records.sum())
    additive = truth.measure.of.additive
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
    if not isinstance(of, Total) or of.clip is None:
        return ""
    return f"{plain(of.clip[0])} to {plain(of.clip[1])} in steps of {plain(of.step)}"


def _worst(truth: Truth) -> tuple[float | None, str]:
    """The largest share that clip and step took from the margin of a single level with three records or more."""
    largest, where = None, ""
    for attribute in truth.table.attributes:
        names = truth.table.names
        true, held, rows = (
            margin(part, names, [attribute.name]) for part in (truth.as_is, truth.clipped, truth.records)
        )
        lost = np.divide(true - held, true, out=np.zeros(len(true)), where=(true != 0) & (rows >= 3))
        place = int(np.argmax(np.abs(lost)))
        if largest is None or abs(lost[place]) > abs(largest):
            leaf = attribute.levels.leaves[place]
            largest, where = float(lost[place]), f"{attribute.label}: {attribute.levels.label(leaf)}"
    return largest, where if largest else ""

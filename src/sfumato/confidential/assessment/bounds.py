"""Bounds: what clip, step and at_most took from the data before any noise was added."""

from dataclasses import dataclass

import numpy as np

from sfumato.confidential.assessment.comparisons import margin, share
from sfumato.confidential.assessment.truth import Truth
from sfumato.privacy import plain
from sfumato.statistics import Total


@dataclass(frozen=True)
class Bounds:
    """The share of the total that clip and step took, on balance, and that at_most took besides; the rows left out.

    `worst` is the margin of one attribute, and the level in it, that lost the largest share to clip and step.
    """

    clip: str
    total: float | None
    clipped: float | None
    worst: float | None
    worst_level: str
    rows: int
    dropped: int
    left_out: float | None


def bounds(truth: Truth) -> Bounds:
    """What the bounds of one measure cost; noise comes on top."""
    total, clipped, kept = (float(part.sum()) for part in (truth.as_is, truth.clipped, truth.kept))
    rows = int(truth.records.sum())
    if not truth.measure.of.additive:
        return Bounds(_clip(truth), None, None, None, "", rows, rows - truth.kept_rows, None)
    worst, level = _worst(truth)
    return Bounds(
        clip=_clip(truth),
        total=total,
        clipped=share(total - clipped, total),
        worst=worst,
        worst_level=level,
        rows=rows,
        dropped=rows - truth.kept_rows,
        left_out=share(clipped - kept, total),
    )


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

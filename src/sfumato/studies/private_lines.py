"""Lines in small cells, formally private and not: how far predictions at the 25th percentile are off, by cell size.

All get the same epsilon for one target. MOSE has no claim, and noisy counts beside it at no charge here; NoisyStats and
the smooth median take counts as public.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from sfumato.draws import SeededDraws
from sfumato.mechanisms import Mechanism
from sfumato.mechanisms.mose import Mose
from sfumato.mechanisms.noisy_stats import NoisyStats
from sfumato.mechanisms.theil_sen import TheilSen
from sfumato.privacy import Bounded, Unsummed
from sfumato.schema import Ragged
from sfumato.statistics.fitted import Fitted
from sfumato.studies.mose import ONE_ROW, Atlas
from sfumato.studies.study import Line

EPSILON = 4
SIZES = ((20, 50), (50, 100), (100, 200), (200, 10**6))
FITTED = Fitted("kid_rank", "parent_rank", at="0.25", step="0.001")
WITHIN = Unsummed(Bounded(2, 2, 2, 1), within=True)
WAYS: dict[str, tuple[Mechanism, Unsummed]] = {
    "theil-sen, exponential": (TheilSen(EPSILON, least=1), Unsummed(ONE_ROW)),
    "theil-sen, widened": (TheilSen(EPSILON, "widened", least=1), Unsummed(ONE_ROW)),
    "theil-sen, smooth (counts public)": (TheilSen(EPSILON, "smooth", least=1), WITHIN),
    "noisy-stats (counts public)": (NoisyStats(EPSILON), WITHIN),
}


def errors(atlas: Atlas) -> dict[str, np.ndarray]:
    """How far each way is off in every cell that it shows; not a number where it shows none."""
    (of,), step = FITTED.aggregates, float(FITTED.step)
    points = np.stack([np.rint(atlas.y / step), np.rint(atlas.x / step)], axis=-1).astype(np.int64)
    columns = {of: Ragged(atlas.offsets, points)}
    true = atlas.lines.value(atlas.lines.moments)
    cells = replace(atlas.cells, values=FITTED.value(columns), step=FITTED.step, columns=columns)
    found = {}
    for name, (mechanism, move) in WAYS.items():
        noisy = mechanism.perturb(replace(cells, move=move), SeededDraws(1))
        assert noisy.statuses is not None  # noqa: S101 - all of them may leave cells out
        found[name] = np.where(noisy.statuses.which == 0, np.abs(noisy.values * step - true), np.nan)
    mose = atlas.published(Mose(Fraction(EPSILON), least=20), atlas.counted("1", 2), 3)
    shown = mose.public["variance"] > 0
    found["mose, one chi (no claim)"] = np.where(shown, np.abs(mose.values * float(mose.step) - true), np.nan)
    return found


def lines(runs: int, rows: int, tell: object = None) -> list[Line]:  # noqa: ARG001 - one run, and it is quick
    atlas = Atlas.drawn(rows)
    off, told = errors(atlas), []
    for name, far in off.items():
        parts = []
        for low, high in SIZES:
            some = (atlas.counts >= low) & (atlas.counts < high)
            shown = np.isfinite(far[some])
            lost = f" ({100 * (1 - shown.mean()):.0f}% ⊥)" if shown.mean() < 1 else ""
            parts.append((f"{np.nanmedian(far[some]):.3f}" if shown.any() else "none") + lost)
        told.append(Line(name, "", " / ".join(parts)))
    return told

"""The weighted hypercube of Li and Krenzke's table 3, why it hides nothing, and what sound weights cost."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.draws import Draws, SeededDraws, TwoSidedGeometric
from sfumato.mechanisms import AverageWeight, Geometric
from sfumato.plan import Measure
from sfumato.release.noisy import Floats
from sfumato.statistics import Total
from sfumato.studies.ors import cells, cube
from sfumato.studies.study import Line
from sfumato.synth.ors import paper_set

EPSILON, CAP = 2, 7
CLIP, STEP = 1500, 10
"""The sound route's public bounds on a weight; the synthetic weights are lognormal around 400."""


def weighted(cases: pa.Table) -> Floats:
    """The true weighted hypercube."""
    true = cells(cases, cube())
    return np.asarray(true.values * float(true.step))


def _noisy(cases: pa.Table, measure: Measure, draws: Draws) -> Floats:
    noisy = measure.with_.perturb(cells(cases, measure), draws)
    return np.asarray(noisy.values * float(noisy.step))


def as_published(cases: pa.Table, draws: Draws) -> Floats:
    """Table 3: capped noise on the count, times the average weight, added to the weighted cell. It is not private."""
    return _noisy(cases, replace(cube(), with_=AverageWeight(EPSILON, CAP)), draws)


def largest_weight(cases: pa.Table, draws: Draws) -> Floats:
    """Rinott's rule: noise scaled to the largest weight, which is read off the data and so is outside the claim too."""
    true, largest = weighted(cases), Fraction(float(np.max(cases["weight"].to_numpy())))
    return true + TwoSidedGeometric(EPSILON / largest).draw(true.size, draws).reshape(true.shape)


def sound(cases: pa.Table, draws: Draws) -> Floats:
    """Each weight held to a public bound and rounded to a public step, noise on that lattice: exactly epsilon."""
    clipped = Total("weight", clip=(0, CLIP), step=STEP)
    return _noisy(cases, replace(cube(), of=clipped, with_=Geometric(EPSILON)), draws)


def lattice_attack(published: Floats, step: float = 1e-3) -> NDArray[np.bool_]:
    """Which cells an attacker says are occupied: those off the lattice that the commonest non-zero value spans.

    Numbers are rounded to a step, so that the n-th multiple may lie n + 1 halves of it off.
    """
    sizes, counts = np.unique(np.round(np.abs(published[published != 0]), 6), return_counts=True)
    spacing = sizes[np.argmax(counts)]
    nearest = np.round(published / spacing)
    return np.asarray(np.abs(published - nearest * spacing) > 0.51 * step * (np.abs(nearest) + 1))


def recall_and_false_alarms(published: Floats, cases: pa.Table) -> tuple[float, float]:
    """The shares of occupied and of empty cells that the attack calls occupied."""
    occupied = weighted(cases) > 0
    called = lattice_attack(published)
    return float(called[occupied].mean()), float(called[~occupied].mean())


def table_3(runs: int) -> list[Line]:
    """The attack and the error of each way to weight, over some data sets."""
    ways = {"as published (average weight)": as_published, "largest weight": largest_weight, "sound (clipped)": sound}
    lines = []
    for name, way in ways.items():
        found, errors = [], []
        for seed in range(1, runs + 1):
            cases = paper_set(seed=seed)
            published = way(cases, SeededDraws(seed))
            found.append(recall_and_false_alarms(published, cases))
            errors.append(published.sum() - weighted(cases).sum())
        recall, alarms = np.mean(found, axis=0)
        attack = f"{recall:.1%} of occupied, {alarms:.1%} of empty cells called occupied"
        lines.append(Line(f"lattice attack, {name}", "", attack, f"rms error of the total {np.std(errors):,.0f}"))
    return lines

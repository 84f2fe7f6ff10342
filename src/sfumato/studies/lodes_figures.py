"""Haney et al. 2017, figures 3, 4 and 5: mechanisms for sizes of employers beside the noise infusion in use."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from math import log, nan, sqrt
from typing import Any

import numpy as np

from sfumato.errors import how_many
from sfumato.studies.lodes_cells import EVERYWHERE, Floats, Marginal, Say, marginals
from sfumato.studies.lodes_laws import LAWS, PAPER, SizeNoise
from sfumato.studies.study import Line

ALPHAS, EPSILONS = (0.01, 0.05, 0.1, 0.15, 0.2), (0.25, 0.5, 1.0, 2.0, 4.0)
FIGURES = {3: "L1 ratio", 4: "Spearman correlation", 5: "L1 ratio"}
KINDS = 10
"""Of workers by sex and education, those below 30 years included."""
DOMINATED, SPREAD = 0.75, 8
"""One employer dominates a cell from three quarters of its jobs on; they are spread where none has over an eighth."""


@dataclass(frozen=True)
class FigurePoint:
    """One point of a figure: the mean over trials, its standard error, and what the law itself says where it does."""

    figure: int
    measure: str
    places: str
    mechanism: str
    alpha: float
    epsilon: float
    mean: float
    standard_error: float
    expected: float


@cache
def made(jobs: int, say: Say) -> tuple[Marginal, Marginal]:
    """The two marginals, once for all figures."""
    return marginals(jobs, say)


@cache
def points(figure: int, runs: int, jobs: int, say: Say) -> tuple[FigurePoint, ...]:
    """All points of a figure; a mechanism has none where it is not defined."""
    of = made(jobs, say)[figure == 5]
    infused = [of.infused(1 + run) for run in range(runs)]
    masks = {name: of.within(name) for name in of.strata}
    found: list[FigurePoint] = []
    for law in LAWS:
        say(f"figure {figure}: {law.name}")
        for alpha in ALPHAS:
            for epsilon in EPSILONS:
                if epsilon > law.least(alpha):
                    found += _points(figure, of, infused, masks, law, alpha, epsilon)
    return tuple(found)


def _points(
    figure: int,
    of: Marginal,
    infused: list[Floats],
    masks: dict[str, Any],
    law: SizeNoise,
    alpha: float,
    epsilon: float,
) -> Iterator[FigurePoint]:
    trials: dict[str, list[float]] = {name: [] for name in masks}
    for run, published in enumerate(infused):
        seed = np.random.SeedSequence((figure, LAWS.index(law), round(1e4 * alpha), round(1e4 * epsilon), run))
        noisy = law.drawn((of.jobs, of.largest), alpha, epsilon, np.random.Generator(np.random.PCG64(seed)))
        for name, mask in masks.items():
            trials[name].append(_compared(figure, of.jobs[mask], noisy[mask], published[mask]))
    errors = law.expected(of.jobs, of.largest, alpha, epsilon)
    for name, mask in masks.items():
        of_infusion = np.mean([np.abs(one - of.jobs)[mask].sum() for one in infused])
        expected = nan if figure == 4 else float(errors[mask].sum() / of_infusion)
        drawn = np.array(trials[name])
        spread = float(drawn.std(ddof=1) / sqrt(len(drawn))) if len(drawn) > 1 else nan
        place = (name, law.name, alpha, epsilon)
        yield FigurePoint(figure, FIGURES[figure], *place, float(drawn.mean()), spread, expected)


def _compared(figure: int, jobs: Floats, noisy: Floats, published: Floats) -> float:
    """How far a mechanism is off over how far noise infusion is, or how alike both rank the cells."""
    if figure == 4:
        return spearman(noisy, published)
    return float(np.abs(noisy - jobs).sum() / np.abs(published - jobs).sum())


def spearman(one: Floats, other: Floats) -> float:
    """The correlation of ranks, those of equal numbers averaged.

    >>> round(spearman(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0])), 3)
    0.8
    """
    if len(one) < 2:
        return nan
    return float(np.corrcoef(ranks(one), ranks(other))[0, 1])


def ranks(values: Floats) -> Floats:
    """The rank of every value from 1 on, the mean rank where values are equal.

    >>> ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, back, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[back], dtype=np.float64)


def slope(some: list[FigurePoint]) -> float:
    """The slope of the logarithm of the ratio on that of epsilon."""
    return float(np.polyfit([log(one.epsilon) for one in some], [log(one.mean) for one in some], 1)[0])


def lines(figure: int, runs: int, jobs: int, say: Say) -> list[Line]:
    """The points of all places, and what the paper finds."""
    found, shown = points(figure, runs, jobs, say), []
    for alpha in ALPHAS:
        for epsilon in EPSILONS:
            here = {
                one.mechanism: one
                for one in found
                if (one.places, one.alpha, one.epsilon) == (EVERYWHERE, alpha, epsilon)
            }
            told = " / ".join(f"{here[law.name].mean:.3g}" if law.name in here else "-" for law in LAWS)
            errors = max((one.standard_error for one in here.values()), default=nan)
            shown.append(Line(f"alpha {alpha:g}, epsilon {epsilon:g}", "", told, f"standard error up to {errors:.2g}"))
    return shown + (_findings(figure, found, made(jobs, say)) if figure != 4 else _by_size(found))


def _by_size(found: tuple[FigurePoint, ...]) -> list[Line]:
    """Figure 4 by the size of places, at alpha 0.1 and epsilon 1."""
    strata = dict.fromkeys(one.places for one in found)
    shown = []
    for name in strata:
        here = {one.mechanism: one for one in found if (one.places, one.alpha, one.epsilon) == (name, 0.1, 1.0)}
        told = " / ".join(f"{here[law.name].mean:.3g}" if law.name in here else "-" for law in LAWS)
        shown.append(Line(f"alpha 0.1, epsilon 1: {name}", "", told))
    return shown


def _findings(figure: int, found: tuple[FigurePoint, ...], of: tuple[Marginal, Marginal]) -> list[Line]:
    shown = _by_size(found)
    for law in PAPER[1:]:
        slopes = [
            slope(own)
            for alpha in ALPHAS
            if len(own := [p for p in found if (p.places, p.mechanism, p.alpha) == (EVERYWHERE, law.name, alpha)]) > 1
        ]
        told = f"{min(slopes):.3f} to {max(slopes):.3f}"
        remark = "the error is a constant over epsilon"
        shown.append(Line(f"slope of log ratio on log epsilon, {law.name}", "", told, remark, derived="-1"))
    for one in PAPER:
        least = ", ".join(f"{one.least(alpha):.3f}" for alpha in ALPHAS)
        shown.append(Line(f"no number up to epsilon, {one.name}", "", least, "alpha 0.01 to 0.2"))
    return shown + (
        [_dominated(of[0], "mostly one employer's"), _dominated(of[0], "spread")] if figure == 3 else [*_whole(of[1])]
    )


def _dominated(of: Marginal, which: str) -> Line:
    """Mean absolute errors at alpha 0.1 and epsilon 1 of cells that one employer dominates, or of which none does."""
    mask = of.largest >= DOMINATED * of.jobs if which != "spread" else of.jobs >= SPREAD * of.largest
    mask &= of.jobs >= 50
    errors = [
        f"{law.expected(of.jobs[mask], of.largest[mask], 0.1, 1.0).mean():.3g}" if mask.any() else "-" for law in LAWS
    ]
    words = f"mean |error| at alpha 0.1, epsilon 1, cells of 50 jobs and more that are {which}"
    return Line(words, "", " / ".join(errors), how_many(int(mask.sum()), "cell"))


def _whole(of: Marginal) -> Iterator[Line]:
    """Workload 3: all cells by sex and education of a cell of workplaces at once, whose losses add."""
    infused = np.abs(of.infused(1) - of.jobs).sum()
    for alpha, epsilon in ((0.01, 4.0), (0.01, 10.0), (0.05, 10.0), (0.1, 10.0)):
        given = {law: law.own(epsilon, KINDS) for law in LAWS}
        ratios = [
            f"{law.expected(of.jobs, of.largest, alpha, own).sum() / infused:.3g}" if own > law.least(alpha) else "-"
            for law, own in given.items()
        ]
        words = f"workload 3, the whole marginal: alpha {alpha:g}, epsilon {epsilon:g} over {KINDS} kinds"
        yield Line(words, "", " / ".join(ratios), "expected")


def records(figure: int, runs: int, jobs: int, say: Say) -> list[dict[str, Any]]:
    """Every point as a row, for a file."""
    return [asdict(one) for one in points(figure, runs, jobs, say)]

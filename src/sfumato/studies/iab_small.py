"""The mayor's simulation on 40 cells: sex, foreign, employed and five postal codes, 5,000 times.

Only totals are asked, so only totals are drawn: a sum of m two-sided geometric draws is the difference of two negative
binomial ones, as a two-sided geometric draw is the difference of two geometric ones. Simulated with numpy.
"""

import math

import numpy as np

from sfumato.release.noisy import Floats
from sfumato.studies.iab_mayor import QUESTIONS, TRUTH, MayorAsks, Summary, Z
from sfumato.studies.study import Line

CELLS = np.array([10.0, 10.0, 10.0, 10.0])
"""Sexes times postal codes, in each group of people."""
PUBLISHED = {
    "# not employed": (8023.17, 1.02, 94.5, 23.79),
    "# not employed foreigners": (2258.12, 1.01, 94.7, 16.82),
    "% not employed": (18.81, 1.02, 95.34, 0.05),
    "% not employed among foreigners": (40.09, 0.99, 94.78, 0.22),
}
RATES = {"as published": 1.0, "sound": 0.5}
"""Epsilon 1 over the sensitivity: 1 where people come and go; 2 where one is replaced, as cluster sizes are public."""


def variance_of(rate: float) -> float:
    """The variance of two-sided geometric noise, 2a / (1 − a)² with a = e^−rate.

    >>> round(variance_of(1.0), 6), round(variance_of(0.5), 3)
    (1.841347, 7.835)
    """
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2


def noisy_totals(cells: Floats, rate: float, runs: int, rng: np.random.Generator) -> Floats:
    """The true totals of the groups with the noise of all their cells, a line a run."""
    drawn = [rng.negative_binomial(cells, -math.expm1(-rate), (runs, len(cells))) for _ in range(2)]
    return np.asarray(TRUTH + drawn[0] - drawn[1], dtype=np.float64)


def lines(runs: int) -> list[Line]:
    """The four answers as in the slides, at their noise and at the noise that their promise needs."""
    found = []
    for way, rate in RATES.items():
        totals = noisy_totals(CELLS, rate, runs, np.random.default_rng(1))
        for question in QUESTIONS:
            published = PUBLISHED[question.name] if way == "as published" else None
            found += summed_up(f"{way}: {question.name}", question, totals, CELLS, variance_of(rate), published)
    return found


def summed_up(
    name: str,
    question: MayorAsks,
    totals: Floats,
    cells: Floats,
    variance: float,
    published: tuple[float, float, float, float] | None,
    *,
    exact: bool = True,
) -> list[Line]:
    """Four numbers a question beside those of the slides; of unbiased ones what the law says, and Fieller's."""
    ours = Summary.of(question, totals, cells, variance)
    numbers = (
        f"{ours.average:,.2f}",
        f"{ours.variance_ratio:.2f}",
        f"{100 * ours.coverage:.1f}",
        f"{ours.length:,.3f}" if not question.under else f"{ours.length:.4f}",
    )
    heads = ("average", "variance ratio", "coverage, %", "length of the interval")
    printed = [f"{one:,}" for one in published] if published else [""] * 4
    remarks = ["", "", "" if question.under or not exact else _by_law(question, cells, variance), ""]
    remarks[3] = _beside(question, totals, cells, variance) if question.under and exact else ""
    return [
        Line(f"{name}: {head}", one, other, remark)
        for head, one, other, remark in zip(heads, printed, numbers, remarks, strict=True)
    ]


def _by_law(question: MayorAsks, cells: Floats, variance: float) -> str:
    """How often the interval of a total holds, by the law of the noise: totals move in whole steps."""
    from scipy.stats import nbinom

    count = float(cells[list(question.over)].sum())
    # variance = 2a / (1 − a)², solved for a.
    chance = 1 - (1 + 1 / variance - math.sqrt((1 + 1 / variance) ** 2 - 1))
    far, reach = int(40 * math.sqrt(count * variance)), math.floor(Z * math.sqrt(count * variance))
    middle = int(count * (1 - chance) / chance)
    low = max(0, middle - far)
    half = nbinom.pmf(np.arange(low, middle + far), count, chance)
    held = sum(float(half[lag:] @ half[: len(half) - lag]) * (2 if lag else 1) for lag in range(reach + 1))
    return f"by the law {100 * held:.1f}"


def _beside(question: MayorAsks, totals: Floats, cells: Floats, variance: float) -> str:
    ends = question.fieller(totals, cells, variance)
    truth = float(question.estimate(TRUTH))
    held = float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())
    at_truth = 2 * Z * math.sqrt(float(question.variance(TRUTH[None], cells, variance)[0]))
    return (
        f"at the truth {at_truth:.4f}; Fieller's: {float(np.ptp(ends, axis=1).mean()):.4f} long, {100 * held:.1f}% held"
    )

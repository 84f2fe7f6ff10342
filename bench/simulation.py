"""The mayor's simulation on 160,364 cells, 5,000 runs: all cells, beside numpy's; totals alone, beside all cells.

Workload: geometric noise at epsilon 1 on every cell of a table the size of Fürth's, and of each run four sums (signed,
below 0, how many are, weighted by records) of four groups of people. numpy draws
`rng.geometric(p, n) - rng.geometric(p, n)` and sums with its own functions, in fewer runs, and its time is scaled. The
shortcut draws totals alone, each the difference of two negative binomial numbers. CPU seconds of this process, one
thread, after a warm-up.
"""

import math
import time
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from bench.line import Goal, Line

from sfumato.draws import SystemDraws
from sfumato.kernels import signs
from sfumato.studies.iab_full import Furth, simulated
from sfumato.studies.iab_small import noisy_totals, variance_of

GROUPS = 853 * np.array([4, 4, 90, 90])


def lines(*, quick: bool = False) -> Iterator[Line]:
    runs = 100 if quick else 5_000
    few, rng = runs // 50, np.random.default_rng()
    furth = Furth(np.zeros(GROUPS.sum(), dtype=np.int64), np.cumsum(GROUPS))
    simulated(furth, Fraction(1), 16, SystemDraws())
    ours, found = _cpu(lambda: simulated(furth, Fraction(1), runs, SystemDraws()))
    theirs, plain = _cpu(lambda: np.array([_numpy(furth, rng) for _ in range(few)]))
    agree = _alike(found["signed"], runs) and _alike(plain, few)
    yield Line(
        f"{runs:,} runs of {GROUPS.sum():,} cells", "CPU s", ours, "numpy", theirs * runs / few, cpu=ours,
        cpu_theirs=theirs * runs / few, agree=agree, goal=Goal(5), note=f"numpy drew {few:,} runs",
    )  # fmt: skip
    sizes = furth.sizes
    noisy_totals(sizes, 1.0, runs, rng)
    short, totals = _cpu(lambda: [noisy_totals(sizes, 1.0, runs, rng) for _ in range(20)])
    yield Line(
        f"{runs:,} runs, totals alone", "CPU s", short / 20, "all cells, as above", ours, cpu=short / 20,
        cpu_theirs=ours, agree=_alike(totals[0] - totals[0].mean(axis=0), runs), goal=Goal(500),
        note="the mean of 20 times",
    )  # fmt: skip


def _cpu(work: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    made = work()
    return time.process_time() - start, made


def _numpy(furth: Furth, rng: np.random.Generator) -> np.ndarray:
    p, n = -math.expm1(-1.0), len(furth.cells)
    return signs.summed(rng.geometric(p, n) - rng.geometric(p, n), furth.cells, furth.ends).signed


def _alike(totals: np.ndarray, runs: int) -> bool:
    """Whether variances of totals are those of the law, within 6.2 standard errors."""
    found = np.mean(np.square(totals), axis=0) / (GROUPS * variance_of(1.0))
    return bool((np.abs(found - 1) < 6.2 * math.sqrt(2 / runs)).all())

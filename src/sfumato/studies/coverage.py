"""How often a margin holds the truth: of every law and of sums of few and many cells, and of noise on square roots.

Of additive noise the chance is computed, from the law itself convolved with itself; of roots it is simulated with
numpy, and known to about a tenth of a point at the default number of draws.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from sfumato.draws import DiscreteNormal, Law, RoundedNormal, TruncatedGeometric, TwoSidedGeometric
from sfumato.mechanisms.additive import stated_noise
from sfumato.release.error_law import NoisyTotals
from sfumato.release.noisy import Floats
from sfumato.release.root_error import RootError
from sfumato.studies.calibrated_coverage import MOST_GROUPS, calibrated, covered
from sfumato.studies.study import Line

SUMS = (1, 2, 3, 5, 10, 20, 40, 60)
LEVELS = (0.90, 0.95, 0.99)
SIZES, ROWS, WIDTHS = (1, 2, 3, 5, 10, 100), (1, 2, 3, 10), (0.33, 0.5, 1.0, 2.0)
WAGES, WAGE_WIDTHS = (5_000, 20_000, 100_000, 2_000_000), (50 / 0.7, 50 / 0.3)
"""Dollars of small and large establishments, and noise on their roots at beta 50 and mu 0.7 or 0.3."""
LAWS: dict[str, Law] = {
    **{
        f"geometric, epsilon {e}": TwoSidedGeometric(Fraction(e)) for e in ("0.05", "0.1", "0.25", "0.5", "1", "2", "4")
    },
    **{
        f"geometric, epsilon {e}, at most {cap}": TruncatedGeometric(Fraction(e), cap)
        for e, cap in (("0.2", 2), ("0.5", 7), ("1", 1), ("1", 7), ("2", 3), ("2", 7), ("3", 5))
    },
    **{f"discrete normal, sigma² {v}": DiscreteNormal(Fraction(v)) for v in ("0.05", "0.25", "1", "4", "100", "400")},
    **{f"rounded normal, sigma² {v}": RoundedNormal(Fraction(v)) for v in ("0.05", "0.25", "1", "4", "100", "400")},
}


def lines(runs: int) -> list[Line]:
    """The least chance that a margin holds the truth, a line a law and level; `published` is what it promises."""
    found = []
    for name, law in LAWS.items():
        of_sums = {cells: summed(law, cells) for cells in SUMS}
        for level in LEVELS:
            chances = [held(law, of_sums[cells], cells, level) for cells in SUMS]
            normal = min(within(of_sums[cells], _normal(law, cells, level)) for cells in SUMS)
            found.append(Line(name, f"{level:.0%}", _ends(chances), f"z errors alone: {100 * normal:.1f}% at least"))
    return [*found, *_of_roots(runs), *_of_calibrated(runs)]


def _of_roots(runs: int) -> list[Line]:
    """Rows of one size, rows of unequal sizes, and wages, with noise on their square roots."""
    cases = {f"square roots, {_rows(rows)} of size 1 to 100": [(size,) * rows for size in SIZES] for rows in ROWS}
    cases |= {"square roots, rows of unequal sizes, 1 to 100 and 1 to 1,000": [SIZES, (*SIZES, 1000)]}
    found = []
    for name, sizes in cases.items():
        for level in LEVELS:
            chances = [rooted(one, width, level, runs) for one in sizes for width in WIDTHS]
            found.append(Line(name, f"{level:.0%}", _ends(chances)))
    for rows in ROWS:
        for level in LEVELS:
            chances = [rooted((wage,) * rows, width, level, runs) for wage in WAGES for width in WAGE_WIDTHS]
            found.append(Line(f"square roots, wages of {_rows(rows)}", f"{level:.0%}", _ends(chances)))
    return found


def _of_calibrated(runs: int) -> list[Line]:
    """Rows that were moved to noisy totals of their groups, each by itself and all of a group."""
    groups = min(runs, MOST_GROUPS)
    product, truth = calibrated(SIZES, groups), np.tile(np.array(SIZES, dtype=np.float64), groups)
    found = []
    for level in LEVELS:
        each = covered(product, ("group", "row"), truth, level).mean(axis=0).tolist()
        found.append(Line("square roots, calibrated rows of size 1 to 100", f"{level:.0%}", _ends(each)))
    for level in LEVELS:
        all_ = [float(covered(product, ("group",), np.full(groups, truth[: len(SIZES)].sum()), level).mean())]
        found.append(Line(f"square roots, totals of {len(SIZES)} calibrated rows", f"{level:.0%}", _ends(all_)))
    return found


def _rows(count: int) -> str:
    return f"{count} row{'s' if count > 1 else ''}"


def _ends(chances: list[float]) -> str:
    return " to ".join(dict.fromkeys(f"{100 * end:.1f}%" for end in (min(chances), max(chances))))


def _normal(law: Law, cells: int, level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(cells * law.variance)


def summed(law: Law, cells: int) -> Floats:
    """The chances of a sum of draws, from as far below 0 to as far above it as matters, by repeated convolution."""
    from scipy.signal import fftconvolve

    far = int(30 * law.variance**0.5 + 20)
    one = law.pmf(np.arange(-far, far + 1))
    found, power = np.ones(1), one
    while cells:
        found, power = fftconvolve(found, power) if cells & 1 else found, fftconvolve(power, power)
        cells >>= 1
    return np.asarray(found, dtype=np.float64)


def within(chances: Floats, margin: float) -> float:
    """The chance that a sum is no further from 0 than a margin."""
    steps = np.abs(np.arange(len(chances)) - len(chances) // 2)
    return float(chances[steps <= margin + 1e-9].sum())


def held(law: Law, chances: Floats, cells: int, level: float) -> float:
    """The chance that the margin which a release states of a sum holds it."""
    total = NoisyTotals(*np.array([[0.0], [law.variance * cells], [0.0], [cells]]))
    return within(chances, float(stated_noise(law).law.reach(level, total)[0][0]))


def rooted(sizes: Sequence[float], width: float, level: float, runs: int) -> float:
    """How often the interval of a total of rows with noise on their roots holds it."""
    rows, truth = len(sizes), sum(sizes)
    noisy = np.sqrt(np.array(sizes, dtype=np.float64)) + width * np.random.default_rng(1).standard_normal((runs, rows))
    values = (noisy**2 - width**2).sum(axis=1)
    variances = 2 * rows * width**4 + 4 * width**2 * np.maximum(values, 0)
    law = RootError(width**2, np.maximum(values, 0))
    below, above = law.reach(level, NoisyTotals(values, variances, np.zeros(runs), np.full(runs, float(rows))))
    return float(((values - below <= truth) & (truth <= values + above)).mean())

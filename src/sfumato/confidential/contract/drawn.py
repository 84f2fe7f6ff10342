"""Noise as it was drawn, beside the law that is stated for it.

Each check has a false-alarm rate of 1e-9 or less. Power: 200,000 draws state a geometric variance to 0.53% and a normal
one to 0.32% (one standard deviation), and the threshold stands at 6.1 of those; noise with a standard deviation 5% too
small or too large is off by 18 or more of them, so it is missed less than once in 1e30. 5,000 draws would let it pass
more often than not.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm

from sfumato.draws import Law

FALSE_ALARM = 1e-9
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Drawn:
    """What two calls of a mechanism added to the same many cells; some of them may stand in groups."""

    law: Law
    first: Integers
    second: Integers
    groups: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)


def noise_is_unbiased(drawn: Drawn) -> list[str]:
    z = abs(float(drawn.first.mean())) / math.sqrt(drawn.law.variance / len(drawn.first))
    return [f"the noise has a mean {z:.1f} standard errors from 0"] if z > norm.isf(FALSE_ALARM / 2) else []


def variance_is_the_stated_one(drawn: Drawn) -> list[str]:
    """All cells together, and each group apart: the scale may not depend on the value."""
    law, said = drawn.law, []
    groups = {"any value": np.ones(len(drawn.first), dtype=bool), **drawn.groups}
    for name, inside in groups.items():
        noise = drawn.first[inside].astype(float)
        error = math.sqrt((law.fourth_moment - law.variance**2) / len(noise))
        z = (float(np.mean(noise**2)) - law.variance) / error
        if abs(z) > norm.isf(FALSE_ALARM / (2 * len(groups))):
            said.append(f"the variance of cells of {name} is {z:+.1f} errors off")
    return said


def tails_are_the_laws(drawn: Drawn) -> list[str]:
    """How many cells moved by m or more, for every m, against the binomial law of that count."""
    size = np.abs(drawn.first)
    m = np.unique(np.ceil(np.linspace(1, 8 * math.sqrt(drawn.law.variance) + 1, 40)))
    counts = np.array([np.count_nonzero(size >= one) for one in m])
    chances = drawn.law.survival(m)
    rare = np.minimum(binom.cdf(counts, len(size), chances), binom.sf(counts - 1, len(size), chances))
    worst = int(np.argmin(rare))
    if rare[worst] >= FALSE_ALARM / (2 * len(m)):
        return []
    expected = len(size) * float(chances[worst])
    return [f"{counts[worst]} cells moved by {m[worst]:.0f} or more, where {expected:.1f} are expected"]


def cells_are_independent(drawn: Drawn) -> list[str]:
    """The noise against itself shifted by any number of cells."""
    correlation = _correlations(drawn.first, drawn.first)[1:]
    return _too_large(correlation, len(drawn.first), "cells some way apart share noise")


def calls_are_independent(drawn: Drawn) -> list[str]:
    """The noise of one call against that of the next, in any alignment: no draw is used twice."""
    return _too_large(_correlations(drawn.first, drawn.second), len(drawn.second), "two calls share noise")


def _correlations(one: NDArray[Any], other: NDArray[Any]) -> Floats:
    left, right = (np.fft.rfft(part - part.mean()) for part in (one, other))
    spread = float(one.std() * other.std()) or math.inf
    return np.asarray(np.fft.irfft(left * np.conj(right), len(one)) / (len(one) * spread))


def too_large(noise: Floats, what: str) -> list[str]:
    """Complaints about noise that is like itself when it is shifted by any number of places."""
    return _too_large(_correlations(noise, noise)[1:], len(noise), what)


def _too_large(correlation: Floats, count: int, what: str) -> list[str]:
    largest = float(np.max(np.abs(correlation)))
    bound = norm.isf(FALSE_ALARM / (2 * len(correlation))) / math.sqrt(count)
    return [f"{what}: a correlation of {largest:.4f}"] if largest > bound else []


DRAWN_CHECKS = {
    "noise is unbiased": noise_is_unbiased,
    "variance is the stated one": variance_is_the_stated_one,
    "tails are the law's": tails_are_the_laws,
    "cells are independent": cells_are_independent,
    "calls are independent": calls_are_independent,
}

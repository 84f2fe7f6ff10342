"""An example of noise: two true values a tenth apart, what is published of either, and how often a test tells them."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sfumato.release.manifest import ALARM, CURVE, ExampleLine

Floats = NDArray[np.float64]
Below = Callable[[float, Floats], Floats]
"""The chance that what is published of a true value is below each of some edges."""
BINS = 4_000
"""Where published numbers are more than these, neighbouring ones are taken together."""
RARE, FAINT = 1e-9, 0.01
"""Chances that are not looked at further out, and how likely next to the likeliest is still drawn."""


def example(error: Callable[[float], float], below: Below, step: float) -> ExampleLine | None:
    """The line of the first pair that noise does not swamp, 100 and 110 or tenfold; none where it swamps them all."""
    sizes = (100.0 * 10**times for times in range(30))
    low = next((size for size in sizes if 0.1 * size >= max(error(size) / 2, step)), None)
    if low is None:
        return None
    # Both are whole steps, as all true values are; a promise must not sound better than it is, so rather one more.
    apart = step * math.ceil(0.1 * low / step - 1e-9)
    edges = _edges(low, low + apart, error(low), below, step)
    still, moved = (np.diff(below(true, edges), prepend=0.0, append=1.0) for true in (low, low + apart))
    beyond = np.flatnonzero(1 - below(low, edges) <= ALARM)
    curves = [_curve(true, error(low), below, step) for true in (low, low + apart)]
    return ExampleLine(
        low=low,
        high=low * 1.1,
        told_apart=min(1.0, math.ceil(1e4 * power(still, moved)) / 1e4),
        cut=float(edges[beyond[0]]) if len(beyond) else low + apart,
        of_low=curves[0],
        of_high=curves[1] if curves[1] != curves[0] else [],
    )


def power(still: Floats, moved: Floats) -> float:
    """How often the best test is right that is wrong ALARM of the time, by the chances of all outcomes.

    Outcomes are taken by their likelihood ratio until the level is used up (Neyman and Pearson 1933).

    >>> round(power(np.array([0.95, 0.05]), np.array([0.5, 0.5])), 3), round(power(np.ones(1), np.ones(1)), 3)
    (0.5, 0.05)
    """
    order = np.argsort(-moved / np.maximum(still, 1e-300), kind="stable")
    level, rightly = np.cumsum(still[order]), np.cumsum(moved[order])
    return float(np.interp(ALARM, np.append(0.0, level), np.append(0.0, rightly)))


def _edges(low: float, high: float, error: float, below: Below, step: float) -> Floats:
    """The ends of bins over all that is likely to be published of two values, one step a bin unless these are many."""
    far = max(error, step)
    while far < 1e6 * (high + error) and _outside(low, high, far, below) > RARE:
        far *= 1.5
    pitch = step * math.ceil((high - low + 2 * far) / (step * BINS))
    places = np.arange(-math.ceil(far / pitch), math.ceil((high - low + far) / pitch) + 1)
    return np.asarray(low - step / 2 + pitch * places, dtype=np.float64)


def _outside(low: float, high: float, far: float, below: Below) -> float:
    """The chance that the smaller is published as less, or the larger as more, by so much."""
    return float(below(low, np.array([low - far]))[0] + 1 - below(high, np.array([high + far]))[0])


def _curve(true: float, error: float, below: Below, step: float) -> list[tuple[float, float]]:
    """How likely what is published less what is true is, next to the likeliest, at a few places."""
    edges = _edges(true, true, error, below, step)
    chances = np.diff(below(true, edges))
    likely = np.flatnonzero(chances >= FAINT * chances.max())
    first, last = max(likely[0] - 1, 0), min(likely[-1] + 1, len(chances) - 1)
    count = min(CURVE, last - first + 1)
    places = np.unique(np.append(np.linspace(first, last, count - 1).round().astype(int), chances.argmax()))
    middles = (edges[1:] + edges[:-1]) / 2 - true
    return [(float(f"{middles[place]:.6g}"), float(f"{chances[place] / chances.max():.4g}")) for place in places]

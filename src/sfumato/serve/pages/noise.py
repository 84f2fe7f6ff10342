"""Noise: what the manifest says of the noise of one measure, ready to be drawn; no law is known here."""

import math
from collections.abc import Callable

import numpy as np

from sfumato.release.manifest import ExampleLine, ProductLine, SpendLine


def density(example: ExampleLine) -> Callable[[float, float], float]:
    """How likely a published value is, next to the likeliest, of either true value of an example.

    >>> shown = ExampleLine(low=100, high=110, told_apart=1, cut=105, of_low=[(-2, 0), (0, 1), (1, 0)])
    >>> density(shown)(99, 100), density(shown)(101.5, 100), density(shown)(109, 110)
    (0.5, 0.0, 0.5)
    """

    def likely(published: float, true: float) -> float:
        curve = example.of_low if true == example.low else example.of_high or example.of_low
        away, chances = zip(*curve, strict=True)
        return float(np.interp(published - true, away, chances, left=0.0, right=0.0))

    return likely


def standard_error(spend: SpendLine, line: ProductLine) -> float | None:
    """The standard error of a number of a measure; of older releases that of a cell, where all have the same."""
    if spend.noise is not None:
        return spend.noise.standard_error
    variance = line.uncertainty.get("variance") if line.uncertainty.get("kind") == "independent" else None
    return math.sqrt(variance) * float(line.step) if isinstance(variance, (int, float)) and variance > 0 else None

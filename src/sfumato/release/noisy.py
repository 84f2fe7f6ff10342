"""Noisy: what leaves a mechanism, integers of a public step and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy import Move
from sfumato.release.statuses import Statuses
from sfumato.schema import Domain

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Noisy:
    """The perturbed cells of a table, in steps, with whatever else the mechanism must make known and has paid for."""

    domain: Domain
    values: Integers
    step: Fraction
    move: Move
    public: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    places: Integers | None = None
    """Of a sparse table: the numbers, increasing, of the cells that are not 0, which alone are listed."""
    statuses: Statuses | None = None
    """Which cells hold no number, and why, where that was paid for with the rest or is in what was given."""
    note: str = ""
    """What else was made known, as a sentence for readers; the plan lists it as an exposure."""

"""How the privacy card of a release tells a measure: what it is by, its cost, its noise; no law is known here."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.query import number
from sfumato.query.downloads.about import in_100
from sfumato.query.wording import Words
from sfumato.release.manifest import ExampleLine, ProductLine, SpendLine
from sfumato.schema import Attribute


@dataclass(frozen=True)
class Measured:
    """One measure of a release: what it cost, how often it gives one unit away at best, and what its noise is like."""

    spend: SpendLine
    line: ProductLine | None
    told: int | None

    @property
    def example(self) -> ExampleLine | None:
        """Two true values through the noise, where the release says how they look."""
        return self.spend.noise.example if self.spend.noise and self.line else None

    @property
    def pair(self) -> tuple[str, str] | None:
        """The two true values of the example."""
        return (number(self.example.low), number(round(self.example.high))) if self.example else None

    @property
    def apart(self) -> int | None:
        """How often they are told apart at best, of 100."""
        return in_100(self.example.told_apart) if self.example else None

    @property
    def se(self) -> float | None:
        """A standard error: of any cell, of a row of the example's size, or of a group by its largest row.

        Of releases that do not say what their noise is like it is that of a cell, where all have the same.
        """
        if self.line is None:
            return None
        if self.spend.noise is not None:
            return self.spend.noise.standard_error
        stated = self.line.uncertainty
        variance = stated.get("variance", 0) if stated.get("kind") == "independent" else 0
        return math.sqrt(variance) * float(self.line.step) if variance > 0 else None

    def where(self, unit: str, said: Words) -> str:
        """For which cells that standard error holds, where it is not for all."""
        noise = self.spend.noise
        if noise is None or noise.size is None or noise.at == "any":
            return ""
        size = said.figure(number(noise.size))
        return (
            said("privacy.se_at", size=size) if noise.at == "size" else said("privacy.se_largest", unit=unit, size=size)
        )


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


def level_of(written: str, labels: Mapping[str, Attribute | str], said: Words) -> str:
    """A variable and the level that it stands at, by the digits of its codes where they all have as many."""
    name, at, depth = written.partition("@")
    found = labels.get(name, name)
    if not isinstance(found, Attribute) or not at or not depth.isdigit():
        return found.label if isinstance(found, Attribute) else found
    levels = found.levels.whole or found.levels  # a table may be cut off at a depth of its own
    codes = [code for code in levels.codes if levels.depths[code] == int(depth)]
    digits = {len(code) for code in codes if code.isdigit()}
    if len(digits) == 1 and all(code.isdigit() for code in codes):
        return said("privacy.digits", name=found.label, count=digits.pop())
    return said("privacy.level", name=found.label, level=int(depth) + 1, levels=levels.depth + 1)

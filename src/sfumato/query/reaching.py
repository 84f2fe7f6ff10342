"""Reaching: how much farther than noise intervals go for what a clip may have cut; of differences, sums and ratios."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sfumato.release.error_law import Floats

SHARE = 0.2
"""The share of the risk of an interval that is spent on bounds of what was cut."""


class Reaching(Protocol):
    """How far the intervals of some numbers go beyond their noise."""

    def allowance(self, risk: float) -> tuple[Floats, Floats]:
        """How much farther below and above, at this risk."""

    def only(self, some: Any) -> "Reaching":
        """That of some of the numbers."""


@dataclass(frozen=True, eq=False)
class ComparedExcess:
    """The same of differences: what was cut of one number lets it lie higher, what was cut of the other lower."""

    one: "MayReach"
    other: "MayReach"

    def allowance(self, risk: float) -> tuple[Floats, Floats]:
        first, second = self.one.allowance(risk / 2), self.other.allowance(risk / 2)
        return first[0] + second[1], first[1] + second[0]

    def only(self, some: Any) -> Reaching:
        return SomeExcess(self, some)


@dataclass(frozen=True, eq=False)
class AddedExcess:
    """The same of sums, or of means of them."""

    parts: "tuple[MayReach, ...]"
    scale: float = 1.0

    def allowance(self, risk: float) -> tuple[Floats, Floats]:
        each = [one.allowance(risk / len(self.parts)) for one in self.parts]
        below, above = (np.add.reduce(list(side)) * self.scale for side in zip(*each, strict=True))
        return below, above

    def only(self, some: Any) -> Reaching:
        return SomeExcess(self, some)


@dataclass(frozen=True, eq=False)
class SomeExcess:
    """That of some of many numbers."""

    every: Reaching
    some: Any

    def allowance(self, risk: float) -> tuple[Floats, Floats]:
        below, above = self.every.allowance(risk)
        return below[self.some], above[self.some]

    def only(self, some: Any) -> Reaching:
        return SomeExcess(self, some)


@dataclass(frozen=True, eq=False)
class RatioExcess:
    """What was cut of a numerator and of its denominator, of which a ratio works out how far it may lie off."""

    over: Reaching | None
    under: Reaching | None
    inside: bool
    """Whether the numerator is a part of the denominator."""

    def shifts(self, risk: float) -> tuple[tuple[Floats | float, Floats | float], ...]:
        """How much larger both may truly be, at the corners between which the true ones lie."""
        over, under = (0.0 if one is None else one.allowance(risk / 2)[1] for one in (self.over, self.under))
        return (0.0, under), (over, over if self.inside else 0.0)

    def allowance(self, risk: float) -> tuple[Floats, Floats]:
        raise LookupError(f"The ratio itself says how far it lies off at {risk}.")

    def only(self, some: Any) -> "RatioExcess":
        return RatioExcess(self.over and self.over.only(some), self.under and self.under.only(some), self.inside)


def ratio_excess(over: Reaching | None, under: Reaching | None, *, inside: bool) -> RatioExcess | None:
    """That of one number over another; none where nothing was bought of either."""
    return None if over is None and under is None else RatioExcess(over, under, inside)


def noisy_level(risk: float) -> float:
    """The level at which noise is counted where bounds of what was cut may fail at this risk, as `risks` has it.

    >>> round(noisy_level(0.01), 12)
    0.92
    """
    return 1 - 2 * risk / SHARE * (1 - SHARE)


def risks(level: float) -> tuple[float, float]:
    """The level at which noise is counted, and the risk on either side that bounds of what was cut may fail.

    >>> tuple(round(one, 12) for one in risks(0.90))
    (0.92, 0.01)
    """
    return 1 - (1 - level) * (1 - SHARE), (1 - level) * SHARE / 2


class MayReach(Protocol):
    """A number, or many, that may reach farther."""

    @property
    def bought(self) -> Reaching | None: ...

    def allowance(self, risk: float) -> tuple[Floats, Floats]: ...


def compared_excess(one: MayReach, other: MayReach) -> ComparedExcess | None:
    """That of one number, or of many, minus another; none where nothing was bought of either."""
    return None if one.bought is None and other.bought is None else ComparedExcess(one, other)

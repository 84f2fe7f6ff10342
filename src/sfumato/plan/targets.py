"""Targets: how exact a number of a measure is to be, as people write it, and what its noise makes of that."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

from sfumato.errors import PlanError
from sfumato.mechanisms import Mechanism, Typical
from sfumato.plan.right_tail import TAIL, right_tail_chance
from sfumato.privacy import Move
from sfumato.release import Withheld
from sfumato.release.figures import number as written_number

LEVEL = 0.90
"""How often numbers are within the margins that are asked for, where nobody says."""


class AccuracyTarget(ABC):
    """How exact numbers of a measure are to be; `size` and `largest` are what they typically are, by public knowledge.

    What is `reached` is a margin, or a chance; `wanted` is the one that is asked for.
    """

    measure: str
    size: float | None
    largest: float | None

    @property
    @abstractmethod
    def wanted(self) -> float:
        """What is asked for, as what is reached is told."""

    @abstractmethod
    def reached(self, mechanism: Mechanism, move: Move, number: Typical) -> float | Withheld:
        """What noise makes of a number, or why that cannot be told before there are data."""

    @abstractmethod
    def words(self, reached: float) -> str:
        """What that comes to, in the terms of the target."""

    @abstractmethod
    def widened(self, factor: float) -> Self:
        """The same with a margin so many times as wide."""

    @property
    def in_units(self) -> float | None:
        """The margin in the unit of the measure, where one is asked for."""
        return None

    def met(self, reached: float) -> bool:
        return reached <= self.wanted

    def _refuse_nothing(self, **given: float | None) -> None:
        """Say so where a number that has to be above 0 is not."""
        for name, value in given.items():
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise PlanError(f"The target of '{self.measure}' has {name} {value:g}; it must be above 0.")


@dataclass(frozen=True)
class Target(AccuracyTarget):
    """The margin of error, 90%, that a number of a measure may have by noise, as its release will state it.

    Where the `aim` of many tables is the target, the margin is of what cells have over what they are to have.
    """

    measure: str
    margin: float
    size: float | None = None
    largest: float | None = None
    aim: bool = False
    shared: bool = False
    """Whether it was written as a share of the size."""

    def __post_init__(self) -> None:
        self._refuse_nothing(margin=self.margin, size=self.size, largest=self.largest)

    @property
    def wanted(self) -> float:
        return self.margin

    @property
    def in_units(self) -> float | None:
        return None if self.aim else self.margin

    def reached(self, mechanism: Mechanism, move: Move, number: Typical) -> float | Withheld:
        if not self.aim:
            return mechanism.margin(move, number)
        if not (wanted := mechanism.wanted(move, number)):
            name = self.measure
            raise PlanError(
                f"'{name}' has no targets as its aim, which --target {name}=aim would meet; give a 90% margin, or "
                'write aim = { "1" = "3", "2" = "5" } into its with.'
            )
        return max(error / to for error, to in wanted.values())

    def words(self, reached: float) -> str:
        if self.aim:
            return "its aim"
        told = f"± {written_number(reached)}"
        return told if not self.shared or self.size is None else f"{told}, APD {reached / self.size:.2%}"

    def widened(self, factor: float) -> Self:
        return replace(self, margin=factor * self.margin)


@dataclass(frozen=True)
class PercentTarget(AccuracyTarget):
    """The absolute percentage difference that a number may have, as a share of its size, so often, by the law of noise.

    >>> PercentTarget("jobs", 0.05, 0.95, 400).margin
    20.0
    """

    measure: str
    apart: float
    level: float
    size: float
    largest: float | None = None

    def __post_init__(self) -> None:
        self._refuse_nothing(margin=self.apart, size=self.size, largest=self.largest)

    @property
    def margin(self) -> float:
        return self.apart * self.size

    @property
    def wanted(self) -> float:
        return self.margin

    @property
    def in_units(self) -> float:
        return self.margin

    def met(self, reached: float) -> bool:
        return reached <= self.margin * (1 + 1e-9)  # a step that is the margin is within it

    def reached(self, mechanism: Mechanism, move: Move, number: Typical) -> float | Withheld:
        law, error = mechanism.published_law(move, number), mechanism.expected(move, number)
        if isinstance(error, Withheld) or isinstance(law, Withheld):
            return error if isinstance(error, Withheld) else law  # type: ignore[return-value]
        return law.reach(self.size, self.level, max(error, 1e-9 * self.size))

    def words(self, reached: float) -> str:
        if self.level != LEVEL:
            return f"APD {reached / self.size:.3%} in {self.level:.3%} of cells"
        return f"± {written_number(reached)}, APD {reached / self.size:.2%}"

    def widened(self, factor: float) -> Self:
        return replace(self, apart=factor * self.apart)


@dataclass(frozen=True)
class TailTarget(AccuracyTarget):
    """The chance that one of the lowest or highest fifth of cells is put into it, by the law of noise.

    `spread` is the standard deviation of the true numbers of all cells, which are taken to be normal.
    """

    measure: str
    chance: float
    spread: float
    size: float | None = None
    largest: float | None = None

    def __post_init__(self) -> None:
        self._refuse_nothing(spread=self.spread, size=self.size, largest=self.largest)
        if not TAIL < self.chance < 1:
            raise PlanError(
                f"The target of '{self.measure}' is to put {self.chance:.3g} of the cells of a tail into it; {TAIL:g} "
                "are put there by pure chance and all only without noise: give a share between, as tail:90%."
            )

    @property
    def wanted(self) -> float:
        return self.chance

    def met(self, reached: float) -> bool:
        return reached >= self.chance

    def reached(self, mechanism: Mechanism, move: Move, number: Typical) -> float | Withheld:
        law, error = mechanism.published_law(move, number), mechanism.expected(move, number)
        if isinstance(error, Withheld) or isinstance(law, Withheld):
            return error if isinstance(error, Withheld) else law  # type: ignore[return-value]
        return right_tail_chance(law, self.size or 0.0, self.spread, error)

    def words(self, reached: float) -> str:
        return f"{math.floor(reached * 1e4 + 1e-6) / 1e4:.2%} of a tail in it"

    def widened(self, factor: float) -> Self:
        """As for numbers that are so many times as spread: the same share of a tail is told with wider noise."""
        return replace(self, spread=factor * self.spread)


def read_target(
    measure: str, written: str, size: float | None, largest: float | None, spread: float | None = None
) -> AccuracyTarget:
    """A target as written: 2% of the size, a number in the unit of the measure, apd:5%@95% or tail:90%.

    >>> read_target("county", "2%", 15_000, 4_000).in_units, read_target("county", "300", None, 4_000).in_units
    (300.0, 300.0)
    >>> read_target("county", "0.5", 15_000, 4_000).in_units, read_target("county", "0.5%", 15_000, 4_000).in_units
    (0.5, 75.0)
    """
    if written == "aim":
        return Target(measure, 1.0, aim=True)
    if written.startswith("tail:"):
        if spread is None:
            raise PlanError(
                f"The target of '{measure}' is to tell tails; state how spread the true numbers of its cells are, as a "
                f"standard deviation that is public knowledge: --spread {measure}=0.05."
            )
        return TailTarget(measure, _chance(measure, written.removeprefix("tail:")), spread, size, largest)
    share, at, level = written.removeprefix("apd:").partition("@")
    apd, read = written.startswith("apd:") or bool(at), _number(measure, share)
    if not apd and not share.endswith("%"):
        return Target(measure, read, size, largest)
    if size is None:
        raise PlanError(
            f"The target of '{measure}' is {written} of something; state the typical size of its numbers, which is "
            f"public knowledge: --size {measure}=15000."
        )
    apart = read / (100 if share.endswith("%") else 1)
    if apd:
        return PercentTarget(measure, apart, _chance(measure, level) if at else LEVEL, size, largest)
    return Target(measure, apart * size, size, largest, shared=True)


def _number(measure: str, written: str) -> float:
    try:
        return float(written.removesuffix("%"))
    except ValueError:
        raise PlanError(
            f"The target of '{measure}' is '{written}'; write 2% of its size, or 500 in its unit, apd:5% or "
            "apd:5%@95%, or tail:90%."
        ) from None


def _chance(measure: str, written: str) -> float:
    """A chance as written, "95%" or "0.95"."""
    found = _number(measure, written) / (100 if written.endswith("%") else 1)
    if not 0 < found < 1:
        raise PlanError(f"The target of '{measure}' holds with a chance of {written}; it lies between 0 and 1, as 90%.")
    return found

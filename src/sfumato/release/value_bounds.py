"""ValueBounds: between which bounds one record's value counts in a total, and what lay above if that was measured."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sfumato.privacy import plain
from sfumato.release.figures import exact_step, exactly
from sfumato.release.written import LARGEST_NUMBER, number
from sfumato.schema import Clipped

HIGHEST_POWER = 8


@dataclass(frozen=True)
class ClipTook:
    """What lay above a bound in all records together, up to a farther bound in each: a noisy number of its own.

    Releases made before state its standard error and no margin.
    """

    up_to: Fraction
    value: float
    standard_error: float | None = None
    margin: float | None = None
    tables: tuple[str, ...] = ()
    """The products of the release that measured it, for parts too; none in releases made before."""


@dataclass(frozen=True)
class ValueBounds:
    """A column whose values count from low to high, in steps, each to a power."""

    column: str
    low: Fraction
    high: Fraction
    step: Fraction
    power: int = 1
    took: ClipTook | None = None
    weight: "ValueBounds | None" = None
    """The bounds of the weight by which values are multiplied, where they are."""

    def with_weight(self, weight: Clipped) -> "ValueBounds":
        """The same of values that are multiplied by a weight."""
        return replace(self, weight=ValueBounds(weight.column, weight.low, weight.high, weight.step))

    def alike(self, other: "ValueBounds | None") -> bool:
        """Whether both hold the same values within the same bounds, in whatever steps."""
        return other is not None and replace(self, step=other.step, took=other.took) == other

    def to_dict(self) -> dict[str, Any]:
        """What a manifest says of them."""
        said = {name: plain(getattr(self, name)) for name in ("low", "high", "step")}
        took = self.took
        told = {"up_to": plain(took.up_to), "value": took.value, "standard_error": took.standard_error} if took else {}
        told |= {"margin_90": took.margin} if took and took.margin is not None else {}
        told |= {"tables": list(took.tables)} if took and took.tables else {}
        weight = {"weight": self.weight.to_dict()} if self.weight else {}
        return {"column": self.column, **said, "power": self.power} | ({"took": told} if told else {}) | weight

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> "ValueBounds | None":
        """The bounds that a manifest states; none where it states none."""
        if not written:
            return None
        low, high, step = exactly(written["low"]), exactly(written["high"]), exact_step(written["step"])
        if not -LARGEST_NUMBER <= low <= high <= LARGEST_NUMBER:
            raise ValueError("its values count from a bound to one that is not above it")
        power = int(number(written["power"], 1, HIGHEST_POWER))
        took, weight = _took(written.get("took")), dict(written.get("weight") or {})
        weight.pop("weight", None)  # a weight has none itself
        return cls(str(written["column"]), low, high, step, power, took, cls.read(weight))


def _took(written: Mapping[str, Any] | None) -> ClipTook | None:
    """What a manifest states of the values that lay above the bounds."""
    if not written:
        return None
    error, margin = (written.get(key) for key in ("standard_error", "margin_90"))
    return ClipTook(
        exactly(written["up_to"]),
        number(written["value"]),
        None if error is None else number(error, 0),
        None if margin is None else number(margin, 0),
        tuple(map(str, written.get("tables", ()))),
    )

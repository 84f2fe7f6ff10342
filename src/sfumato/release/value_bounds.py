"""ValueBounds: between which bounds one record's value counts in a total, and what lay above if that was measured."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sfumato.privacy import plain
from sfumato.release.figures import exactly


@dataclass(frozen=True)
class ClipTook:
    """What lay above a bound in all records together, up to a farther bound in each: a noisy number of its own."""

    up_to: Fraction
    value: float
    standard_error: float | None = None


@dataclass(frozen=True)
class ValueBounds:
    """A column whose values count from low to high, in steps, each to a power."""

    column: str
    low: Fraction
    high: Fraction
    step: Fraction
    power: int = 1
    took: ClipTook | None = None

    def alike(self, other: "ValueBounds | None") -> bool:
        """Whether both hold the same values within the same bounds, in whatever steps."""
        return other is not None and replace(self, step=other.step, took=other.took) == other

    def to_dict(self) -> dict[str, Any]:
        """What a manifest says of them."""
        said = {name: plain(getattr(self, name)) for name in ("low", "high", "step")}
        took = self.took
        told = {"up_to": plain(took.up_to), "value": took.value, "standard_error": took.standard_error} if took else {}
        return {"column": self.column, **said, "power": self.power} | ({"took": told} if told else {})

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> "ValueBounds | None":
        """The bounds that a manifest states; none where it states none."""
        if not written:
            return None
        low, high, step = (exactly(written[name]) for name in ("low", "high", "step"))
        took = written.get("took")
        told = took and ClipTook(exactly(took["up_to"]), float(took["value"]), took["standard_error"])
        return cls(written["column"], low, high, step, int(written["power"]), told)

"""ControlTable: totals that steps meet and that no mechanism of the plan protects."""

from dataclasses import dataclass, replace

from sfumato.errors import PlanError, nearest
from sfumato.mechanisms.exact import Exact
from sfumato.plan.measure import Measure

SOURCES = ("data",)
"""Where totals may come from: the records themselves, which puts them outside the guarantee."""


@dataclass(frozen=True)
class ControlTable:
    """Totals `of` what a measure is of, `by` some of its attributes, `from_` the data as they are."""

    name: str
    of: str
    by: tuple[str, ...]
    from_: str = "data"

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", tuple(self.by))
        if self.from_ not in SOURCES:
            raise PlanError(f"[[control]] '{self.name}' is from '{self.from_}'; {nearest(self.from_, SOURCES)}")

    def measure(self, of: Measure) -> Measure:
        """The measurement of the totals, exact and therefore without a bound."""
        return replace(of, name=self.name, by=self.by, with_=Exact(), given=())

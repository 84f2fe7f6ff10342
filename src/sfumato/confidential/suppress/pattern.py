"""Pattern: which cells of linked tables are published and which are not, and why."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.errors import PlanError, nearest
from sfumato.suppression import Flags, Floats, LinkedTables

PUBLISHED, PRIMARY, SECONDARY, WAIVED, FORCED, EMPTY = "published", "primary", "secondary", "waived", "forced", "empty"
"""A cell's status; waived and forced cells are published although they are sensitive, an empty one is known to be 0."""
COSTS: dict[str, Callable[[Floats], Floats]] = {
    "value": lambda values: np.maximum(np.abs(values), 1),
    "log": lambda values: np.log2(2 + np.abs(values)),
    "count": np.ones_like,
}
"""What a missing cell costs: its value, the logarithm of it, or one whatever it holds."""


def cost_of(name: str, values: Floats) -> Floats:
    if name not in COSTS:
        raise PlanError(f"There is no cost '{name}' of a missing cell; {nearest(name, COSTS)}")
    return np.asarray(COSTS[name](values), dtype=np.float64)


@dataclass(frozen=True)
class Work:
    """What was done to find a pattern, and whether a limit cut it short."""

    programs: int = 0
    """Linear programs solved."""
    tried: int = 0
    """Programs of the clean-up."""
    complete: bool = True
    """Whether no secondary cell is left that could be published again."""
    bounded: bool = True
    """Whether the bound was not cut short: more programs or rounds would not raise it."""


@dataclass(frozen=True, eq=False, repr=False)
class Pattern:
    """A status and a reason for every cell, the cost of what is missing, and how good it is."""

    linked: LinkedTables
    statuses: tuple[str, ...]
    reasons: tuple[str, ...]
    cost: float
    """What the secondary cells cost."""
    bound: float = 0.0
    """What the secondary cells of any safe pattern cost at the least."""
    work: Work = Work()

    def __repr__(self) -> str:
        told = ", ".join(f"{self.count(status):,} {status}" for status in (PUBLISHED, PRIMARY, SECONDARY))
        return f"<Pattern of {self.linked.size:,} cells: {told}>"

    def count(self, status: str) -> int:
        return self.statuses.count(status)

    def where(self, *statuses: str) -> Flags:
        return np.isin(np.array(self.statuses), statuses)

    @property
    def suppressed(self) -> Flags:
        """Which cells are not published."""
        return self.where(PRIMARY, SECONDARY)

    @property
    def share(self) -> float:
        """The suppressed share of the cells that are not empty."""
        return float(self.suppressed.sum() / max(1, self.linked.size - self.count(EMPTY)))

    @property
    def gap(self) -> float:
        """How far the cost is above the bound, as a share of the bound; 0 where nothing had to be suppressed."""
        return self.cost / self.bound - 1 if self.bound > 0 else (0.0 if self.cost == 0 else np.inf)

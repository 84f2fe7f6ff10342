"""Published: linked tables as anybody reads them, with the cells that are missing and what is known of them."""

from dataclasses import dataclass, replace

import numpy as np

from sfumato.errors import DataError
from sfumato.suppression.equations import Flags, Floats
from sfumato.suppression.linked_tables import LinkedTables


@dataclass(frozen=True, eq=False)
class Published:
    """A value for every cell that is published, NaN for one that is suppressed, and the bounds that everybody knows.

    `rounding` is how far a published value may be from what adds up: 0.5 where values were rounded to whole numbers.
    """

    linked: LinkedTables
    values: Floats
    low: Floats
    high: Floats
    rounding: float = 0.0
    whole: bool = False
    """Whether everybody knows that suppressed cells are whole numbers, as counts and totals in steps are."""

    @classmethod
    def of(
        cls,
        linked: LinkedTables,
        values: Floats,
        *,
        negative: bool = False,
        rounding: float = 0.0,
        least: float = 0.0,
        whole: bool = False,
    ) -> "Published":
        """With what is known of a suppressed cell: it has `least` at least, or no bound where values may be negative.

        Where empty cells are published as 0 a suppressed cell has a record, so a count is at least 1.
        """
        if len(values) != linked.size:
            raise DataError(f"{len(values):,} values were given for {linked.size:,} cells; give one, or NaN, for each.")
        low = np.full(linked.size, -np.inf if negative else float(least))
        return cls(linked, values.astype(np.float64), low, np.full(linked.size, np.inf), rounding, whole)

    @property
    def missing(self) -> Flags:
        return np.isnan(self.values)

    def within(self, low: Floats, high: Floats) -> "Published":
        """With finite bounds besides: a suppressed cell is known to lie in both."""
        return replace(self, low=np.fmax(self.low, low), high=np.fmin(self.high, high))

    def beside(self, earlier: "Published", change: float) -> "Published":
        """With an earlier period of the same tables, since when no cell has changed by more than a share."""
        before, missing = earlier.values, self.missing & ~earlier.missing
        low = np.where(missing, before - change * np.abs(before), -np.inf)
        high = np.where(missing, before + change * np.abs(before), np.inf)
        return self.within(low, high)

    def again(self, other: "Published") -> "Published":
        """With another publication of the same cells: what either tells is told, at the coarser rounding."""
        if self.linked.size != other.linked.size:
            raise DataError(
                f"{self.linked.size:,} cells are laid beside {other.linked.size:,}; two publications of the same cells "
                "have as many: read them as one set of tables."
            )
        values = np.where(self.missing, other.values, self.values)
        both = replace(self, values=values, rounding=max(self.rounding, other.rounding))
        return both.within(other.low, other.high)

"""Set to zero: every cell below 0 becomes 0; the simplest way, and every total that sums many cells is far too high.

A cell that is truly n is too high by the mean of max(0, n + U) − n: of geometric noise with a = e^−ε that is
aⁿ a/(1 − a²), 0.4255 at epsilon 1 where nobody is. A table that is mostly empty adds that up over all its cells.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sfumato.calibrate.nonnegative import NonNegative, Raised
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Table


@dataclass(frozen=True)
class SetToZero(NonNegative):
    """The table with 0 in place of what is below it."""

    kind: ClassVar[str] = "set-to-zero"
    name: str
    table: str
    to: tuple[str, ...] = field(default=(), init=False)

    @property
    def bias(self) -> str:
        return "Totals are biased upward, the more so the more cells that are empty or small they sum."

    def bias_of_empty(self, law: Floats) -> float:
        """The mean of noise above 0.

        >>> a = np.exp(-1)
        >>> geometric = (1 - a) / (1 + a) * a ** np.arange(60)
        >>> round(SetToZero("z", "t").bias_of_empty(geometric), 4)      # a / (1 - a²)
        0.4255
        """
        return float(law @ np.arange(len(law)))

    def adjusted(self, cells: Integers, table: Table) -> Raised:  # noqa: ARG002 - each cell by itself
        return Raised(np.maximum(cells, 0), "Cells below 0 were set to 0.")


EXAMPLE = SetToZero("zeroed", "cube")

"""One carrier: every cell below 0 becomes 1, so that records made of the table have one to carry its weight.

As a table it is worse than setting to 0; it is what calibration weights stand on, and what simulations of Drechsler and
Soria-Comas with 'negatives set to zero' must have used: their totals are above what setting to 0 can give.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sfumato.calibrate.nonnegative import NonNegative, Raised
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Table


@dataclass(frozen=True)
class OneCarrier(NonNegative):
    """The table with 1 in place of what is below 0."""

    kind: ClassVar[str] = "one-carrier"
    name: str
    table: str
    to: tuple[str, ...] = field(default=(), init=False)

    @property
    def bias(self) -> str:
        return "Totals are biased upward, by one more for every cell below 0 than where these are set to 0."

    def bias_of_empty(self, law: Floats) -> float:
        """The mean of noise above 0 and the chance of noise below it.

        >>> a = np.exp(-1)
        >>> geometric = (1 - a) / (1 + a) * a ** np.arange(60)
        >>> round(OneCarrier("c", "t").bias_of_empty(geometric), 4)      # a / (1 - a²) + a / (1 + a)
        0.6944
        """
        return float(law[1:] @ np.arange(2, len(law) + 1))

    def adjusted(self, cells: Integers, table: Table) -> Raised:  # noqa: ARG002 - each cell by itself
        return Raised(np.where(cells < 0, 1, cells), "Cells below 0 were set to 1.")


EXAMPLE = OneCarrier("carried", "cube")

"""Contribution: what one row may add to a cell, told by a statistic and moved by neighbours."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import PromiseError


@dataclass(frozen=True)
class Contribution:
    """A row adds a value of a column or its square, from low to high in steps; without a column it adds 1."""

    column: str | None = None
    low: Fraction | None = Fraction(1)
    high: Fraction | None = Fraction(1)
    step: Fraction = Fraction(1)
    power: int = 1

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the most that a row adds, in steps."""
        if self.low is None or self.high is None:
            key = "clip" if self.power == 1 else "clip_value"
            raise PromiseError(
                f"Total of {self.column} has no largest value, so one unit could move it without limit: "
                f'give {key}, for example {key} = ["0", "50000"].'
            )
        return int(self.low / self.step), int(self.high / self.step)

    @property
    def farthest(self) -> Fraction:
        """The end that moves a total most."""
        return max(self.bounds, key=abs) * self.step

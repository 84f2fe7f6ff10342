"""Contribution: what one row may add to a cell, told by a statistic and moved by neighbours."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import PromiseError
from sfumato.schema import Attribute


@dataclass(frozen=True)
class Contribution:
    """A row adds a value of a column or its square, from low to high in steps; without a column it adds 1."""

    column: str | None = None
    low: Fraction | None = Fraction(1)
    high: Fraction | None = Fraction(1)
    step: Fraction = Fraction(1)
    power: int = 1
    above: Fraction | None = None
    """What of the value is passed over, if some is: a row adds only what lies above it."""
    among: tuple[Attribute, ...] = ()
    """The attributes by which it is told whether a row counts at all."""

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
        """The value of the column that moves a total most."""
        return self.reaching(max(self.bounds, key=abs))

    def reaching(self, steps: int) -> Fraction:
        """A value of the column by which a row adds so many steps, an end of its bounds."""
        return steps * self.step + (self.above or 0)

"""Contribution: what one row may add to a cell, told by a statistic and moved by neighbours."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import PromiseError
from sfumato.schema import Attribute


@dataclass(frozen=True)
class Contribution:
    """A row adds a value of a column or its square, from low to high in steps; without a column it adds 1.

    In a weighted number it adds this times its weight, in steps of the one times steps of the other.

    >>> weight = Contribution("w", Fraction(0), Fraction(40))
    >>> Contribution("pay", Fraction(-2), Fraction(9), weight=weight).bounds
    (-80, 360)
    """

    column: str | None = None
    low: Fraction | None = Fraction(1)
    high: Fraction | None = Fraction(1)
    step: Fraction = Fraction(1)
    power: int = 1
    above: Fraction | None = None
    """What of the value is passed over, if some is: a row adds only what lies above it."""
    among: tuple[Attribute, ...] = ()
    """The attributes by which it is told whether a row counts at all."""
    weight: "Contribution | None" = None
    """The weight of a row, 0 or more, by which its value is multiplied."""

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the most that a row adds, in steps."""
        if self.weight is None:
            return self._ends
        products = [value * weight for value in self._ends for weight in self.weight.bounds]
        return min(products), max(products)

    @property
    def _ends(self) -> tuple[int, int]:
        """The least and the most that a row has of the column, in steps, before it is weighted."""
        if self.low is None or self.high is None:
            key = "clip" if self.power == 1 else "clip_value"
            raise PromiseError(
                f"Total of {self.column} has no largest value, so one unit could move it without limit: "
                f'give {key}, for example {key} = ["0", "50000"].'
            )
        return int(self.low / self.step), int(self.high / self.step)

    @property
    def largest(self) -> int:
        """The largest number of steps that is summed of a row, what is passed over included."""
        heaviest = self.weight.bounds[1] if self.weight else 1
        return max(map(abs, self.bounds)) + abs(int((self.above or 0) / self.step)) * heaviest

    @property
    def farthest(self) -> Fraction:
        """The value of the column that moves a total most."""
        return self.reaching(max(self.bounds, key=abs))

    def reaching(self, steps: int) -> Fraction:
        """A value of the column by which a row adds so many steps, an end of its bounds."""
        if self.weight is not None:
            ends = [end for end in self._ends if end * self._weight_beside(end) == steps]
            steps = ends[0] if ends else steps // max(self.weight.bounds[1], 1)
        return steps * self.step + (self.above or 0)

    def weight_at(self, value: Fraction) -> Fraction:
        """The weight that takes a value of the column, which is an end of its bounds, to an end of what a row adds."""
        if self.weight is None:
            return Fraction(1)
        return self._weight_beside(int((value - (self.above or 0)) / self.step)) * self.weight.step

    def _weight_beside(self, end: int) -> int:
        assert self.weight is not None  # noqa: S101 - asked of weighted rows
        light, heavy = self.weight.bounds
        return heavy if end * heavy in self.bounds else light

    def clip(self, value: float) -> float:
        """The value of the column that counts: within its bounds, where it has some."""
        if self.low is None or self.high is None:
            return value
        low, high = (float(end * self.step + (self.above or 0)) for end in self._ends)
        return min(max(value, low), high)

"""Grown-within: one establishment has some more or fewer workers, as many as its size allows.

Move. A cell of establishments grows from x to at most max((1 + alpha) x, x + 1), as the one establishment in it that
grows does: max((1 + alpha) y, y + 1) + c <= max((1 + alpha)(y + c), y + c + 1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from sfumato.errors import PromiseError
from sfumato.privacy import Alike, Contribution, Move, Neighbours, UnitRows, plain, positive
from sfumato.schema import Attribute, Domain


@dataclass(frozen=True)
class GrownBy(Move):
    """A cell grows from x to at most max((1 + alpha) x, x + 1), or shrinks as far."""

    alpha: Fraction

    def words(self) -> str:
        return (
            f"between grown-within neighbours a cell grows by {plain(100 * self.alpha)}% of itself, which in a "
            "large one is further than any width hides; use a mechanism of relative noise"
        )


@dataclass(frozen=True)
class GrownWithin(Neighbours):
    """One establishment has up to alpha more workers, or one more; where it is and what it makes is public."""

    alpha: Fraction = Fraction(1, 10)
    kind = "grown-within"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", positive(self.alpha, "alpha"))

    def move(self, row: Contribution, domain: Domain) -> GrownBy:
        if why := self.refuses(register=domain.register):
            raise PromiseError(why)
        if row.column is not None:
            raise PromiseError(f"alpha bounds how many rows one {self.unit} has, not what they sum to; measure counts.")
        for attribute in domain.attributes:
            if attribute.of != self.unit:
                raise PromiseError(
                    f"'{attribute.name}' is of a {attribute.of}: new workers may stand anywhere in it, and alpha "
                    f"bounds cells of {self.unit}s alone."
                )
        return GrownBy(self.alpha)

    @property
    def attained(self) -> tuple[str, ...]:
        return ("alpha",)

    def pair(self, row: Contribution, domain: Domain) -> tuple[UnitRows, UnitRows]:
        return UnitRows(40), UnitRows(grown(40, self.alpha))

    def keeps(self, attributes: Sequence[Attribute]) -> frozenset[str]:
        return frozenset(attribute.name for attribute in attributes if attribute.of == self.unit)

    def touches(self, named: frozenset[str]) -> int:
        return 1

    @property
    def truncation(self) -> None:
        return None

    @property
    def together(self) -> None:
        return None

    def refuses(self, *, register: bool) -> str:
        return "Grown-within neighbours change how many rows an establishment has; a frame has one." if register else ""

    def exposes(self) -> tuple[str, ...]:
        return ()

    def words(self, called: Mapping[str, str] | None = None) -> str:
        return (
            f"How many rows any one {self.unit} has, within a factor of {plain(1 + self.alpha)}, or one more or less."
        )

    def not_hidden(self) -> str:
        return f"Which {self.unit}s there are, and what their attributes are, is public."

    def alike(self) -> tuple[Alike, ...]:
        return tuple(
            Alike("rows", size, size / (1 + float(self.alpha)), grown(size, self.alpha)) for size in (10, 100, 1_000)
        )


def grown(size: int, alpha: Fraction) -> int:
    return max(floor((1 + alpha) * size), size + 1)


EXAMPLE = GrownWithin("establishment", "id")

"""Move: how far the cells of one measure can go between neighbours, in steps of the statistic's lattice."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import PromiseError, how_many
from sfumato.schema import Family


class Move(ABC):
    """How far cells can go; there are as many kinds as relations need, and a mechanism names those that it hides."""

    @abstractmethod
    def words(self) -> str:
        """How cells go, and which mechanisms hide it, as a clause for whoever asked for another one."""


@dataclass(frozen=True)
class Bounded(Move):
    """At most so many cells move, by so much in all (l1) and in squares (l2_squared), none by more than `largest`.

    A unit with k rows can put them all in one cell, so l2 is k and not the root of k.
    """

    cells: int
    l1: int
    l2_squared: int
    largest: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "largest", self.largest or self.l1)

    def words(self) -> str:
        far = how_many(self.l1, "step")
        return f"here cells move by {far} at most, which noise of one width hides, as geometric"


@dataclass(frozen=True)
class Root(Move):
    """Some units move at once, the square root of each by beta at most, beta in the unit of the column.

    `crowded` sums, over the cells, the square of how many of them stand in each: their number where each has a cell of
    its own, the square of it where all share one.
    """

    beta: Fraction
    units: int = 1
    crowded: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "crowded", self.crowded or self.units**2)

    @property
    def l2_squared(self) -> Fraction:
        """How far the square roots of rows, or of totals, go together: the sum over cells of what each goes, squared.

        >>> Root(Fraction(1, 2), 40).l2_squared      # √40 · 0.5, and not 40 · 0.5
        Fraction(10, 1)
        """
        return self.beta**2 * self.units

    def words(self) -> str:
        return (
            "between square-root neighbours a large value moves further than any width hides; use square-root, or "
            "clipped-total given a square-root measure"
        )


@dataclass(frozen=True)
class EveryTable(Move):
    """Rows move as `rows` says, each in its cell of every table of a family.

    `kept` are the attributes that a row keeps that goes from one cell to another; None where rows come or go. `ends`
    are what all rows of a unit add, in steps, in the cell that they leave and in the one that they come to, wherever
    two neighbours may be furthest apart.
    """

    rows: Bounded
    family: Family
    kept: frozenset[str] | None = None
    ends: tuple[tuple[int, int], ...] = ()

    @property
    def apart(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The ends; where they are not told, what `rows` allows: all of them come, or half of l1 leaves for another."""
        if self.kept is None:
            return ((Fraction(self.rows.l1), Fraction(0)),)
        half = Fraction(self.rows.l1, 2)
        told = self.ends or ((self.rows.largest, 0), (half, half))
        return tuple((Fraction(left), Fraction(come)) for left, come in told)

    def words(self) -> str:
        return "a row is in a cell of every table of up to so many variables; even-gaussian is made for them"


@dataclass(frozen=True)
class Unsummed(Move):
    """The rows of a cell move, of which the statistic is no sum: it may go from one end of its range to the other.

    Where rows stay `within` their cells they have other values, and how many each cell has is public.
    """

    rows: Move
    within: bool = False

    def words(self) -> str:
        return "one row may take a statistic that is no sum of them anywhere; use a mechanism that is made for it"


@dataclass(frozen=True)
class Unclaimed(Move):
    """However cells move, it shows: nothing is claimed of them, so nobody asks how far."""

    def words(self) -> str:
        return "nothing is claimed of such cells"


def bounded(move: Move, mechanism: str) -> Bounded:
    """The move, if it is one that additive noise of a fixed width can hide."""
    if isinstance(move, Bounded):
        return move
    raise PromiseError(f"{mechanism} adds noise of one width, and {move.words()}.")


def every_table(move: Move, mechanism: str) -> EveryTable:
    """The move, if it is that of a family of tables."""
    if isinstance(move, EveryTable):
        return move
    raise PromiseError(
        f"{mechanism} measures all tables of up to so many variables, "
        f'as by = {{ up_to = 2, of = ["area", "sex", "age"] }}, and {move.words()}.'
    )

"""Neighbours: which two data sets must look alike to whoever sees the release; one file a relation."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import ClassVar, Self

from sfumato.errors import PlanError, with_article
from sfumato.privacy.contribution import Contribution
from sfumato.privacy.exact import digits_up, plain
from sfumato.privacy.move import Move
from sfumato.schema import Attribute, Domain


@dataclass(frozen=True)
class Truncate:
    """At most so many rows count of those that have one value of a column."""

    column: str
    at_most: int


@dataclass(frozen=True)
class OneLevel:
    """All rows of the hidden unit have one level of an attribute."""

    attribute: Attribute


@dataclass(frozen=True)
class FewRows:
    """No value of a column stands in more than so many rows."""

    column: str
    at_most: int


DataRule = OneLevel | FewRows
"""What the rows of data keep together, where a move holds for no others; data that break one are refused."""


@dataclass(frozen=True)
class Implied:
    """Whom a promise hides besides, and how many steps of it he is away: so many times is what he loses.

    Steps are whole, but where losses follow a curve: then they are a share of one, or any number, rounded up.
    """

    whom: str
    steps: int | Fraction

    @property
    def times(self) -> str:
        """The steps as people read them."""
        return digits_up(self.steps)


@dataclass(frozen=True)
class UnitRows:
    """The rows of one unit on one side of a pair: how many, what each adds, and whether they stand in another cell.

    `of_each` are so many of every kind that the table tells apart by what is not kept, each in a cell of its own;
    `scattered` rows are of as many units, each in a cell of its own, and alike in what units do not keep; rows that are
    `outside` are not in the universe that is counted.
    """

    rows: int
    value: Fraction = Fraction(1)
    elsewhere: bool = False
    of_each: bool = False
    scattered: bool = False
    outside: bool = False


@dataclass(frozen=True)
class Alike:
    """A size of a variable, the ends of what looks like it, and the relative changes that they are."""

    variable: str
    size: float
    low: float
    high: float
    of_rows: bool = False
    """Whether it is how many rows a unit has, and no column."""

    @property
    def up(self) -> float:
        return self.high / self.size - 1

    @property
    def down(self) -> float:
        return self.low / self.size - 1


@dataclass(frozen=True)
class Neighbours(ABC):
    """One unit may differ, in a way that a relation says; whatever a relation leaves unsaid cannot be guessed."""

    kind: ClassVar[str]
    columns: ClassVar[frozenset[str]] = frozenset({"id"})
    """The fields that name a column of the data."""
    resolved: ClassVar[frozenset[str]] = frozenset()
    """The fields that the attributes of a plan tell, and the plan itself does not."""
    beside_id: ClassVar[str] = ""
    """What else a plan gives where it names the column of its units, as a message says it."""
    unit: str
    id: str | None = None

    def __post_init__(self) -> None:
        if not (self.unit and isinstance(self.unit, str)):
            raise PlanError('The plan does not say who is hidden: give [hidden] unit, for example "establishment".')
        if self.id is not None and not (self.id and isinstance(self.id, str)):
            raise PlanError(f"id is {self.id!r}; it is the name of the column that says which {self.unit} a row is of.")

    def among(self, attributes: Sequence[Attribute]) -> Self:  # noqa: ARG002 - most say all themselves
        """The same, once it is known which attributes there are; refused where it names one that it cannot mean."""
        return self

    @abstractmethod
    def move(self, row: Contribution, domain: Domain) -> Move:
        """How far a measure can go between neighbours, by what one row may add; PromiseError where no bound is."""

    def unfit(self, row: Contribution) -> str:  # noqa: ARG002 - most are moved as they stand
        """Why what rows add, as data are read, moves further than this says; nothing where it does not."""
        return ""

    @property
    @abstractmethod
    def attained(self) -> tuple[str, ...]:
        """The bounds of its moves that some neighbours reach, by name; the contract suite looks for them."""

    def relation(self) -> tuple[str, ...]:
        """Every field: what must be the same for losses to add; a column may be called otherwise in another file."""
        held = ((one.name, getattr(self, one.name)) for one in fields(self))
        return (self.kind, *(f"{name} {_told(name in self.columns, value)}" for name, value in held if value))

    @abstractmethod
    def pair(self, row: Contribution, domain: Domain) -> tuple[UnitRows, UnitRows]:
        """The rows of one unit in two neighbours that are as far apart as any; the first may be more than count."""

    def pairs(self, row: Contribution, domain: Domain) -> tuple[tuple[UnitRows, UnitRows], ...]:
        """The pairs of which one is as far apart as any, whichever norm a mechanism hides; one does for most."""
        return (self.pair(row, domain),)

    def pair_words(self, one: UnitRows, other: UnitRows) -> str:
        """What differs between two such neighbours, as a clause."""
        whose, many = with_article(self.unit), one.rows > 1
        if one.scattered:
            return f"rows come in several {self.unit}s, each in a cell of its own"
        if one.of_each:
            return f"{whose} has more rows of every kind"
        if other.elsewhere:
            into = "one" if other.rows == 1 else "others"
            return (
                f"the record{'s' if many else ''} of {whose} {'are' if many else 'is'} exchanged for {into} elsewhere"
            )
        if other.outside:
            return f"the record{'s' if many else ''} of {whose} leave{'' if many else 's'} what is counted"
        return f"{whose} comes" if not other.rows else f"{whose} has another value in its cell"

    @abstractmethod
    def keeps(self, attributes: Sequence[Attribute]) -> frozenset[str]:
        """The attributes of a unit's rows that are the same in all neighbours."""

    @abstractmethod
    def touches(self, named: frozenset[str]) -> int:
        """How many disjoint universes, told apart by some attributes, neighbours can differ in."""

    def exchanged(self) -> frozenset[str] | None:
        """Where each row that leaves a cell comes to another: the attributes that it keeps; None where it is not so."""
        return None

    def ends(self, row: Contribution) -> tuple[tuple[int, int], ...]:  # noqa: ARG002 - for rows that are exchanged
        """What a unit's rows add, in steps, where they leave and where they come, of pairs that may be furthest."""
        return ()

    def sides(self, row: Contribution, domain: Domain, left: Fraction, come: Fraction) -> tuple[UnitRows, UnitRows]:  # noqa: ARG002
        """The rows of one unit in two neighbours that are some such ends apart."""
        return self.pair(row, domain)

    @property
    @abstractmethod
    def truncation(self) -> Truncate | None:
        """The rows of a unit that count, where its move holds for no more; engines keep no others."""

    @property
    @abstractmethod
    def together(self) -> Truncate | None:
        """The units of a register that move at once, by a column of it; that none are more is checked, not enforced."""

    def covers(self, other: "Neighbours") -> int | None:
        """How many steps of it are enough between any two neighbours of another relation; None where none are known."""
        return 1 if other.relation() == self.relation() else None

    def implied(self, called: Mapping[str, str] | None = None) -> tuple[Implied, ...]:  # noqa: ARG002 - few name any
        """Whom it hides besides those it names."""
        return ()

    @property
    def names(self) -> frozenset[str]:
        """The attributes that it names beside those it keeps; each must be one of the plan."""
        return frozenset()

    def rules(self, attributes: Sequence[Attribute]) -> tuple[DataRule, ...]:  # noqa: ARG002 - none, for most
        """What the rows of data must keep for its move to hold, where rows are told apart by some attributes."""
        return ()

    @abstractmethod
    def refuses(self, *, register: bool) -> str:
        """Why it means nothing over a public register, or without one; nothing where it does."""

    @abstractmethod
    def exposes(self) -> tuple[str, ...]:
        """What it takes as public, which a plan must list as an exposure."""

    @abstractmethod
    def words(self, called: Mapping[str, str] | None = None) -> str:
        """The promise as one sentence; variables may be called by their titles."""

    @abstractmethod
    def not_hidden(self) -> str:
        """What lies outside the promise, as one sentence, where its own words do not say it."""

    @abstractmethod
    def alike(self) -> tuple[Alike, ...]:
        """Which values look alike at round sizes, where what is hidden is how large something is."""


def _told(column: bool, value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name!r} {_told(False, one)}" for name, one in sorted(value.items()))
    if isinstance(value, tuple):
        return ", ".join(map(repr, sorted(value)))
    return "a column" if column else plain(value) if isinstance(value, Fraction) else repr(value)

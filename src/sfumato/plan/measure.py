"""Measure: one measurement of a plan; and what a plan says of publication."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.errors import PlanError
from sfumato.mechanisms import Mechanism
from sfumato.release.weighting import not_weighted
from sfumato.schema import Aggregate, Level, UpTo
from sfumato.statistics import Statistic


@dataclass(frozen=True)
class Measure:
    """Measure `of` a statistic, `by` some attributes, `with_` a mechanism, `where` a universe says so."""

    name: str
    of: Statistic
    by: tuple[str, ...] | UpTo
    with_: Mechanism
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    title: str = ""
    given: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that it is by, whatever the depth of each."""
        return self.by.names if isinstance(self.by, UpTo) else tuple(Level.read(written).name for written in self.by)

    @property
    def levels(self) -> tuple[str, ...]:
        """The attributes as written, each at its depth; of a family all that some table has."""
        if isinstance(self.by, UpTo):
            return tuple(dict.fromkeys((*self.by.of, *(one for table in self.by.also for one in table))))
        return self.by

    def __post_init__(self) -> None:
        if not self.name or not all(letter.isalnum() or letter in "_-" for letter in self.name):
            raise PlanError(f"The measure name '{self.name}' must be letters, digits, - and _.")
        object.__setattr__(self, "by", self.by if isinstance(self.by, UpTo) else tuple(self.by))
        object.__setattr__(self, "given", tuple(self.given))
        where = {name: (codes,) if isinstance(codes, str) else tuple(codes) for name, codes in self.where.items()}
        object.__setattr__(self, "where", where)
        if isinstance(self.by, UpTo) and (both := [name for name in where if name in self.by.names]):
            # Every question would tell it apart, and so be of one variable more than it seems.
            raise PlanError(
                f"Measure '{self.name}' is only of some {both[0]} (where), which is in its family of tables too; leave "
                "it out of the tables, or give them an attribute of those levels alone."
            )

    def titled(self, row: str, language: str = "") -> str:
        """What it is called; a number that is not weighted says so."""
        title = self.own_title(row)
        return not_weighted(title, language) if self.of.weighted is False else title

    def own_title(self, row: str) -> str:
        """What the plan calls it, or its statistic; records that are not weighted are called records."""
        counted = self.of.title if self.of.weighted is False else self.of.title.replace("records", f"{row}s")
        return self.title or counted

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """What an engine must compute of every cell: for the statistic, and for the mechanism beside it."""
        return tuple(dict.fromkeys((*self.of.aggregates, *self.with_.needs(self.of.aggregates))))


@dataclass(frozen=True)
class Publish:
    """How the release is shown: the CV below which an estimate is A or B, and which measures answer questions.

    `least` records, `least_weighted` of them by their weights, and a `largest_cv` are the rule by which a cell is
    publishable, for the assessment; readers are told of the `largest_cv`, and which numbers exceed it.
    """

    grades: Mapping[str, float] = field(default_factory=lambda: {"A": 0.15, "B": 0.30})
    answers: tuple[str, ...] = ()
    least: int = 3
    largest_cv: float = 0.30
    least_weighted: float | None = None

    def __post_init__(self) -> None:
        if self.least_weighted is not None and not self.least_weighted > 0:
            raise PlanError(f"[publish] least_weighted is {self.least_weighted:g}; a weighted frequency is above 0.")
        if set(self.grades) != {"A", "B"} or not 0 < self.grades["A"] < self.grades["B"]:
            raise PlanError("[publish] grades are two CVs, A below B, for example { A = 0.15, B = 0.30 }.")

"""Headline: what a table found, written from its numbers by public rules: the largest row, or that it cannot be told.

A row is called the largest where its ranks are 1 to 1, by the test that ranks are made with: it is then told apart from
every other row at a level shared out over all comparisons (Bonferroni). With n rows, one of which is truly the largest,
a false headline needs another row to be told above that one: n - 1 comparisons of 0.10 / (n - 1) each, half of it to
either side, so in at most 5 of 100 releases; where two are truly equal, in at most 10. Else those rows are named whose
ranks begin at 1; by the same count the largest is one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from sfumato.errors import QueryError
from sfumato.foreign_text import joined
from sfumato.query.axis import Axis
from sfumato.query.caveats import NONE, Caveats
from sfumato.query.change import Change
from sfumato.query.digits import Digits
from sfumato.query.estimate import Estimate, Figure
from sfumato.query.ranks import RowStanding
from sfumato.query.wording import Words
from sfumato.release import Product, Withheld

LEVEL = 0.90
MOST_NAMED = 3
"""The most rows that are named where the largest cannot be told."""
LONGEST = 130
"""In how many letters, so that a headline leaves a table its room."""
MOST_ROWS = 60
"""The most rows that are compared for a headline; a reader who sorts a longer table sees the ranks of all."""


class RankedTable(Protocol):
    """A table whose rows have ranks."""

    axes: tuple[Axis, ...]
    product: Product
    time: str

    @property
    def caveats(self) -> Caveats: ...
    @property
    def unit(self) -> str: ...
    @property
    def shares_of(self) -> tuple[str, ...] | None: ...
    def figure(self, flat: int) -> Figure: ...
    def rows_of(self, column: str | int | None) -> NDArray[Any]: ...
    def sorted(self, column: str | int | None = None, level: float = 0.90) -> tuple[RowStanding, ...]: ...
    def margin(self, names: Sequence[str]) -> Any: ...
    def shares(self, of: str | Sequence[str] = "whole") -> "RankedTable": ...


class TableFinding(Protocol):
    """What a table found, in words: a claim, and the numbers that it rests on."""

    def claim(self, wording: Words) -> str: ...
    def numbers(self, wording: Words) -> str: ...
    def said(self, wording: Words) -> str: ...


@dataclass(frozen=True)
class Leader:
    """A row that may be the largest: its label, its number, and its share of the whole where it has one."""

    label: str
    number: Estimate
    share: Estimate | None = None

    def numbers(self, wording: Words) -> str:
        """Its number and its share, each with its margin."""
        share = wording("headline.share", share=_written(self.share, wording)) if self.share else ""
        unit = "" if self.number.unit in {"share", ""} else " " + self.number.unit
        return joined("", [_written(self.number, wording), unit, share])

    def said(self, wording: Words) -> str:
        """The row with its numbers in brackets."""
        return joined("", [self.label, " (", self.numbers(wording), ")"])


@dataclass(frozen=True)
class Headline:
    """The rows that may be the largest, the one with the largest number first, of how many, and in which column."""

    leaders: tuple[Leader, ...]
    count: int
    column: str = ""
    shares_of: tuple[str, ...] | None = None
    """The variables that a number and what it is a percentage of have in common; None where it is no percentage."""
    caveats: Caveats = NONE
    """What the numbers leave out."""

    @property
    def told(self) -> bool:
        """Whether the largest row is told apart from all others."""
        return len(self.leaders) == 1

    def claim(self, wording: Words) -> str:
        """What was found: which row is the largest, or that it cannot be told."""
        key = ("largest" if self.told else "untold") + ("_in" if self.column else "")
        count = wording.figure(f"{self.count:,}")
        return wording(f"headline.{key}", count=count, label=self.leaders[0].label, column=self.column)

    def numbers(self, wording: Words) -> str:
        """The numbers that the claim rests on, each with its margin, and what they leave out."""
        return joined(" ", filter(None, [self._numbers(wording), self.caveats.sentence(wording.code)]))

    def _numbers(self, wording: Words) -> str:
        first, base = self.leaders[0], self._base(wording)
        if self.told:
            return joined("", [first.numbers(wording), base, "."])
        named = self._named(wording)
        if len(self.leaders) <= MOST_NAMED and len(named) <= LONGEST:
            return joined("", [named, base, "."])
        row, many = first.said(wording), wording.figure(f"{len(self.leaders):,}")
        every = len(self.leaders) == self.count
        told = wording("headline.every", row=row) if every else wording("headline.many", many=many, row=row)
        return joined("", [told, base, "."])

    def _named(self, wording: Words) -> str:
        """Every row that may be the largest."""
        *others, last = (one.said(wording) for one in self.leaders)
        return wording("headline.rows", rows=wording("headline.either", others=joined(", ", others), last=last))

    def _base(self, wording: Words) -> str:
        """What percentages are of."""
        if self.shares_of is None:
            return ""
        same = joined(", ", self.shares_of)
        return wording("headline.of_same", of=same) if same else wording("headline.of_all")

    def said(self, wording: Words) -> str:
        """The headline in a language: the claim and its numbers in one sentence."""
        return joined(": ", [self.claim(wording), self.numbers(wording)])


def headline_of(table: RankedTable, column: str | None = None) -> Headline | None:
    """The headline of the rows by one column, or by their totals; none where no row can be called the largest.

    That is so where rows overlap, are periods, hold no number or changes, or have no stated error.
    """
    totals = _by_total(table) if column is None else table
    if totals is None or not 2 <= len(totals.axes[0].codes) <= MOST_ROWS:
        return None
    rows = totals.axes[0]
    if rows.attribute.name == totals.time or rows.groups.overlap:
        return None
    places = [int(flat) for flat in totals.rows_of(column)]
    numbers = [totals.figure(flat) for flat in places]
    stated = [one for one in numbers if isinstance(one, Estimate) and not isinstance(one, Change)]
    if len(stated) < len(numbers) or any(isinstance(one.moe(LEVEL), Withheld) for one in stated):
        return None
    ahead = foremost(totals.sorted(column, LEVEL))
    shares = _shares(totals) if ahead else None
    if len(ahead) > 1 and all(one.variance == 0 for one in stated):
        return None  # true numbers that are equal leave nothing to be told
    leaders = [_leader(_named(rows, one.place), stated[one.place], shares, one.place) for one in ahead]
    label = totals.axes[1].label(column) if column is not None and len(totals.axes) > 1 else ""
    told = label, totals.shares_of, totals.caveats
    return Headline(tuple(leaders), len(numbers), *told) if leaders else None


def foremost(standings: Sequence[RowStanding]) -> tuple[RowStanding, ...]:
    """The rows that may be the largest, in the order of their numbers; none where ranks are not stated.

    >>> rows = [RowStanding(0, "a", 9.0, (1, 1)), RowStanding(1, "b", 4.0, (2, 3)), RowStanding(2, "c", 3.0, (2, 3))]
    >>> [one.code for one in foremost(rows)]
    ['a']
    """
    ranks = [one.ranks for one in standings]
    if any(one is None for one in ranks):
        return ()
    return tuple(one for one, held in zip(standings, ranks, strict=True) if held is not None and held[0] == 1)


def foremost_first(standings: Sequence[RowStanding]) -> tuple[RowStanding, ...]:
    """All rows, those that may be the largest before the others.

    >>> rows = [RowStanding(0, "a", 9.0, (1, 2)), RowStanding(1, "b", 8.0, (2, 3)), RowStanding(2, "c", 3.0, (1, 3))]
    >>> [one.code for one in foremost_first(rows)]
    ['a', 'c', 'b']
    """
    ahead = foremost(standings)
    return (*ahead, *(one for one in standings if one not in ahead))


def _by_total(table: RankedTable) -> RankedTable | None:
    """The table with its rows alone, their totals in place of columns."""
    if len(table.axes) == 1:
        return table
    if len(table.axes) != 2 or table.time in {axis.attribute.name for axis in table.axes}:
        return None
    margin: RankedTable | None = table.margin([table.axes[0].attribute.name])
    return margin


def _shares(table: RankedTable) -> RankedTable | None:
    """Each row as a share of the whole, where the table is of numbers that have one."""
    if table.unit == "share" or len(table.axes) > 1 or not table.product.subject.additive:
        return None
    try:
        return table.shares()
    except QueryError:  # a table that was measured on its own has no whole
        return None


def _named(rows: Axis, place: int) -> str:
    """A row by its label; by its variable as well where that is a number, as the first year is not the number 1."""
    label = rows.labels[place]
    return f"{rows.attribute.label} {label}" if label.isdecimal() else label


def _leader(label: str, number: Estimate, shares: RankedTable | None, place: int) -> Leader:
    share = shares.figure(place) if shares else None
    usable = isinstance(share, Estimate) and not isinstance(share.moe(LEVEL), Withheld)
    return Leader(label, number, share if usable and isinstance(share, Estimate) else None)


def _written(one: Estimate, wording: Words) -> str:
    """A number and its margin, with the digits that the margin leaves; a true number alone."""
    digits, margin = Digits.of(one), one.moe(LEVEL)
    assert not isinstance(margin, Withheld)  # noqa: S101 - only what is stated is written here
    sign = "%" if digits.percent else ""
    if one.variance == 0:
        return wording.figure(f"{digits.number(one.value)}{sign}")
    return wording.figure(f"{digits.number(one.value)}{sign}\u00a0±\u00a0{digits.margin(margin)}")

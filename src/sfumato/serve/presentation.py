"""Presentation: how the numbers of a question are given: as shares, in an order, with a kind of error."""

import sys
from dataclasses import dataclass, fields, replace

from sfumato.errors import QueryError, nearest
from sfumato.query import LARGEST_PAGE, Figures
from sfumato.query.answer import ERRORS, Placement
from sfumato.serve.address_parameters import Pairs, Parameters
from sfumato.serve.question import Question

SHARES = ("row", "column", "whole")
ORDERS = ("falling", "rising")
KINDS = tuple(ERRORS)


@dataclass(frozen=True)
class Presentation:
    """How the numbers of a question are given: as shares of what, in which order, and with which error.

    A share is of the row, the column, the whole, or of the totals that some variables tell; rows are sorted by a column
    or by their total.
    """

    share: str = ""
    sort: str = ""
    order: str = "falling"
    error: str = "moe90"
    change: str = ""
    """What changes are counted from: "last", "year", a period or a release; '' for numbers as they are."""
    per: str = ""
    """The statistic that the numbers are divided by, as in means; '' for numbers as they are."""

    def __post_init__(self) -> None:
        if self.per and (self.share or self.change):
            other = "percentages" if self.share else "changes"
            raise QueryError(f"Means (per={self.per[:100]}) have no {other}; ask for one of the two at a time.")
        for name, value, known in (("order", self.order, ORDERS), ("error", self.error, KINDS)):
            if value not in known:
                raise QueryError(f"{name} is '{value[:200]}'; {nearest(value[:200], known)}")

    @classmethod
    def read(cls, given: Parameters) -> "Presentation":
        """As the parameters of an address say it."""
        return cls(**{one.name: given.plain[one.name][-1] for one in fields(cls) if one.name in given.plain})

    @property
    def pairs(self) -> Pairs:
        """What differs from the plain table, as it stands in an address."""
        plain = Presentation()
        return [
            (one.name, getattr(self, one.name))
            for one in fields(self)
            if getattr(self, one.name) != getattr(plain, one.name)
        ]

    def lasting(self, question: Question) -> Pairs:
        """The same, with the very releases that changes are counted from."""
        if not self.change:
            return self.pairs
        return replace(self, change=question.sheet.timeline.lasting_since(question.sheets, self.change)).pairs

    def figures(self, question: Question, placement: Placement) -> Figures:
        """The answer in this way; what is too large for a format is refused later, before any number is computed."""
        question = replace(question, since=self.change, per=self.per)
        table = question.table(at_most=sys.maxsize)
        if self.sort:
            table = table.in_order(*self._sorted(question, placement))
        if not self.share:
            return table
        if table.size > LARGEST_PAGE:
            raise QueryError(f"Shares are given of at most {LARGEST_PAGE:,} cells; this table has {table.size:,}.")
        return table.shares(self._kept(question, placement))

    def _kept(self, question: Question, placement: Placement) -> tuple[str, ...]:
        """The variables whose totals the shares are of."""
        shown = [name for name in question.shown if name != question.sheet.time]
        above = tuple(name for name in shown if name in placement.heading)
        if self.share == "row":
            return tuple(name for name in shown if name not in above) if above else ()
        if self.share in {"column", "whole"}:
            return above if self.share == "column" else ()
        named = tuple(one.strip() for one in self.share.split(","))
        for name in named:
            if name not in shown:
                raise QueryError(f"share is of '{name[:200]}'; {nearest(name, [*SHARES, *shown])}")
        return named

    def _sorted(self, question: Question, placement: Placement) -> tuple[str, list[str]]:
        """The variable of the rows, and its codes in the order of what a column shows."""
        rows = [name for name in question.shown if name not in placement.heading]
        above = [name for name in question.shown if name in placement.heading]
        if len(rows) != 1 or len(above) > 1:
            raise QueryError("Rows are sorted where one variable stands at the side and at most one above (heading).")
        if self.sort == "total" or not above:
            standings = question.table(rows).sorted(rising=self.order == "rising")
        else:
            table = question.table(rows, above[0])
            numbers = table.shares(self._kept(question, placement)) if self.share else table
            standings = numbers.sorted(self.sort, rising=self.order == "rising")
        return rows[0], [one.code for one in standings]

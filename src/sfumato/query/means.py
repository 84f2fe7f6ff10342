"""Means: every cell of a table of amounts over the number of the same records, with the error of both together.

Products are measured with noise of their own, so their covariance is 0. The interval is Fieller's, and a cell whose
number of records is within its own noise of 0 has no mean and says so.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sfumato.errors import QueryError
from sfumato.query.axis import Axis
from sfumato.query.crosstab import Crosstab
from sfumato.query.detail import Detail, detail_of_mean
from sfumato.query.estimate import Figure
from sfumato.query.figures import Figures, Key
from sfumato.query.portable import Portable
from sfumato.query.ratio import ratio_of
from sfumato.query.shares import ShareColumns, ranks_within, ratio_statuses
from sfumato.release import NoNumber, Withheld

NO_SHARES = "Means are not parts of a whole; show percentages of the numbers that they are made of."


class Means(Portable):
    """The cells of a table of amounts, each over the same cell of a table of numbers of one release."""

    def __init__(self, amount: Crosstab, number: Crosstab) -> None:
        for one in (amount, number):
            if not one.product.subject.additive:
                raise QueryError(
                    f"{one.product.subject.title} may not be summed, so it has no means; show it as it is."
                )
        if amount.product is number.product:
            raise QueryError(f"{amount.product.subject.title} per itself is 1; choose another number to divide by.")
        if amount.product.subject.universe != number.product.subject.universe:
            both = f"{amount.product.subject.title} and {number.product.subject.title}"
            raise QueryError(f"{both} are not about the same records; choose another number to divide by.")
        self.amount, self.number, self.source = amount, number, amount.source
        self.axes, self.where, self.product = amount.axes, amount.where, amount.product
        self.has_columns, self.releases = amount.has_columns, amount.releases

    @property
    def title(self) -> str:
        return f"{self.amount.title}, per {one_of(self.number.unit)}"

    @property
    def unit(self) -> str:
        return f"{self.amount.unit} per {one_of(self.number.unit)}"

    def covers(self, axis: Axis) -> bool:
        return self.amount.covers(axis)

    def margin(self, names: Sequence[str]) -> Figures | None:
        """The means over all levels of the other variables: sums over sums, never means of means."""
        amount, number = self.amount.margin(names), self.number.margin(names)
        return Means(amount, number) if amount is not None and number is not None else None

    def in_order(self, name: str, codes: Sequence[str]) -> "Means":
        return Means(self.amount.in_order(name, codes), self.number.in_order(name, codes))

    def shares(self, of: str | Sequence[str] = "whole") -> Portable:  # noqa: ARG002 - refused of whatever
        raise QueryError(NO_SHARES)

    def figure(self, flat: int) -> Figure:
        over, under = self.amount.figure(flat), self.number.figure(flat)
        if isinstance(over, NoNumber) or isinstance(under, NoNumber):
            return over if isinstance(over, NoNumber) else under
        try:
            return ratio_of(over, under, 0.0, self.unit, self.source.sampling.ratio())
        except QueryError as error:
            return NoNumber(str(error))

    @cached_property
    def _columns(self) -> ShareColumns:
        parts, wholes = self.amount.columns(), self.number.columns()
        over, under = parts.estimate.astype(np.float64), wholes.estimate.astype(np.float64)
        noise_under, shared = wholes.noise_variance, np.zeros(len(over))
        statuses = ratio_statuses(parts, wholes, np.arange(len(over)), noise_under, shared)
        under = np.where(statuses.missing, np.nan, under)
        mean = over / under
        noise = (parts.noise_variance + mean * mean * noise_under) / (under * under)
        sampled = self.source.sampling.ratio()
        stated = np.nan if isinstance(sampled, Withheld) else sampled
        return ShareColumns(
            mean,
            np.maximum(noise, 0.0),
            np.where(statuses.missing, np.nan, stated),
            parts.cells,
            parts.grades,
            parts.law,
            statuses=statuses if statuses.missing.any() else None,
            parts=parts,
            under=under,
            under_variance=noise_under,
            covariance=shared,
        )

    def detail(self, key: Key) -> Detail:
        """What is to be known of a mean: its own errors, and the numbers that it is of."""
        place = self.place(key)
        flat = int(np.ravel_multi_index(place, self.shape)) if self.shape else 0
        labels = tuple(axis.labels[index] for axis, index in zip(self.axes, place, strict=True))
        return detail_of_mean(
            self.source, self.figure(flat), labels, self.amount.figure(flat), self.number.figure(flat)
        )

    def ranks(self, column: str | int | None = None, level: float = 0.90) -> dict[str, tuple[int, int]]:
        """For each row the ranks that hold its true one with this probability, by intervals of all rows at once."""
        found = ranks_within([self.figure(int(flat)) for flat in self.rows_of(column)], level)
        return dict(zip(self.axes[0].codes, found, strict=True))


def one_of(unit: str) -> str:
    """One of what a unit counts.

    >>> one_of("jobs"), one_of("dollars"), one_of("staff")
    ('job', 'dollar', 'staff')
    """
    return unit.removesuffix("s")

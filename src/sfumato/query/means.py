"""Means: every cell of a table of amounts over the number of the same records, with the error of both together.

Amounts and numbers have noise of their own, each of its own law; where a step made one of the other, or the release
does not say, means are refused. What both were moved by, where they were, is in their covariance (`moved_error`). The
interval is Fieller's, and a cell whose number of records is within its own noise of 0 has no mean and says so.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sfumato.errors import QueryError
from sfumato.query.axis import Axis
from sfumato.query.caveats import Caveats
from sfumato.query.crosstab import Crosstab
from sfumato.query.detail import Detail, detail_of_mean
from sfumato.query.estimate import Estimate, Figure, Variance
from sfumato.query.figures import Key, per_one, titled
from sfumato.query.portable import Portable
from sfumato.query.ratio import Ratio, ratio_of
from sfumato.query.ratio_columns import RatioColumns
from sfumato.query.shared_noise import refuse_shared
from sfumato.query.shares import ranks_within
from sfumato.query.weighting import refuse_mixed
from sfumato.release import NoNumber, Withheld
from sfumato.release.moved_error import moved_together

UNTOLD = "how far the numbers were moved is not stated"
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
        refuse_mixed(amount.source, number.source)
        refuse_shared(amount.source, number.source)
        self.amount, self.number, self.source = amount, number, amount.source
        self.axes, self.where, self.product = amount.axes, amount.where, amount.product
        self.has_columns, self.releases = amount.has_columns, amount.releases

    @property
    def title(self) -> str:
        return titled(self.statistic, [axis.attribute for axis in self.axes], self.language)

    @property
    def statistic(self) -> str:
        return per_one(self.amount.statistic, self.number.product.subject.one, self.language)

    @property
    def unit(self) -> str:
        return per_one(self.amount.unit, self.number.product.subject.one, self.language)

    @property
    def adds_up(self) -> bool:
        return False

    @property
    def caveats(self) -> Caveats:
        return self.amount.caveats.over(self.number.caveats)

    def covers(self, axis: Axis) -> bool:
        return self.amount.covers(axis)

    def margin(self, names: Sequence[str]) -> "Means | None":
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
            return mean_of(over, under, self.unit, self.source.sampling.ratio()).of_nonnegative(self._above)
        except QueryError as error:
            return NoNumber(self.product.says(str(error)))

    @property
    def _above(self) -> bool:
        """Whether no number of records is truly below 0, as of counts."""
        return self.number.product.subject.nonnegative

    @cached_property
    def _columns(self) -> RatioColumns:
        amount, number = self.amount.columns(), self.number.columns()
        moved = moved_together(amount.law, number.law)
        shared = np.broadcast_to(np.nan if moved is None else moved, len(amount))
        sampled = self.source.sampling.ratio()
        stated = np.full(len(amount), np.nan if isinstance(sampled, Withheld) else sampled)
        return RatioColumns.of(amount, number, shared, stated, apart=True, nonnegative=self._above).with_reasons(
            self.product.says
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


def mean_of(over: Estimate, under: Estimate, unit: str, sampled: Variance) -> Ratio:
    """One number over another, each with noise of its own; refused where the other may be 0."""
    moved = moved_together(over.law, under.law)
    shared = Withheld(UNTOLD) if moved is None else float(moved[0])
    return ratio_of(over, under, shared, unit, sampled, apart=True)

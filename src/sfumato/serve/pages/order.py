"""Order: the rows of a table as they stand or sorted, and the ranks that each row may truly have."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.errors import QueryError
from sfumato.query import Crosstab
from sfumato.serve.pages.layout import Layout


@dataclass(frozen=True)
class Order:
    """The places of the rows in the order they are shown, and for each place its first and last possible rank."""

    places: tuple[int, ...]
    ranks: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def rank(self, place: int) -> str:
        if place not in self.ranks:
            return ""
        first, last = self.ranks[place]
        return str(first) if first == last else f"{first}–{last}"


def order_of(layout: Layout, body: Crosstab, beside: Crosstab | None) -> Order:
    """Rows sorted by the column that the address names; only the order changes."""
    sort = layout.look.sort
    # The form carries the order along, so it may name a column of the table that was shown before.
    gone = layout.column and sort != "total" and sort not in body.axes[-1].codes
    if not sort or gone or len(layout.rows) > 1:
        return Order(tuple(range(math.prod(len(axis.codes) for axis in body.row_axes))))
    by_total = sort == "total" or not layout.column
    if by_total and beside is None and layout.column:
        raise QueryError(f"{layout.sheet.product.subject.title} has no total to sort by; sort by a column.")
    table, column = (beside or body, None) if by_total else (body, sort)
    standings = table.sorted(column, rising=layout.look.order == "rising")
    return Order(
        tuple(one.place for one in standings), {one.place: one.ranks for one in standings if one.ranks is not None}
    )

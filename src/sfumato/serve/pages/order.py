"""Order: the rows of a table as they stand or sorted, and the ranks that each row may truly have."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.errors import QueryError
from sfumato.query.portable import Portable
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


def asked(table: Portable, layout: Layout) -> Portable:
    """The table as numbers, or as the percentages that the reader asked for; without columns a row is the whole."""
    return table.shares(layout.kept) if layout.look.share else table


def order_of(layout: Layout, body: Portable, beside: Portable | None) -> Order:
    """Rows sorted by what the column that the address names shows, numbers or percentages; only the order changes."""
    sort = layout.sorted_by
    if not sort:
        return Order(tuple(range(math.prod(len(axis.codes) for axis in body.row_axes))))
    by_total = sort == "total"
    if by_total and beside is None and layout.column:
        raise QueryError(f"{layout.sheet.product.subject.title} has no total to sort by; sort by a column.")
    table, column = (beside or body, None) if by_total else (asked(body, layout), sort)
    standings = table.sorted(column, rising=layout.look.order == "rising")
    return Order(
        tuple(one.place for one in standings), {one.place: one.ranks for one in standings if one.ranks is not None}
    )

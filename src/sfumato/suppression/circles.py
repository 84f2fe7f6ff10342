"""Circles of tables: tables that bound each other's cells beyond all sums that they share.

Of a × b, b × c and a × c every pair agrees on what it shares, and still no table of all three may have them as its
margins. Where tables can be taken away one by one, each within what is left but for attributes of its own, there is
always such a table, of whole numbers too.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def circle(tables: Sequence[Iterable[Name]]) -> list[frozenset[Name]]:
    """The tables that are left in a circle, each as the attributes that others share; none where there is no circle.

    >>> circle(["ab", "bc"]), sorted(map("".join, map(sorted, circle(["ab", "bc", "ac"]))))
    ([], ['ab', 'ac', 'bc'])
    """
    left = list(dict.fromkeys(frozenset(table) for table in tables))
    while len(left) > 1:
        shared = [
            frozenset(name for name in table if any(name in other for other in left if other is not table))
            for table in left
        ]
        inside = [place for place, table in enumerate(shared) if _within_another(place, table, shared)]
        if inside:
            shared.pop(inside[0])
        elif shared == left:
            return left
        left = list(dict.fromkeys(shared))
    return []


def _within_another(place: int, table: frozenset[Name], tables: Sequence[frozenset[Name]]) -> bool:
    return any(table <= other for at, other in enumerate(tables) if at != place)

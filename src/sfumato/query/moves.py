"""Moves: whether the numbers of a table moved since the period before, by which lines over periods are dashed."""

from sfumato.errors import QueryError
from sfumato.query.change import NONE, REAL, Change
from sfumato.query.changed_table import ChangedTable
from sfumato.query.estimate import Figure
from sfumato.query.means import Means
from sfumato.query.portable import Portable


def changes_between(before: Portable, after: Portable, since: str, until: str) -> ChangedTable | None:
    """The changes from one period to the next; none of means, of percentages, and where the periods are not alike."""
    if isinstance(after, Means):
        return None
    try:
        return ChangedTable(before, after, since, until)
    except QueryError:
        return None


def move_of(change: Figure) -> str:
    """Whether a number moved since the period before; '' where that cannot be said."""
    verdict = change.verdict() if isinstance(change, Change) else ""
    return verdict if verdict in {REAL, NONE} else ""

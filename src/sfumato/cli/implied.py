"""What a loss is to whoever else a promise hides: one table, for a price and for a ledger."""

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from sfumato.cli.output import columns

if TYPE_CHECKING:
    from sfumato.privacy import Loss, Neighbours


def implied_table(hidden: "Neighbours", lost: "Callable[[int | Fraction], Loss]", head: str) -> str:
    """Whom a promise hides besides, how far away, and what is lost there; nothing where there is nobody else."""
    rows = [[one.whom, one.times, lost(one.steps).words()] for one in hidden.implied()]
    return columns(["whom", "steps", head], rows) if rows else ""

"""What a loss is to whoever else a promise hides: one table, for a price and for a ledger."""

from typing import TYPE_CHECKING

from sfumato.cli.output import columns

if TYPE_CHECKING:
    from sfumato.privacy import Loss, Neighbours


def implied_table(hidden: "Neighbours", loss: "Loss", head: str) -> str:
    """Whom a promise hides besides, how many steps away, and what he loses; nothing where there is nobody else."""
    from sfumato.privacy.groups import of_group

    rows = [[one.whom, one.times, of_group(loss, one.steps).words()] for one in hidden.implied()]
    return columns(["whom", "steps", head], rows) if rows else ""

"""The promise and its price: neighbours, moves, losses and the ledger, with no data in sight."""

from sfumato.privacy.compose import as_concentrated, as_gaussian, in_sequence, over_universes
from sfumato.privacy.contribution import Contribution
from sfumato.privacy.exact import Exact, exact, plain, positive
from sfumato.privacy.ledger import Charge, Exposure, Ledger, Spend
from sfumato.privacy.loss import Approximate, Concentrated, Gaussian, Limit, Loss, Unbounded
from sfumato.privacy.move import Bounded, EveryTable, Move, Root, Unsummed, bounded, every_table
from sfumato.privacy.neighbours import AddRemove, Alike, Neighbours, ReplaceOne, SquareRootWithin, Truncate, UnitRows
from sfumato.privacy.posterior import posterior_above, posteriors
from sfumato.privacy.sums import Sums

__all__ = [
    "AddRemove", "Alike", "Approximate", "Bounded", "Charge", "Concentrated", "Contribution", "EveryTable", "Exact",
    "Exposure", "Gaussian", "Ledger", "Limit", "Loss", "Move", "Neighbours", "ReplaceOne", "Root", "Spend",
    "SquareRootWithin", "Sums", "Truncate", "Unbounded", "UnitRows", "Unsummed", "as_concentrated", "as_gaussian",
    "bounded", "every_table", "exact", "in_sequence", "over_universes", "plain", "positive", "posterior_above",
    "posteriors",
]  # fmt: skip

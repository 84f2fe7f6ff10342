"""The promise and its price: neighbours, moves, losses and the ledger, with no data in sight."""

from sfumato.privacy.compose import as_concentrated, as_gaussian, in_sequence, over_universes
from sfumato.privacy.exact import Exact, exact, plain, positive
from sfumato.privacy.ledger import Charge, Exposure, Ledger, Spend
from sfumato.privacy.loss import Approximate, Concentrated, Gaussian, Limit, Loss, Unbounded
from sfumato.privacy.move import Bounded, Move
from sfumato.privacy.neighbours import AddRemove, Hidden, Neighbours, ReplaceOne

__all__ = [
    "AddRemove",
    "Approximate",
    "Bounded",
    "Charge",
    "Concentrated",
    "Exact",
    "Exposure",
    "Gaussian",
    "Hidden",
    "Ledger",
    "Limit",
    "Loss",
    "Move",
    "Neighbours",
    "ReplaceOne",
    "Spend",
    "Unbounded",
    "as_concentrated",
    "as_gaussian",
    "exact",
    "in_sequence",
    "over_universes",
    "plain",
    "positive",
]

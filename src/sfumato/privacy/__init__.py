"""The promise and its price: neighbours, moves, losses and the ledger, with no data in sight."""

from sfumato.privacy.compose import as_concentrated, as_gaussian, in_sequence, over_universes
from sfumato.privacy.exact import Exact, exact, plain, positive
from sfumato.privacy.ledger import Charge, Exposure, Ledger, Spend
from sfumato.privacy.loss import Approximate, Concentrated, Gaussian, Limit, Loss, Unbounded
from sfumato.privacy.move import Bounded, Move, Root, bounded
from sfumato.privacy.neighbours import AddRemove, Hidden, Neighbours, ReplaceOne, SquareRootWithin

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
    "Root",
    "Spend",
    "SquareRootWithin",
    "Unbounded",
    "as_concentrated",
    "as_gaussian",
    "bounded",
    "exact",
    "in_sequence",
    "over_universes",
    "plain",
    "positive",
]

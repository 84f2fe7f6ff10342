"""The promise and its price: neighbours, moves, losses and the ledger, with no data in sight."""

from sfumato.privacy.compose import as_concentrated, as_gaussian, in_sequence, over_universes
from sfumato.privacy.contribution import Contribution
from sfumato.privacy.exact import Exact, exact, plain, positive
from sfumato.privacy.ledger import Charge, Exposure, Ledger, Spend
from sfumato.privacy.loss import Approximate, Concentrated, Gaussian, Limit, Loss, Unbounded
from sfumato.privacy.move import Bounded, EveryTable, Move, Root, Unclaimed, Unsummed, bounded, every_table
from sfumato.privacy.neighbours import (
    AddRemove,
    Alike,
    AlongCurve,
    DataRule,
    FewRows,
    LossBySize,
    LossCurve,
    Neighbours,
    OneLevel,
    Relative,
    ReplaceOne,
    SizeWithin,
    SquareRootWithin,
    Truncate,
    UnitRows,
    along_curve,
    relative,
)
from sfumato.privacy.posterior import posterior_above, posteriors
from sfumato.privacy.sums import Sums

__all__ = [
    "AddRemove", "Alike", "AlongCurve", "Approximate", "Bounded", "Charge", "Concentrated", "Contribution", "DataRule",
    "EveryTable", "Exact", "Exposure", "FewRows", "Gaussian", "Ledger", "Limit", "Loss", "LossBySize", "LossCurve",
    "Move", "Neighbours", "OneLevel", "Relative", "ReplaceOne", "Root", "SizeWithin", "Spend", "SquareRootWithin",
    "Sums", "Truncate", "Unbounded", "Unclaimed", "UnitRows", "Unsummed", "along_curve", "as_concentrated",
    "as_gaussian", "bounded", "every_table", "exact", "in_sequence", "over_universes", "plain", "positive",
    "posterior_above", "posteriors", "relative",
]  # fmt: skip

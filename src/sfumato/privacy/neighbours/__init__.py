"""The relations between neighbours: one file each, found by its kind."""

from sfumato.privacy.neighbours.add_remove import AddRemove
from sfumato.privacy.neighbours.loss_by_size import LossBySize
from sfumato.privacy.neighbours.loss_curve import AlongCurve, LossCurve, along_curve
from sfumato.privacy.neighbours.neighbours import (
    Alike,
    DataRule,
    FewRows,
    Implied,
    Neighbours,
    OneLevel,
    Truncate,
    UnitRows,
)
from sfumato.privacy.neighbours.relative import Relative, relative
from sfumato.privacy.neighbours.replace_one import ReplaceOne
from sfumato.privacy.neighbours.size_within import SizeWithin
from sfumato.privacy.neighbours.square_root_within import SquareRootWithin

__all__ = [
    "AddRemove", "Alike", "AlongCurve", "DataRule", "FewRows", "Implied", "LossBySize", "LossCurve", "Neighbours",
    "OneLevel", "Relative", "ReplaceOne", "SizeWithin", "SquareRootWithin", "Truncate", "UnitRows", "along_curve",
    "relative",
]  # fmt: skip

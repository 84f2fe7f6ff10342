"""The relations between neighbours: one file each, found by its kind."""

from sfumato.privacy.neighbours.add_remove import AddRemove
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
    "AddRemove", "Alike", "DataRule", "FewRows", "Implied", "Neighbours", "OneLevel", "Relative", "ReplaceOne",
    "SizeWithin", "SquareRootWithin", "Truncate", "UnitRows", "relative",
]  # fmt: skip

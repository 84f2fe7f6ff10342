"""The relations between neighbours: one file each, found by its kind."""

from sfumato.privacy.neighbours.add_remove import AddRemove
from sfumato.privacy.neighbours.neighbours import Alike, Neighbours, Truncate, UnitRows
from sfumato.privacy.neighbours.replace_one import ReplaceOne
from sfumato.privacy.neighbours.square_root_within import SquareRootWithin

__all__ = ["AddRemove", "Alike", "Neighbours", "ReplaceOne", "SquareRootWithin", "Truncate", "UnitRows"]

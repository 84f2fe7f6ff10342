"""What may be talked about: attributes, their public levels, tables and boxes of cells."""

from sfumato.schema.aggregates import (
    Aggregate,
    Clipped,
    Extremes,
    Influence,
    InSteps,
    Largest,
    Ragged,
    Reported,
    Rows,
    Sorted,
    Sum,
    SumOfProducts,
    Units,
    UnitSums,
    Weighted,
)
from sfumato.schema.attributes import Attribute, Bands, Column, Missing, Recode, Rule
from sfumato.schema.boxes import Box, Grid
from sfumato.schema.cell_keys import CellKeys
from sfumato.schema.domain import Domain
from sfumato.schema.family import Component, Family
from sfumato.schema.frame import Frame, Grouping
from sfumato.schema.leaf_groups import LeafGroups
from sfumato.schema.level import By, Level
from sfumato.schema.levels import Levels, Mask
from sfumato.schema.replication import Replication
from sfumato.schema.schema import Partner, Schema
from sfumato.schema.synonyms import Synonyms
from sfumato.schema.table import FARTHEST, LARGEST, Table, Where
from sfumato.schema.up_to import UpTo, domain_of

__all__ = [
    "FARTHEST",
    "LARGEST",
    "Aggregate",
    "Attribute",
    "Bands",
    "Box",
    "By",
    "CellKeys",
    "Clipped",
    "Column",
    "Component",
    "Domain",
    "Extremes",
    "Family",
    "Frame",
    "Grid",
    "Grouping",
    "InSteps",
    "Influence",
    "Largest",
    "LeafGroups",
    "Level",
    "Levels",
    "Mask",
    "Missing",
    "Partner",
    "Ragged",
    "Recode",
    "Replication",
    "Reported",
    "Rows",
    "Rule",
    "Schema",
    "Sorted",
    "Sum",
    "SumOfProducts",
    "Synonyms",
    "Table",
    "UnitSums",
    "Units",
    "UpTo",
    "Weighted",
    "Where",
    "domain_of",
]  # fmt: skip

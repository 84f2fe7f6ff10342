"""What may be talked about: attributes, their public levels, tables and boxes of cells."""

from sfumato.schema.aggregates import (
    Aggregate,
    Clipped,
    Influence,
    Largest,
    Ragged,
    Rows,
    Sorted,
    Sum,
    SumOfProducts,
    Units,
    Weighted,
)
from sfumato.schema.attributes import Attribute, Bands, Column, Missing, Recode, Rule
from sfumato.schema.boxes import Box, Grid
from sfumato.schema.domain import Domain
from sfumato.schema.frame import Frame, Grouping
from sfumato.schema.level import By, Level
from sfumato.schema.levels import Levels, Mask
from sfumato.schema.schema import Schema
from sfumato.schema.table import FARTHEST, LARGEST, Table, Where

__all__ = [
    "FARTHEST",
    "LARGEST",
    "Aggregate",
    "Attribute",
    "Bands",
    "Box",
    "By",
    "Clipped",
    "Column",
    "Domain",
    "Frame",
    "Grid",
    "Grouping",
    "Influence",
    "Largest",
    "Level",
    "Levels",
    "Mask",
    "Missing",
    "Ragged",
    "Recode",
    "Rows",
    "Rule",
    "Schema",
    "Sorted",
    "Sum",
    "SumOfProducts",
    "Table",
    "Units",
    "Weighted",
    "Where",
]

"""What may be talked about: attributes, their public levels, tables and boxes of cells."""

from sfumato.schema.aggregates import Aggregate, Rows, Sum, Weighted
from sfumato.schema.attributes import Attribute, Bands, Column, Missing, Recode, Rule
from sfumato.schema.domain import Domain
from sfumato.schema.frame import Frame, Grouping
from sfumato.schema.levels import Levels, Mask
from sfumato.schema.schema import Schema
from sfumato.schema.table import FARTHEST, LARGEST, Box, Grid, Table, Where

__all__ = [
    "FARTHEST",
    "LARGEST",
    "Aggregate",
    "Attribute",
    "Bands",
    "Box",
    "Column",
    "Domain",
    "Frame",
    "Grid",
    "Grouping",
    "Levels",
    "Mask",
    "Missing",
    "Recode",
    "Rows",
    "Rule",
    "Schema",
    "Sum",
    "Table",
    "Weighted",
    "Where",
]

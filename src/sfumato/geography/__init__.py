"""Public shapes: outlines read from files, projected, simplified and drawn once on a small grid."""

from sfumato.geography.shapes import MOST_BYTES, Shapes

REPORT, FROM_LOCATIONS = "partition.json", "microaggregation"
"""The file that says how the areas beside it were made, and what it says of those made from where units are."""

__all__ = ["FROM_LOCATIONS", "MOST_BYTES", "REPORT", "Shapes"]

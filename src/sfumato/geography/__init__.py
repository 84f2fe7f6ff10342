"""Public shapes: outlines read from files, projected, simplified and drawn once on a small grid."""

from sfumato.geography.shapes import MOST_BYTES, Shapes

__all__ = ["MOST_BYTES", "Shapes"]

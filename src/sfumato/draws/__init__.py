"""Exact integer noise over a cryptographic stream: the bottom layer, which knows nothing of privacy."""

from sfumato.draws.laws import DiscreteNormal, Law, RoundedNormal, TwoSidedGeometric
from sfumato.draws.stream import Draws, SeededDraws, SystemDraws
from sfumato.draws.truncated import TruncatedGeometric

__all__ = [
    "DiscreteNormal",
    "Draws",
    "Law",
    "RoundedNormal",
    "SeededDraws",
    "SystemDraws",
    "TruncatedGeometric",
    "TwoSidedGeometric",
]

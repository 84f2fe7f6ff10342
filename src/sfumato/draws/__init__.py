"""Exact integer noise over a cryptographic stream: the bottom layer, which knows nothing of privacy."""

from sfumato.draws.changes import Changed
from sfumato.draws.geometric import TwoSidedGeometric
from sfumato.draws.laws import Law
from sfumato.draws.normal import DiscreteNormal, RoundedNormal
from sfumato.draws.quartic import Quartic, draw_quartic
from sfumato.draws.rounded_laplace import RoundedLaplace
from sfumato.draws.stream import Draws, SeededDraws, SystemDraws
from sfumato.draws.truncated_geometric import TruncatedGeometric

__all__ = [
    "Changed", "DiscreteNormal", "Draws", "Law", "Quartic", "RoundedLaplace", "RoundedNormal", "SeededDraws",
    "SystemDraws", "TruncatedGeometric", "TwoSidedGeometric", "draw_quartic",
]  # fmt: skip

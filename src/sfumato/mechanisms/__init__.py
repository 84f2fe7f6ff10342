"""The mechanisms, one file each: claim, law, proof sketch, example. A new file here is found by its name."""

from sfumato.mechanisms.additive import Additive
from sfumato.mechanisms.average_weight import AverageWeight
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.clipped_total import ClippedTotal
from sfumato.mechanisms.curve_laplace import CurveLaplace
from sfumato.mechanisms.discrete_gaussian import DiscreteGaussian
from sfumato.mechanisms.even_gaussian import EvenGaussian
from sfumato.mechanisms.geometric import Geometric
from sfumato.mechanisms.log_laplace import LogLaplace
from sfumato.mechanisms.mechanism import Mechanism, Typical
from sfumato.mechanisms.noise_infusion import NoiseInfusion
from sfumato.mechanisms.rounded_gaussian import RoundedGaussian
from sfumato.mechanisms.smooth_gamma import SmoothGamma
from sfumato.mechanisms.smooth_laplace import SmoothLaplace
from sfumato.mechanisms.square_root import SquareRoot
from sfumato.mechanisms.truncated_geometric import TruncatedGeometricNoise

__all__ = [
    "Additive", "AverageWeight", "Cells", "ClippedTotal", "CurveLaplace", "DiscreteGaussian", "EvenGaussian",
    "Geometric", "LogLaplace", "Mechanism", "NoiseInfusion", "RoundedGaussian", "SmoothGamma", "SmoothLaplace",
    "SquareRoot", "TruncatedGeometricNoise", "Typical",
]  # fmt: skip

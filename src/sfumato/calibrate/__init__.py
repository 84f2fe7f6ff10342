"""Calibration: steps from published numbers to better published numbers, one file each."""

from sfumato.calibrate.least_squares import LeastSquares
from sfumato.calibrate.microdata import ProtectedMicrodata
from sfumato.calibrate.rake import Rake
from sfumato.calibrate.step import Diverged, Step
from sfumato.calibrate.weigh import Weigh

__all__ = ["Diverged", "LeastSquares", "ProtectedMicrodata", "Rake", "Step", "Weigh"]

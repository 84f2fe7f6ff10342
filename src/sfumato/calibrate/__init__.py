"""Calibration: steps from published numbers to better published numbers, one file each."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.calibrate.step import Diverged, Step, calibrated

if TYPE_CHECKING:
    from sfumato.calibrate.calibration_weights import CalibrationWeights
    from sfumato.calibrate.fourier_nonnegative import FourierNonnegative
    from sfumato.calibrate.least_squares import LeastSquares
    from sfumato.calibrate.microdata import ProtectedMicrodata
    from sfumato.calibrate.nearest_nonnegative import NearestNonnegative
    from sfumato.calibrate.one_carrier import OneCarrier
    from sfumato.calibrate.percentile import Percentile
    from sfumato.calibrate.rake import Rake
    from sfumato.calibrate.set_to_zero import SetToZero
    from sfumato.calibrate.weigh import Weigh

__all__ = [
    "CalibrationWeights", "Diverged", "FourierNonnegative", "LeastSquares", "NearestNonnegative", "OneCarrier",
    "Percentile", "ProtectedMicrodata", "Rake", "SetToZero", "Step", "Weigh", "calibrated",
]  # fmt: skip

_HOMES = {
    "CalibrationWeights": "calibration_weights", "FourierNonnegative": "fourier_nonnegative",
    "LeastSquares": "least_squares", "NearestNonnegative": "nearest_nonnegative", "OneCarrier": "one_carrier",
    "Percentile": "percentile", "ProtectedMicrodata": "microdata", "Rake": "rake", "SetToZero": "set_to_zero",
    "Weigh": "weigh",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """A step, imported when it is first used: a plan without steps is priced and run without them."""
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

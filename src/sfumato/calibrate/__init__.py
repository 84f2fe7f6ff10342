"""Calibration: steps from published numbers to better published numbers, one file each."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.calibrate.step import Diverged, Step, calibrated

if TYPE_CHECKING:
    from sfumato.calibrate.least_squares import LeastSquares
    from sfumato.calibrate.microdata import ProtectedMicrodata
    from sfumato.calibrate.rake import Rake
    from sfumato.calibrate.weigh import Weigh

__all__ = ["Diverged", "LeastSquares", "ProtectedMicrodata", "Rake", "Step", "Weigh", "calibrated"]

_HOMES = {"LeastSquares": "least_squares", "ProtectedMicrodata": "microdata", "Rake": "rake", "Weigh": "weigh"}


def __getattr__(name: str) -> Any:
    """A step, imported when it is first used: a plan without steps is priced and run without them."""
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

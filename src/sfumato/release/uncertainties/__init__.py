"""Uncertainties: what a release states of the joint error of a product, one file a kind, each writes itself."""

from sfumato.release.uncertainties.adjusted import Adjusted
from sfumato.release.uncertainties.calibrated import Calibrated
from sfumato.release.uncertainties.components import Components
from sfumato.release.uncertainties.controls import Control
from sfumato.release.uncertainties.departures import Departures
from sfumato.release.uncertainties.earlier import Earlier
from sfumato.release.uncertainties.independent import Independent
from sfumato.release.uncertainties.proportional import Proportional
from sfumato.release.uncertainties.raked import Raked
from sfumato.release.uncertainties.shifted import Shifted
from sfumato.release.uncertainties.sided import Sided
from sfumato.release.uncertainties.squared import Squared
from sfumato.release.uncertainties.trend import Trend
from sfumato.release.uncertainties.uncertainty import (
    Errors,
    StatedIn,
    Uncertainty,
    Withheld,
    read_uncertainty,
    stated,
    withheld,
)
from sfumato.release.uncertainties.varying import Varying

__all__ = [
    "Adjusted", "Calibrated", "Components", "Control", "Departures", "Earlier", "Errors", "Independent", "Proportional",
    "Raked", "Shifted", "Sided", "Squared", "StatedIn", "Trend", "Uncertainty", "Varying", "Withheld",
    "read_uncertainty",
    "stated", "withheld",
]  # fmt: skip

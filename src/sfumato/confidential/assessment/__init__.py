"""Assessment: risk and utility of a release against the true data; it stays inside the agency."""

from sfumato.confidential.assessment.assess import NOTICE, STAGES, Assessment, assess
from sfumato.confidential.assessment.comparisons import Rules
from sfumato.confidential.assessment.sweep import Sweep

__all__ = ["NOTICE", "STAGES", "Assessment", "Rules", "Sweep", "assess"]

"""Assessment: risk and utility of a release against the true data; it stays inside the agency."""

from sfumato.confidential.assessment.assess import NOTICE, STAGES, Assessment, assess
from sfumato.confidential.assessment.comparisons import ReportRules
from sfumato.confidential.assessment.side_by_side import SideBySide, side_by_side
from sfumato.confidential.assessment.sweep import Sweep

__all__ = ["NOTICE", "STAGES", "Assessment", "ReportRules", "SideBySide", "Sweep", "assess", "side_by_side"]

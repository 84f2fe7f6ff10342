"""Published tables and figures, reproduced and printed beside the published numbers."""

from sfumato.studies.interactive import STUDIES as INTERACTIVE
from sfumato.studies.masking import STUDIES as MASKING
from sfumato.studies.ors import STUDIES as ORS
from sfumato.studies.ors_weights import STUDIES as WEIGHTS
from sfumato.studies.qcew import STUDIES as QCEW
from sfumato.studies.qcew_utility import STUDIES as UTILITY
from sfumato.studies.study import Line, Study

STUDIES: dict[str, Study] = {study.name: study for study in (*ORS, *WEIGHTS, *INTERACTIVE, *QCEW, *UTILITY, *MASKING)}

__all__ = ["STUDIES", "Line", "Study"]

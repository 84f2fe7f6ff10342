"""Published tables and figures, reproduced and printed beside the published numbers."""

from sfumato.studies.interactive import STUDIES as INTERACTIVE
from sfumato.studies.ors import STUDIES as ORS
from sfumato.studies.ors_weights import STUDIES as WEIGHTS
from sfumato.studies.study import Line, Study

STUDIES: dict[str, Study] = {study.name: study for study in (*ORS, *WEIGHTS, *INTERACTIVE)}

__all__ = ["STUDIES", "Line", "Study"]

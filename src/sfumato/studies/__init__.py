"""Published tables and figures, reproduced and printed beside the published numbers."""

from sfumato.studies.ors import STUDIES as ORS
from sfumato.studies.study import Line, Study

STUDIES: dict[str, Study] = {study.name: study for study in (*ORS,)}

__all__ = ["STUDIES", "Line", "Study"]

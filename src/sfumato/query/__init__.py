"""Questions to a release, and answers with their errors."""

from sfumato.query.axis import Axis, Choice
from sfumato.query.comparison import Comparison
from sfumato.query.crosstab import Crosstab
from sfumato.query.engine import LARGEST_PAGE, QueryEngine, open_folder
from sfumato.query.estimate import Estimate, number
from sfumato.query.ratio import Ratio

__all__ = [
    "LARGEST_PAGE",
    "Axis",
    "Choice",
    "Comparison",
    "Crosstab",
    "Estimate",
    "QueryEngine",
    "Ratio",
    "number",
    "open_folder",
]

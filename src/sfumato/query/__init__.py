"""Questions to a release, and answers with their errors."""

from sfumato.query.axis import Axis, Choice, Group
from sfumato.query.columns import Columns
from sfumato.query.comparison import Comparison
from sfumato.query.crosstab import Crosstab
from sfumato.query.detail import Detail
from sfumato.query.engine import QueryEngine, open_folder
from sfumato.query.estimate import Estimate, Figure
from sfumato.query.figures import LARGEST_PAGE, Figures
from sfumato.query.periods import AtPeriod, change, over_periods
from sfumato.query.ranks import RowStanding
from sfumato.query.ratio import Ratio
from sfumato.query.regions import read_groups
from sfumato.query.series import Series, SeriesTable, series
from sfumato.query.shares import Shares
from sfumato.query.wording import Sentence
from sfumato.release.figures import number

__all__ = [
    "LARGEST_PAGE", "AtPeriod", "Axis", "Choice", "Columns", "Comparison", "Crosstab", "Detail", "Estimate", "Figure",
    "Figures", "Group", "QueryEngine", "Ratio", "RowStanding", "Sentence", "Series", "SeriesTable", "Shares", "change",
    "number", "open_folder", "over_periods", "read_groups", "series",
]  # fmt: skip

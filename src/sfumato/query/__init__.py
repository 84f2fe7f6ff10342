"""Questions to a release, and answers with their errors."""

from sfumato.query.axis import Axis, Choice, Group
from sfumato.query.change import Change
from sfumato.query.changed_table import ChangedTable
from sfumato.query.columns import Columns
from sfumato.query.comparison import Comparison
from sfumato.query.crosstab import Crosstab
from sfumato.query.detail import Detail
from sfumato.query.engine import QueryEngine, open_folder
from sfumato.query.estimate import Estimate, Figure
from sfumato.query.figures import LARGEST_PAGE, Figures
from sfumato.query.finder import Find, Finds, find
from sfumato.query.means import Means
from sfumato.query.periods import AtPeriod, over_periods
from sfumato.query.ranks import RowStanding
from sfumato.query.ratio import Ratio
from sfumato.query.regions import read_groups
from sfumato.query.series import Series, series
from sfumato.query.series_table import ReleasePeriod, SeriesTable
from sfumato.query.shares import Shares
from sfumato.query.wording import Sentence
from sfumato.release.figures import number

__all__ = [
    "LARGEST_PAGE", "AtPeriod", "Axis", "Change", "ChangedTable", "Choice", "Columns", "Comparison", "Crosstab",
    "Detail", "Estimate", "Figure", "Figures", "Find", "Finds", "Group", "Means", "QueryEngine", "Ratio",
    "ReleasePeriod", "RowStanding", "Sentence", "Series", "SeriesTable", "Shares", "find", "number",
    "open_folder", "over_periods", "read_groups", "series",
]  # fmt: skip

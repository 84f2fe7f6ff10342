"""What is computed in a cell: one file a statistic."""

from sfumato.statistics.count import Count
from sfumato.statistics.excess import Excess
from sfumato.statistics.statistic import Statistic
from sfumato.statistics.total import Total

__all__ = ["Count", "Excess", "Statistic", "Total"]

"""Room: about how wide the columns of numbers are, which is what the names of rows give way to.

In rem, by the widths that letters of our fonts have on average: heads at .88rem, numbers at .97, errors at .76.
"""

import math
from collections.abc import Iterable

from sfumato.serve.pages.cell import SEEN, Cell

_HEAD, _FIGURE, _ERROR, _PADDING = 0.43, 0.5, 0.39, 1.3
_LEAST = 3.8
STEP = 2
"""How many rem lie between the widths that the style sheet knows."""


def beside(columns: Iterable[tuple[str, Iterable[Cell]]]) -> int:
    """The width of columns, each a head with its cells, rounded up to one that the style sheet knows.

    >>> beside([("Total", [Cell("6,830", "± 220", "A", 1, "")]), ("high school", [Cell("902", "± 87", "A", 1, "")])])
    12
    """
    widths = (max(_LEAST, _HEAD * len(head), *map(_wide, cells)) + _PADDING for head, cells in columns)
    return STEP * math.ceil(sum(widths) / STEP)


def _wide(cell: Cell) -> float:
    """A number over its error, and before it the percentage of a change and after it its verdict."""
    graded = 3 if cell.grade in SEEN else 0
    changed = 3.5 + _ERROR * max(len(cell.percent), len(cell.percent_error)) if cell.verdict else 0
    return changed + max(_FIGURE * len(cell.number), _ERROR * (len(cell.error) + graded))

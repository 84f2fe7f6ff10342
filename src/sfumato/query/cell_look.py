"""Cell look: how wide the smear under a number is, and the style of a table where no page gives it one."""

import math

from sfumato.query.estimate import Estimate
from sfumato.release import Withheld

WIDEST = 10
STYLE = (
    ".sfumato table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".sfumato caption{text-align:left;padding-bottom:.4em}"
    ".sfumato th{font-weight:400;text-align:left}"
    ".sfumato thead th{font-weight:600;vertical-align:bottom}"
    ".sfumato td,.sfumato thead th:not(:first-child){text-align:right}"
    ".sfumato td{position:relative;line-height:1.15;white-space:nowrap;vertical-align:top}"
    ".sfumato td,.sfumato th{padding:.2em .6em}"
    ".sfumato .n,.sfumato .moe{position:relative}"
    ".sfumato .n{display:block}"
    ".sfumato .moe{font-size:.8em;opacity:.8}"
    ".sfumato .grade{font-size:.75em;font-weight:600;border-radius:3px;padding:0 .3em;background:#c98a2b33}"
    ".sfumato .gA .grade{display:none}.sfumato .gC .grade{background:#b3261e33}"
    ".sfumato .smear{position:absolute;right:.4em;top:1.15em;height:4px;border-radius:4px;"
    "background:radial-gradient(closest-side,#c98a2b,#c98a2b00);opacity:.75}"
    + "".join(f".sfumato .w{width}{{width:{9 * width}%}}" for width in range(1, WIDEST + 1))
)
"""As on the page: the number over its error on the smear, and its grade where it is B or C; heard are all of them."""


def smear_of(estimate: Estimate) -> int:
    """How wide the smear under a number is, 0 to 10: the wider, the less the number says; none of a withheld error.

    >>> smear_of(Estimate(100, 25.0)), smear_of(Estimate(1, 25.0)), smear_of(Estimate(100, 0.0))
    (1, 10, 0)
    >>> smear_of(Estimate(100, Withheld("its noise follows the largest unit")))
    0
    """
    margin = estimate.moe(0.90)
    if isinstance(margin, Withheld) or margin == 0:
        return 0
    return WIDEST if not estimate.value else max(1, min(WIDEST, math.ceil(WIDEST * margin / abs(estimate.value))))

"""Together: one pattern for several measures of the same contributors.

A cell that one measure withholds and another publishes is known to have enough contributors, and is no secret of the
first: whoever reads both would know which cells protect others. So a cell is withheld in all of them or in none.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.confidential.suppress.contributions import Contributions
from sfumato.confidential.suppress.pattern import Pattern
from sfumato.confidential.suppress.primary import PrimaryRules, needs
from sfumato.confidential.suppress.protect import held, protect
from sfumato.confidential.suppress.protection import Prior
from sfumato.suppression import Flags, LinkedTables


def protect_together(
    linked: LinkedTables,
    measures: Sequence[Contributions],
    rules: Sequence[PrimaryRules],
    before: Sequence[Flags],
    missing: Flags,
    priors: Sequence[Prior],
    **asked: Any,
) -> list[Pattern]:
    """A pattern for each measure, with the same cells missing but for those that were published `before` of some.

    `missing` are cells that were withheld before. More missing cells protect no measure less, but for sums of missing
    cells, which are looked at again.
    """
    forced = held(linked, asked.get("forced", ()))
    public = [forced | one for one in before]
    if len(measures) > 1:
        for cells, rule, told in zip(measures, rules, public, strict=True):
            missing = missing | (needs(linked, cells, rule).primary & (cells.counts > 0) & ~told)
    patterns: dict[int, Pattern] = {}
    seen = [np.zeros(linked.size, dtype=bool) for _ in measures]
    while True:
        late = [place for place in range(len(measures)) if place not in patterns or (missing & ~seen[place]).any()]
        if not late:
            return [patterns[place] for place in range(len(measures))]
        for place in late:
            patterns[place] = protect(
                linked, measures[place], rules[place], before=before[place], also=missing, prior=priors[place], **asked
            )
            missing = missing | patterns[place].suppressed
            seen[place] = missing

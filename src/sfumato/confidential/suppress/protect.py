"""Protect: primary rules, then secondary suppression, of linked tables as one system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.confidential.suppress.contributions import Contributions
from sfumato.confidential.suppress.pattern import (
    EMPTY,
    FORCED,
    PRIMARY,
    PUBLISHED,
    SECONDARY,
    WAIVED,
    Effort,
    Pattern,
    cost_of,
)
from sfumato.confidential.suppress.primary import Needs, PrimaryRules, needs
from sfumato.confidential.suppress.secondary import Progress, Search, Task
from sfumato.suppression import Flags, Floats, Linked


@dataclass(frozen=True, eq=False)
class Prior:
    """What everybody knows of a cell before anything is published: at least `low`, at most `high`."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, totals: Floats) -> "Prior":
        """That no cell is negative; nothing where some are."""
        floor = 0.0 if np.all(totals >= 0) else -np.inf
        return cls(np.full(len(totals), floor), np.full(len(totals), np.inf))


def protect(  # noqa: PLR0913 - each is a decision of the agency
    linked: Linked,
    cells: Contributions,
    rules: PrimaryRules,
    *,
    cost: str = "value",
    forced: Sequence[Mapping[str, str]] = (),
    prior: Prior | None = None,
    asked: Needs | None = None,
    progress: Progress = lambda *_: None,
) -> Pattern:
    """The pattern of linked tables: sensitive cells by the rules, and further cells so that none can be worked out.

    `forced` are cells that are published whatever they tell; `asked` are needs that were found elsewhere.
    """
    found = asked or needs(linked, cells, rules)
    held = np.zeros(linked.size, dtype=bool)
    held[[linked.find(where) for where in forced]] = True
    there = cells.counts > 0
    prior = prior or Prior.of(cells.totals)
    primary = found.primary & ~held
    task = Task(
        linked.only(there),
        (prior.high - cells.totals)[there],
        (cells.totals - prior.low)[there],
        np.where(primary, found.upper, 0)[there],
        np.where(primary, np.minimum(found.lower, cells.totals - prior.low), 0)[there],
        cost_of(cost, cells.totals)[there],
        held[there],
    )
    search = Search(task, primary[there].copy())
    search.run(progress)
    suppressed = np.zeros(linked.size, dtype=bool)
    suppressed[there] = search.suppressed
    paid = float(cost_of(cost, cells.totals)[suppressed & ~primary].sum())
    told = _Told(found, primary, suppressed, held, there, rules)
    statuses = tuple(told.status(cell) for cell in range(linked.size))
    reasons = tuple(told.reason(cell, status) for cell, status in enumerate(statuses))
    return Pattern(linked, statuses, reasons, paid, effort=Effort(search.programs))


@dataclass(frozen=True, eq=False)
class _Told:
    """What is said of each cell."""

    needs: Needs
    primary: Flags
    suppressed: Flags
    held: Flags
    there: Flags
    rules: PrimaryRules

    def status(self, cell: int) -> str:
        if not self.there[cell]:
            return EMPTY
        if self.primary[cell]:
            return PRIMARY
        if self.suppressed[cell]:
            return SECONDARY
        if self.needs.rules[cell]:
            return FORCED
        return WAIVED if self.needs.waived[cell] else PUBLISHED

    def reason(self, cell: int, status: str) -> str:
        if status in {PRIMARY, FORCED}:
            rule = self.rules.words(self.needs.rules[cell])
            return rule if status == PRIMARY else f"published by decision, although: {rule}"
        return {
            SECONDARY: "suppressed so that other cells cannot be worked out",
            WAIVED: "published as its contributors have agreed",
            EMPTY: "no contributors",
            PUBLISHED: "",
        }[status]

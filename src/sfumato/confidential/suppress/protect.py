"""Protect: primary rules, then secondary suppression, of linked tables as one system."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.confidential.suppress.best import Best, Found, search
from sfumato.confidential.suppress.contributions import Contributions
from sfumato.confidential.suppress.pattern import Pattern
from sfumato.confidential.suppress.primary import Needs, PrimaryRules, needs
from sfumato.confidential.suppress.protection import Prior, Protection
from sfumato.confidential.suppress.secondary import Progress
from sfumato.confidential.suppress.statuses import pattern_of
from sfumato.confidential.suppress.whole_cells import further_cells
from sfumato.suppression import Disclosure, Flags, LinkedTables

TURNS = 20
"""How often further cells are suppressed for what whole numbers pin, before a table is refused."""
WHOLE = (
    "cannot be protected in whole numbers: its sums leave it too few values. Publish fewer tables, or coarser ones, "
    "or force fewer cells."
)


def protect(  # noqa: PLR0913 - each is a decision of the agency
    linked: LinkedTables,
    cells: Contributions,
    rules: PrimaryRules,
    *,
    cost: str = "value",
    forced: Sequence[Mapping[str, str]] = (),
    prior: Prior | None = None,
    asked: Needs | None = None,
    best: Best | None = None,
    contributors: bool | None = None,
    before: Flags | None = None,
    also: Flags | None = None,
    progress: Progress = lambda *_: None,
) -> Pattern:
    """The pattern of linked tables: sensitive cells by the rules, and further cells so that none can be worked out.

    `forced` are cells that are published whatever they tell, `before` those that were, and `also` those that are
    missing in any case; `asked` are needs that were found elsewhere; `best` says how hard to look. Cells are protected
    from `contributors` as well, who know their own parts, where they are known by name. What is found is audited by
    code of its own, and refused where that finds anything.
    """
    none, known = np.zeros(linked.size, dtype=bool), cells.listed is None if contributors is None else contributors
    prior = prior or Prior.of(cells.totals, cells.counts > 0)
    wanted = Protection(
        linked, cells, rules, asked or needs(linked, cells, rules), prior, cost, known,
        forced=held(linked, forced), before=none if before is None else before, also=none if also is None else also,
    )  # fmt: skip
    found = search(wanted.task, wanted.missing, wanted.unions, best or Best(), progress)
    failures = wanted.failures(found.suppressed, progress)
    if failures and wanted.prior.whole and not wanted.failures(found.suppressed, progress, whole=False):
        found = _in_whole(wanted, found, failures, best or Best(), progress)
    elif failures:
        wanted.refuse(failures)
    return pattern_of(wanted, wanted.spread(found.suppressed), found)


def _in_whole(
    wanted: Protection, found: Found, failures: Sequence[Disclosure], best: Best, progress: Progress
) -> Found:
    """A pattern that is safe in whole numbers too: with further cells, until the audit finds nothing."""
    missing = wanted.missing
    for _ in range(TURNS):
        further = further_cells(wanted.task, found.suppressed | missing, failures)
        if not further.any():
            break
        missing = missing | further
        found = search(wanted.task, missing, wanted.unions, best, progress)
        failures = wanted.failures(found.suppressed, progress)
        if not failures:
            return found
    wanted.refuse(failures, WHOLE)
    return found


def held(linked: LinkedTables, forced: Sequence[Mapping[str, str]]) -> Flags:
    """Which cells are published whatever they tell."""
    found = np.zeros(linked.size, dtype=bool)
    found[[linked.find(where) for where in forced]] = True
    return found

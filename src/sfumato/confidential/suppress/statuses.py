"""Statuses: what became of every cell, and why, as the agency reads it."""

from sfumato.confidential.suppress.best import Found
from sfumato.confidential.suppress.pattern import EMPTY, FORCED, PRIMARY, PUBLISHED, SECONDARY, WAIVED, Pattern, cost_of
from sfumato.confidential.suppress.protection import Protection
from sfumato.suppression import Flags

REASONS = {
    SECONDARY: "suppressed so that other cells cannot be worked out",
    WAIVED: "published as its contributors have agreed",
    EMPTY: "no contributors",
    PUBLISHED: "",
}


def pattern_of(wanted: Protection, suppressed: Flags, found: Found) -> Pattern:
    """What was found, with a status and a reason for every cell."""
    secondary = suppressed & ~wanted.primary
    paid = float(cost_of(wanted.cost, wanted.cells.totals)[secondary].sum())
    statuses = tuple(_status(wanted, cell, bool(suppressed[cell])) for cell in range(wanted.linked.size))
    reasons = tuple(_reason(wanted, cell, status) for cell, status in enumerate(statuses))
    return Pattern(wanted.linked, statuses, reasons, paid, found.bound, found.work)


def _status(wanted: Protection, cell: int, suppressed: bool) -> str:
    if not wanted.there[cell]:
        return EMPTY
    if suppressed:
        return PRIMARY if wanted.primary[cell] else SECONDARY
    if wanted.needs.rules[cell]:
        return FORCED
    return WAIVED if wanted.needs.waived[cell] else PUBLISHED


def _reason(wanted: Protection, cell: int, status: str) -> str:
    if status in {PRIMARY, FORCED}:
        rule = wanted.rules.words(wanted.needs.rules[cell])
        why = "published before" if wanted.before[cell] else "published by decision"
        return rule if status == PRIMARY else f"{why}, although: {rule}"
    if status == SECONDARY and wanted.also[cell]:
        return "suppressed as another measure of it is"
    return REASONS[status]

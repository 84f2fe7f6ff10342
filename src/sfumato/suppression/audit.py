"""The attacker's audit: what anybody can work out of the suppressed cells of published tables."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sfumato.errors import DataError
from sfumato.suppression.clusters import clusters
from sfumato.suppression.equations import Flags, Floats, Integers
from sfumato.suppression.linked_tables import LinkedTables
from sfumato.suppression.polytope import Polytope
from sfumato.suppression.published import Published
from sfumato.suppression.whole_intervals import WholeIntervals

CONFIDENTIAL = "CONFIDENTIAL: what an attacker can work out of suppressed cells; do not publish."
EXACT, NARROW, SHORT = "exact", "narrow", "short"


@dataclass(frozen=True)
class Disclosure:
    """A suppressed cell, or several whose sum is, that is not protected, and against whom."""

    cell: int
    kind: str
    """exact: it is known; narrow: it is known to within the share asked about; short: it misses what it needs."""
    attacker: str = "anybody"
    others: tuple[int, ...] = ()
    """Further cells, where it is the sum of several that is known."""

    def at(self, place: Integers) -> "Disclosure":
        """The same of cells that stand elsewhere in another table."""
        return replace(self, cell=int(place[self.cell]), others=tuple(int(place[cell]) for cell in self.others))

    def words(self, linked: LinkedTables) -> str:
        """The cell or cells that are known."""
        return " with ".join(map(linked.words, (self.cell, *self.others)))


@dataclass(frozen=True, eq=False)
class SuppressionAudit:
    """The least and greatest value that each suppressed cell can have, given all that is published; confidential."""

    linked: LinkedTables
    suppressed: Flags
    low: Floats
    high: Floats
    disclosures: tuple[Disclosure, ...]

    def __repr__(self) -> str:
        told = "safe" if self.safe else f"{len(self.disclosures):,} findings"
        return f"<SuppressionAudit of {int(self.suppressed.sum()):,} suppressed cells: {told}; confidential>"

    @property
    def safe(self) -> bool:
        """Whether nothing was found."""
        return not self.disclosures

    def interval(self, cell: int) -> tuple[float, float]:
        return float(self.low[cell]), float(self.high[cell])


def audit(
    published: Published, *, within: float = 0.0, progress: Callable[[str, int, int], None] = lambda *_: None
) -> SuppressionAudit:
    """The interval of every suppressed cell, from the published table alone.

    A finding is a cell that is known exactly, or to within a share whatever it truly is: its greatest value is at most
    1 + `within` times its least. Where everybody knows that cells are whole numbers, so are the ends of intervals;
    narrow ones are worked out by integer programs.
    """
    missing, low, high = published.missing, published.low.copy(), published.high.copy()
    total, done = int(missing.sum()), 0
    for cluster in clusters(published):
        polytope = Polytope(cluster, published.low[cluster.cells], published.high[cluster.cells])
        found = polytope.intervals()
        if found is not None and published.whole:
            found = WholeIntervals(cluster, *found, polytope.whole).intervals()
        if found is None:
            raise DataError(_contradiction(published, int(cluster.cells[0])))
        low[cluster.cells], high[cluster.cells] = found
        done += cluster.size
        progress("auditing", done, total)
    disclosures = _disclosures(missing, low, high, within, published.rounding)
    return SuppressionAudit(published.linked, missing, low, high, disclosures)


def _contradiction(published: Published, cell: int) -> str:
    least = published.low[cell]
    fewer = f"; or for suppressed cells of less than {least:g} (--least 0)" if least > 0 else ""
    return (
        f"The published numbers around {published.linked.words(cell)} contradict each other, so nothing follows from "
        f"them; allow for rounding, or for values below 0, or look at the hierarchy{fewer}."
    )


def _disclosures(missing: Flags, low: Floats, high: Floats, within: float, rounding: float) -> tuple[Disclosure, ...]:
    with np.errstate(invalid="ignore"):
        width = high - low
        size = np.maximum(np.abs(low), np.abs(high))
        exact = width <= 1e-7 * np.where(np.isfinite(size), size, 0) + 2 * rounding + 1e-9
        narrow = width <= within * np.minimum(np.abs(low), np.abs(high)) * (1 - 1e-9)
    kinds = np.where(exact, EXACT, np.where(narrow, NARROW, ""))
    return tuple(Disclosure(int(cell), str(kinds[cell])) for cell in np.flatnonzero(missing & (kinds != "")))

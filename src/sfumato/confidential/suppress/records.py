"""Records behind a table: whether what it keeps back is enough for everybody who is in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.confidential.suppress.contributions import Contributions
from sfumato.confidential.suppress.primary import PrimaryRules, needs
from sfumato.confidential.suppress.protection import Prior, Protection
from sfumato.confidential.suppress.secondary import Progress
from sfumato.errors import DataError, how_many
from sfumato.suppression import Disclosure, LinkedTables, Nesting, Published


@dataclass(frozen=True)
class RecordsDecision:
    """How many cells of a published table break a rule, and what is told of them."""

    sensitive: int
    disclosures: tuple[Disclosure, ...]


def decide_by_records(
    published: Published,
    cells: Contributions,
    rules: PrimaryRules,
    least: float = 0.0,
    progress: Progress = lambda *_: None,
) -> RecordsDecision:
    """The cells that break a rule and are less uncertain than they must be, to anybody or to who is in the records.

    A cell that breaks a rule and is published is one of them. What is published must be what the records add up to.
    Everybody knows that a suppressed cell has `least`, as empty ones are published: needs downwards end there.
    """
    _refuse_other(published, cells)
    linked, none = published.linked, np.zeros(published.linked.size, dtype=bool)
    whole = published.whole and bool((cells.totals == np.rint(cells.totals)).all())
    prior = Prior(published.low, published.high, np.minimum(published.low, least), whole)
    wanted = Protection(
        linked, cells, rules, needs(linked, cells, rules), prior, "value", True,
        forced=none, before=none, also=none,
    )  # fmt: skip
    return RecordsDecision(int(wanted.primary.sum()), wanted.disclosures(published.missing, progress))


def refuse_unplaced(linked: LinkedTables, codes: Mapping[str, Sequence[str]]) -> None:
    """Records that are in no finest cell of a table would be in none of its sums, or in some and not in others."""
    for table in linked.tables:
        finest = {nesting.name: _finest(linked, nesting, codes[nesting.name]) for nesting in table}
        at = linked.places(finest)
        if np.any(at < 0):
            first = int(np.flatnonzero(at < 0)[0])
            cell = ", ".join(f"{nesting.name} {codes[nesting.name][first]}" for nesting in table)
            raise DataError(
                f"{how_many(int((at < 0).sum()), 'record', 'is', 'are')} in a cell that the table does not have, the "
                f"first in {cell}; a cell that is left out holds nobody, so add it, with its flag if it is suppressed."
            )


def _finest(linked: LinkedTables, nesting: Nesting, codes: Sequence[str]) -> list[str]:
    """The finest code of a table that each record has, or that its code is a part of by another table."""
    above, leaves = linked.above(nesting.name), set(nesting.leaves)
    found = {code: next((up for up in above.get(code, ()) if up in leaves), None) for code in set(codes)}
    unknown = sorted(code for code, leaf in found.items() if leaf is None)
    if unknown:
        raise DataError(
            f"The records have {how_many(len(unknown), 'code')} of '{nesting.name}' that a table does not have among "
            f"its finest, the first '{unknown[0]}', nor is it a part of one; give records the finest codes that are "
            "published."
        )
    return [str(found[code]) for code in codes]


def _refuse_other(published: Published, cells: Contributions) -> None:
    """A table of other numbers than the records have says nothing of what these are told by."""
    off = np.abs(published.values - cells.totals) > published.rounding + 1e-9 * cells.sizes + 1e-9
    if off.any():
        raise DataError(
            f"{how_many(int(off.sum()), 'published value')} {'is' if off.sum() == 1 else 'are'} not what the records "
            f"add up to, the first of {published.linked.words(int(np.flatnonzero(off)[0]))}; check the columns of "
            "values and weights, or allow for --rounding."
        )
    slack = published.rounding + 1e-9 * cells.sizes
    beyond = (cells.totals < published.low - slack) | (cells.totals > published.high + slack)
    beyond &= published.missing & (cells.counts > 0)
    if beyond.any():
        raise DataError(
            f"{how_many(int(beyond.sum()), 'suppressed cell', 'is', 'are')} not within what everybody is said to know "
            f"of it, the first {published.linked.words(int(np.flatnonzero(beyond)[0]))}; allow for values below 0 with "
            "--negative or for less with --least 0, or look at the columns of --known."
        )

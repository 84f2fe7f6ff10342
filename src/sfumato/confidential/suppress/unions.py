"""Unions: missing cells of one sum, whose total is known although none of them is, and one holding's share of it."""

from collections.abc import Sequence

import numpy as np

from sfumato.confidential.suppress.contributions import Contributions
from sfumato.confidential.suppress.guard import Need
from sfumato.confidential.suppress.primary import PrimaryRules, needs_of
from sfumato.suppression import ENOUGH, Flags, Floats, Integers, LinkedTables, round_up


def unions(linked: LinkedTables, suppressed: Flags, rows: Integers | None = None) -> list[tuple[int, ...]]:
    """The missing parts of every sum, where there are several; of some equations alone where they are named."""
    entries = linked.equations
    part = suppressed[entries.cells] & (entries.signs > 0)
    part &= True if rows is None else np.isin(entries.rows, rows)
    order = entries.rows[part]
    starts = np.flatnonzero(np.diff(order, prepend=-1))
    parts = np.split(entries.cells[part], starts[1:]) if len(starts) else []
    return sorted({tuple(sorted(one.tolist())) for one in parts if len(one) > 1})


def sensitive(
    found: Sequence[tuple[int, ...]], cells: Contributions, rules: PrimaryRules, room: Floats, *, whole: bool = False
) -> list[Need]:
    """The unions that break a rule as one cell would, and how uncertain their sums must stay.

    `room` is how far down each cell is asked to be uncertain at the most: as far as it may go. Needs of `whole` numbers
    are whole.
    """
    if not found or cells.listed is not None:
        return []  # where nobody is known to contribute to two cells, no union tells more than its cells do
    asked = needs_of(cells.joined(found), rules)
    sides = []
    uppers, lowers = (round_up(need, ENOUGH) if whole else need for need in (asked.upper, asked.lower))
    for members, up, down in zip(found, uppers.tolist(), lowers.tolist(), strict=True):
        if up > 0:
            sides += [Need(members, 0, up), Need(members, 1, min(down, float(room[list(members)].sum())))]
    return [side for side in sides if side.need > 0]

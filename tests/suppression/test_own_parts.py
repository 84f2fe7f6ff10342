"""What whoever is alone in some cells has of others, where a table says how many contribute and no more."""

import numpy as np
import pytest

from sfumato.confidential.suppress import Contributions
from sfumato.suppression import LinkedTables, Nesting

TRADE = Nesting.under("trade", {"a1": "", "a2": "", "a20": "a2", "a21": "a2"})
PLACE = Nesting.under("place", dict.fromkeys(("b1", "b2", "b3"), ""))


def told(linked, cells):
    """The same table as its totals and counts tell it."""
    largest = np.where(cells.counts > 0, cells.at(0), np.nan)
    return Contributions.told(cells.totals, cells.counts, largest[:, None])


def test_a_holding_has_of_a_cell_what_it_has_of_its_parts_and_not_of_others():
    """H alone has 40 and 26 in two cells of a20; of a2 in b1 it has 40 of 61, which its 66 in all are not."""
    rows = [("a20", "b1", "H", 40), ("a20", "b2", "H", 26), ("a21", "b1", "X", 21)]
    rows += [("a21", place, f"S{place}{one}", 35) for place in ("b2", "b3") for one in range(4)]
    linked = LinkedTables.of([[TRADE, PLACE]])
    trade, place, firms, values = zip(*rows, strict=True)
    known = told(linked, Contributions.of(linked, {"trade": trade, "place": place}, values, firms))._followed(linked)
    parts = list(zip(known.cells.tolist(), known.holdings.tolist(), known.amounts.tolist(), strict=True))
    (holding,) = {one for _, one, part in parts if part == 26}
    has = {linked.words(cell): part for cell, one, part in parts if one == holding}
    assert has == {
        "the total of all": 66, "trade a2": 66, "trade a20": 66, "place b1": 40, "place b2": 26,
        "trade a2, place b1": 40, "trade a2, place b2": 26, "trade a20, place b1": 40, "trade a20, place b2": 26,
    }  # fmt: skip


@pytest.mark.parametrize("linked", [
    LinkedTables.of([[TRADE, PLACE]]),
    LinkedTables.of([[TRADE, PLACE], [TRADE, Nesting.under("size", dict.fromkeys("st", ""))]]),
], ids=["one table", "linked tables"])  # fmt: skip
def test_nobody_is_taken_to_have_more_of_a_cell_than_it_has(linked):
    """Nor less than the parts of any sum of which it is known: firms of random tables, beside what they truly have."""
    exact = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        codes = {
            name: rng.choice(list(some), 12).tolist()
            for name, some in (("trade", ("a1", "a20", "a21")), ("place", ("b1", "b2", "b3")), ("size", "st"))
        }
        cells = Contributions.of(linked, codes, rng.integers(1, 90, 12), [f"F{one}" for one in rng.integers(0, 8, 12)])
        truly = dict(zip(zip(cells.cells.tolist(), cells.holdings.tolist(), strict=True), cells.amounts, strict=True))
        alone = {cell: holding for cell, holding in truly if cells.counts[cell] == 1}
        known = told(linked, cells)._followed(linked)
        parts = np.zeros((linked.size, linked.size))
        for cell, label, part in zip(known.cells.tolist(), known.holdings.tolist(), known.amounts, strict=True):
            has = truly[cell, alone[label]]
            assert part <= has
            assert part == has or cells.counts[cell] > 1
            parts[label, cell], exact = part, exact + (part == has)
        for label in np.unique(known.holdings):
            assert np.all(linked.equations.sums(parts[label]) <= 0)
    assert exact > 500

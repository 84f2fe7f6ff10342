"""Tables come from whichever margin is at hand, and are the same integers as sums over the cells one box at a time."""

import numpy as np
import pytest
from tests.release.grids import KNOWN, SHAPE, one_by_one, random_grid

from sfumato.release import lattice as made
from sfumato.release.lattice import Lattice, narrow
from sfumato.schema import Grid
from sfumato.schema.totals import totals_over
from sfumato.schema.trees import levels_of


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("quick", [0, 10**9])
def test_every_table_is_the_sum_of_its_cells_to_the_last_digit(kind, quick, monkeypatch):
    monkeypatch.setattr(made, "QUICK", quick)
    rng = np.random.default_rng(1)
    values = rng.integers(-9, 99, SHAPE).astype(kind)
    lattice = Lattice(values, KNOWN)
    for _ in range(150):
        grid = random_grid(rng)
        found = lattice.totals(grid)
        assert found.dtype == np.int64
        assert (found == one_by_one(values, grid)).all()
        assert (found == totals_over(values.astype(np.int64), KNOWN, grid)).all()
        assert sum(one.nbytes for one in lattice.kept.values()) <= lattice.limit_bytes
    assert bool(lattice.kept) == (quick == 0)


def test_a_question_is_answered_from_the_margin_of_its_levels(monkeypatch):
    monkeypatch.setattr(made, "QUICK", 0)
    lattice = Lattice(np.ones(SHAPE, dtype=np.int64), KNOWN)
    top = levels_of(KNOWN[0].levels)[1]
    grid = Grid((("job", np.arange(top.size)[:, None] == top.of),))
    assert lattice.totals(grid).tolist() == [240, 240, 40]  # six leaves of 40 cells under a and b; c is one
    assert (1, 0, 0, 0) in lattice.kept
    lattice.kept[1, 0, 0, 0][:] = 7
    assert lattice.totals(grid).tolist() == [7, 7, 7], "an altered margin must show, or it was never used"


def test_sums_that_need_more_than_32_bits_have_them():
    values = np.full(SHAPE, 2**30, dtype=np.int32)
    assert narrow(values).dtype == np.int64
    assert narrow(np.where(values > 0, 1, 0).astype(np.int32)).dtype == np.int32
    assert int(Lattice(values, KNOWN).totals(Grid(()))) == 2**30 * values.size

"""Tables come from whichever margin is at hand, and are the same integers as sums over the cells one box at a time."""

import numpy as np
import pytest

from sfumato.release import lattice as made
from sfumato.release.counts import totals_over
from sfumato.release.lattice import Lattice, levels_of, narrow
from sfumato.schema import Attribute, Box, Grid, Levels


def attributes() -> tuple[Attribute, ...]:
    tree = [{"code": "a"}, {"code": "b"}, {"code": "c"}]
    tree += [{"code": f"{top}{place}", "parent": top} for place in range(2) for top in "ab"]
    tree += [
        {"code": f"{top}{place}{leaf}", "parent": f"{top}{place}"} for leaf in "xyz" for top in "ab" for place in (0, 1)
    ]
    return (
        Attribute("job", Levels.of(tree)),
        Attribute("sex", Levels.of("fm")),
        Attribute("age", Levels.of(range(5))),
        Attribute("hours", Levels.of(range(4))),
    )


KNOWN = attributes()
SHAPE = tuple(len(one.levels.leaves) for one in KNOWN)


def one_by_one(values, grid: Grid) -> np.ndarray:
    found = [values[np.ix_(*(box.mask(one) for one in KNOWN))].sum(dtype=object) for box in grid.boxes()]
    return np.array(found, dtype=object).reshape(grid.shape)


def random_grid(rng) -> Grid:
    axes = []
    for place in rng.permutation(len(KNOWN))[: rng.integers(0, 5)]:
        one, length = KNOWN[place], SHAPE[place]
        if rng.random() < 0.3:
            groups = rng.random((rng.integers(1, 6), length)) < 0.5  # groups that overlap, and empty ones
        else:
            level = levels_of(one.levels)[rng.integers(0, len(levels_of(one.levels)))]
            groups = np.arange(level.size)[:, None] == level.of
        axes.append((one.name, groups))
    within = {one.name: rng.random(n) < 0.6 for one, n in zip(KNOWN, SHAPE, strict=True) if rng.random() < 0.3}
    return Grid(tuple(axes), Box(within))


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

"""Raking in factor form gives the cells of the textbook's loop over the tables, compiled and plain."""

import numpy as np
import pytest

from sfumato.calibrate.layout import layout_of
from sfumato.kernels import rake as plain

TABLES = {
    "one table": ((0,),),
    "one-way": ((0,), (1,), (2,), (3,)),
    "an axis that none names": ((0,), (2,)),
    "tables that share axes": ((0, 1), (1, 2), (2, 3)),
    "axes out of order": ((3, 0), (2,), (1,)),
}
SHAPE = (5, 4, 3, 6)


def by_hand(cells, tables, aims, cycles):
    """Iterative proportional fitting as Deming and Stephan wrote it: each table in turn, every cell scaled."""
    cells = cells.copy()
    for _ in range(cycles):
        for axes, aim in zip(tables, aims, strict=True):
            others = tuple(axis for axis in range(cells.ndim) if axis not in axes)
            total = cells.sum(axis=others).transpose(np.argsort(np.argsort(axes)))
            factor = np.divide(aim, total, out=np.zeros_like(aim), where=total != 0).transpose(np.argsort(axes))
            cells *= factor.reshape([n if axis in axes else 1 for axis, n in enumerate(cells.shape)])
    return cells


def margins(cells, tables):
    found = []
    for axes in tables:
        others = tuple(axis for axis in range(cells.ndim) if axis not in axes)
        found.append(cells.sum(axis=others).transpose(np.argsort(np.argsort(axes))))
    return found


def problem(name, filled, seed=3):
    rng = np.random.default_rng(seed)
    cells = rng.lognormal(1, 1, SHAPE) * (rng.random(SHAPE) < filled)
    return cells, margins(cells * rng.lognormal(0, 0.4, SHAPE), TABLES[name])


def raked(kernel, cells, tables, aims, cycles, tolerance=0.0):
    layout = layout_of(cells.shape, tables)
    laid = layout.laid(cells)
    sides = layout.sides(np.concatenate([aim.ravel() for aim in aims]))
    found = kernel.rake(layout.summed(laid), *sides, cycles, tolerance)
    return layout.scaled(laid, found.first, found.second), found.missed


@pytest.fixture(params=["plain", "compiled"])
def kernel(request):
    if request.param == "plain":
        return plain
    pytest.importorskip("numba")
    from sfumato.kernels import rake_compiled

    return rake_compiled


@pytest.mark.parametrize("filled", [1.0, 0.15])
@pytest.mark.parametrize("name", TABLES)
def test_every_cell_is_that_of_the_textbook_loop_after_the_same_cycles(kernel, name, filled):
    cells, aims = problem(name, filled)
    found, _ = raked(kernel, cells, TABLES[name], aims, 3)
    expected = by_hand(cells, TABLES[name], aims, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)
    assert not np.allclose(found, by_hand(cells, TABLES[name], aims, 2), rtol=1e-12, atol=0) or len(TABLES[name]) == 1


@pytest.mark.parametrize("name", TABLES)
def test_what_is_missed_is_measured_on_the_cells(kernel, name):
    cells, aims = problem(name, 1.0)
    found, missed = raked(kernel, cells, TABLES[name], aims, 2)
    gap = max(np.abs(one - aim).max() for one, aim in zip(margins(found, TABLES[name]), aims, strict=True))
    assert missed == pytest.approx(gap, rel=1e-6, abs=1e-9)


def test_a_margin_of_nothing_that_should_be_something_is_missed_without_end(kernel):
    cells, aims = problem("one-way", 1.0)
    cells[2] = 0
    assert raked(kernel, cells, TABLES["one-way"], aims, 10)[1] == np.inf


def test_a_cube_without_any_record_keeps_its_zeros_where_zeros_are_wanted(kernel):
    cells = np.zeros(SHAPE)
    for name in ("one-way", "tables that share axes"):
        found, missed = raked(kernel, cells, TABLES[name], margins(cells, TABLES[name]), 5)
        assert missed == 0
        assert not found.any()

"""Raking in factor form gives the cells of the textbook's loop over the tables, compiled and plain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.calibrate.layout import layout_of
from sfumato.kernels import rake as plain
from sfumato.release.uncertainties.margins import Facet

compiled = pytest.importorskip("sfumato.kernels.rake_compiled")

TABLES = {
    "one table": ((0,),),
    "one-way": ((0,), (1,), (2,), (3,)),
    "an axis that none names": ((0,), (2,)),
    "tables that share axes": ((0, 1), (1, 2), (2, 3)),
    "axes out of order": ((3, 0), (2,), (1,)),
    "a total before its parts": ((), (0,), (1, 3)),
    "a table twice": ((1,), (0,), (1,), (3, 2)),
    "many on one side": ((0,), (1,), (0, 1), (2,), (3,), (2, 3)),
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
    layout = layout_of(cells.shape, tuple(tuple(Facet(axis, cells.shape[axis]) for axis in axes) for axes in tables))
    laid = layout.laid(cells)
    sides = layout.sides(np.concatenate([aim.ravel() for aim in aims]))
    found = kernel.rake(layout.summed(laid), *sides, cycles, tolerance)
    made = kernel.scale(laid, found.first, found.second) if layout.listed is None else None
    whole = layout.scaled(laid, found.first, found.second)
    if made is not None:  # the step takes whichever kernel there is; here each has to scale for itself
        np.testing.assert_allclose(made.ravel(), whole.transpose(layout.order).ravel(), rtol=1e-14)
    return whole, found.missed


@pytest.fixture(params=[plain, compiled], ids=["plain", "compiled"])
def kernel(request):
    return request.param


@pytest.mark.parametrize("filled", [1.0, 0.15])
@pytest.mark.parametrize("name", TABLES)
def test_every_cell_is_that_of_the_textbook_loop_after_the_same_cycles(kernel, name, filled):
    cells, aims = problem(name, filled)
    found, _ = raked(kernel, cells, TABLES[name], aims, 3)
    expected = by_hand(cells, TABLES[name], aims, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)
    assert not np.allclose(found, by_hand(cells, TABLES[name], aims, 2), rtol=1e-12, atol=0) or len(TABLES[name]) == 1


@st.composite
def asked(draw):
    """A small cube, some tables of it in any order, and how many cycles."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)))
    table = st.permutations(range(len(shape))).flatmap(
        lambda axes: st.integers(0, len(axes)).map(lambda size: tuple(axes[:size]))
    )
    tables = tuple(draw(st.lists(table, min_size=1, max_size=6)))
    return shape, tables, draw(st.integers(1, 4)), draw(st.sampled_from([1.0, 0.4])), draw(st.integers(0, 2**32))


@settings(max_examples=150, deadline=None)
@given(asked())
@pytest.mark.parametrize("kernel", [plain, compiled], ids=["plain", "compiled"])
def test_any_tables_in_any_order_are_met_as_in_the_textbook(kernel, problem):
    shape, tables, cycles, filled, seed = problem
    rng = np.random.default_rng(seed)
    cells = rng.lognormal(1, 1, shape) * (rng.random(shape) < filled)
    aims = margins(cells * rng.lognormal(0, 0.4, shape), tables)
    found, missed = raked(kernel, cells, tables, aims, cycles)
    np.testing.assert_allclose(found, by_hand(cells, tables, aims, cycles), rtol=1e-11, atol=0)
    assert missed < np.inf


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("tolerance", [1e-1, 1e-4, 1e-8])
def test_both_kernels_stop_at_the_first_cycle_that_misses_nothing_by_more(name, tolerance):
    cells, aims = problem(name, 1.0)
    found = {law: raked(law, cells, TABLES[name], aims, 200, tolerance) for law in (plain, compiled)}
    needed = next(cycles for cycles in range(1, 201) if gap_after(cells, name, aims, cycles) <= tolerance)
    for made, missed in found.values():
        np.testing.assert_allclose(made, by_hand(cells, TABLES[name], aims, needed), rtol=1e-11)
        assert missed <= tolerance


def gap_after(cells, name, aims, cycles):
    found = margins(by_hand(cells, TABLES[name], aims, cycles), TABLES[name])
    return max(np.abs(one - aim).max() for one, aim in zip(found, aims, strict=True))


def test_cells_below_0_that_no_factors_can_bring_there_are_said_to_miss(kernel):
    """Factors leave the cross-product ratio at −1; with margins of 1 that is 2t² − 2t + 1 = 0, which has no root."""
    cells, aims = np.array([[2.0, -1.0], [1.0, 0.5]]), [np.ones(2), np.ones(2)]
    assert not raked(kernel, cells, ((0,), (1,)), aims, 50, 1e-6)[1] <= 1e-6
    assert raked(kernel, np.abs(cells), ((0,), (1,)), aims, 50, 1e-6)[1] <= 1e-6


def test_cells_that_are_no_numbers_never_count_as_met(kernel):
    cells, aims = problem("one-way", 1.0)
    cells[1, 1, 1, 1] = np.nan
    assert not raked(kernel, cells, TABLES["one-way"], aims, 3, 1e9)[1] <= 1e9


def test_it_is_what_ipfn_finds(kernel):
    method = pytest.importorskip("ipfn.ipfn").ipfn
    cells, aims = problem("tables that share axes", 1.0)
    tables = [list(axes) for axes in TABLES["tables that share axes"]]
    theirs = method(cells.copy(), aims, tables, max_iteration=500, convergence_rate=1e-13, rate_tolerance=0.0)
    found, _ = raked(kernel, cells, TABLES["tables that share axes"], aims, 500, 1e-11)
    np.testing.assert_allclose(found, theirs.iteration(), rtol=1e-9)


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

"""Controls that nest are met level by level: against one matrix over all of them, small and large."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.calibrate.test_contract import boxes, indicator, noisy, subject, written_out

from sfumato.calibrate import LeastSquares, Rake
from sfumato.calibrate.contradictions import refuse_contradicting
from sfumato.errors import PlanError
from sfumato.release import Cube, Independent, Varying
from sfumato.release.uncertainties.margins import Margins
from sfumato.release.uncertainties.normal import Normal
from sfumato.schema import Attribute, Level, Levels, Rule, Table

CHAINS = (
    {"total": (), "one": ("b",)},
    {"fine": ("c", "a"), "coarse": ("a",)},
    {"middle": ("b", "a"), "all": ("b", "c", "a"), "total": ()},
    {"once": ("a", "c"), "again": ("c", "a"), "coarse": ("c",)},
)


def table(shape, *, zeros: bool) -> Table:
    attributes = tuple(
        Attribute(name, Levels.of(range(size))) for name, size in zip("abcdef"[: len(shape)], shape, strict=True)
    )
    return Table(attributes, (Rule.of({"a": ["0"], "b": ["0"]}), Rule.of({"a": ["1"]})) if zeros else ())


@st.composite
def asked(draw):
    """A table, with impossible cells or not, and a chain of controls on it, noisy and at most one of them exact."""
    whole = table(draw(st.tuples(*[st.integers(2, 4)] * 3)), zeros=draw(st.booleans()))
    sets = draw(st.sampled_from(CHAINS))
    noise = draw(st.lists(st.sampled_from([0.3, 2.0, 11.0]), min_size=len(sets), max_size=len(sets)))
    exact = draw(st.integers(-1, len(sets) - 1))
    variances = [0.0 if place == exact else one for place, one in enumerate(noise)]
    return whole, dict(zip(sets, zip(sets.values(), variances, strict=True), strict=True)), draw(st.integers(0, 2**32))


def draw_of(rng, whole, controls, base):
    """Products of one draw; a control table stands in the order that its own attributes are named in."""
    true = np.where(whole.possible, rng.integers(0, 50, whole.shape), 0)
    products = {"cube": Cube(subject("cube"), whole, noisy(rng, true, base, whole.possible), Independent(base))}
    for name, (by, variance) in controls.items():
        axes, margin = [whole.names.index(one) for one in by], whole.margin(by)
        sums = np.einsum(true, range(true.ndim), axes)
        drawn = noisy(rng, sums, variance, margin.possible) if variance else sums
        products[name] = Cube(subject(name), margin, np.asarray(drawn, dtype=np.int64), Independent(variance))
    return products


@settings(max_examples=120, deadline=None)
@given(asked())
def test_cells_and_stated_errors_are_those_of_one_matrix(problem):
    whole, controls, seed = problem
    rng, base = np.random.default_rng(seed), 4.0
    products = draw_of(rng, whole, controls, base)
    made = LeastSquares("made", "cube", tuple(controls)).apply(products)
    a, v, v_c = written_out(whole, controls, base)
    x = products["cube"].values[whole.possible].astype(float)
    t = np.concatenate([products[name].values.ravel() for name in controls]).astype(float)
    gain = v @ a.T @ np.linalg.pinv(a @ v @ a.T + v_c, hermitian=True, rcond=1e-12)
    scale = float(made.subject.step)
    np.testing.assert_allclose(made.values[whole.possible] * scale, x + gain @ (t - a @ x), rtol=0, atol=1e-7)
    some = boxes(rng, whole, 4)
    f = np.array([indicator(whole, box) for box in some])
    stated = np.array([[made.covariance(one, other) * scale**2 for other in some] for one in some])
    np.testing.assert_allclose(stated, f @ (v - gain @ a @ v) @ f.T, rtol=1e-8, atol=1e-8)


SHAPE = (40, 30, 8)
DEEP = (((), 9.0), (("a",), 5.0), (("a", "b"), 3.0))


def by_one_matrix(whole, cells, aims, variances, base):
    """The cells, and the variance of a sum of them, from the controls' own matrix, built without our margins."""
    numbers, shape = np.arange(cells.size), whole.shape
    above = [np.zeros(cells.size, dtype=int), numbers // (shape[1] * shape[2]), numbers // shape[2]]
    a = sparse.vstack(
        [
            sparse.csr_array((np.ones(cells.size), (up, numbers)), shape=(len(aim), cells.size))
            for up, aim in zip(above, aims, strict=True)
        ]
    )
    noise = np.concatenate([np.full(len(aim), one) for aim, one in zip(aims, variances, strict=True)])
    g = base * (a @ a.T).toarray() + np.diag(noise)
    found = cells.ravel() + base * (a.T @ np.linalg.solve(g, np.concatenate(aims) - a @ cells.ravel()))

    def variance(inside):
        b = base * (a @ inside)
        return base * inside @ inside - b @ np.linalg.solve(g, b)

    return found, variance


def test_cells_and_errors_are_those_of_one_matrix_over_1241_controls():
    """To 1e-8 over 9,600 cells; a total that is off by its own error moves every cell."""
    whole, rng, base = table(SHAPE, zeros=False), np.random.default_rng(8), 4.0
    controls = {f"c{place}": one for place, one in enumerate(DEEP)}
    products = draw_of(rng, whole, controls, base)
    made = LeastSquares("made", "cube", tuple(controls)).apply(products)
    aims = [products[name].values.ravel().astype(float) for name in controls]
    given = whole, products["cube"].values.astype(float), aims, [one for _, one in DEEP], base
    cells, variance = by_one_matrix(*given)
    scale = float(made.subject.step)
    np.testing.assert_allclose(made.values.ravel() * scale, cells, rtol=0, atol=1e-8)
    for box in boxes(rng, whole, 3):
        inside = indicator(whole, box).astype(float)
        assert made.covariance(box, box) * scale**2 == pytest.approx(variance(inside), rel=1e-8)
    aims[0] += 30
    other, _ = by_one_matrix(*given)
    assert (np.abs(other - cells) > 1e-8).all()


def test_several_right_sides_are_solved_as_one_by_one():
    whole = table((3, 4, 2), zeros=True)
    margins = Margins(whole, tuple(tuple(map(Level, by)) for by in (("b", "a"), (), ("b",))))
    solve = Normal(margins, whole.possible, np.linspace(0.0, 3.0, margins.size), 2.0).solve
    rows = np.random.default_rng(1).normal(size=(5, margins.size))
    np.testing.assert_allclose(solve(rows), [solve(row) for row in rows], rtol=1e-13)


def test_tables_that_do_not_nest_are_left_to_the_matrix():
    whole = table((3, 4, 2), zeros=False)
    for by in ((("a",), ("b",)), (("a", "b"), ("b", "c")), ((), ("a",), ("b", "c"))):
        assert Margins(whole, tuple(tuple(map(Level, one)) for one in by)).finest is None


def test_exact_controls_that_contradict_each_other_are_refused_and_others_are_met():
    whole, rng = table((3, 4, 2), zeros=False), np.random.default_rng(2)
    for sets in ({"t": ((), 0.0), "m": (("a",), 0.0)}, {"m": (("a",), 0.0), "n": (("b",), 0.0)}):
        products = draw_of(rng, whole, sets, 2.0)
        step = LeastSquares("made", "cube", tuple(sets))
        made = step.apply(products)
        assert made.values.sum() * float(made.subject.step) == pytest.approx(products["m"].values.sum(), abs=1e-6)
        products["m"].values[0] += 1
        with pytest.raises(PlanError, match="contradict"):
            step.apply(products)


@pytest.mark.parametrize("step", [LeastSquares, Rake])
def test_one_too_many_in_a_hundred_million_is_a_contradiction_that_impossible_cells_make(step):
    """Where a and b only go together, their totals are the same two by two, though all sum to as much."""
    rules = (Rule.of({"a": ["0"], "b": ["1"]}), Rule.of({"a": ["1"], "b": ["0"]}))
    whole = Table((Attribute("a", Levels.of("01")), Attribute("b", Levels.of("01"))), rules)
    many = 10**8

    def products(by_b):
        controls = {"a": [many, 5], "b": by_b}
        cubes = {
            name: Cube(subject(name), whole.margin([Level(name)]), np.array(values), Independent(0.0))
            for name, values in controls.items()
        }
        return {"cube": Cube(subject("cube"), whole, np.array([[many, 0], [0, 7]]), Independent(2.0)), **cubes}

    assert step("made", "cube", ("a", "b")).apply(products([many, 5])).values.any()
    with pytest.raises(PlanError, match="contradict each other, 'a', 'b', so no table"):
        step("made", "cube", ("a", "b")).apply(products([many + 1, 4]))


def test_totals_that_are_exact_in_part_contradict_where_both_are_exact():
    """Of a by b and of a: in a = 0 both are known, and 10 + 20 is no 31; in a = 1 they have errors, and may differ."""
    whole = Table((Attribute("a", Levels.of("01")), Attribute("b", Levels.of("01"))))
    cells = Cube(subject("cells"), whole, np.array([[10, 20], [5, 6]]), Varying(np.array([[0.0, 0.0], [4.0, 4.0]])))

    def rows(values):
        return Cube(subject("rows"), whole.margin([Level("a")]), np.array(values), Varying(np.array([0.0, 9.0])))

    refuse_contradicting("made", {"cells": cells, "rows": rows([30, 40])})
    with pytest.raises(PlanError, match="'cells' and 'rows' contradict each other by a, so no table"):
        refuse_contradicting("made", {"cells": cells, "rows": rows([31, 11])})

"""Every uncertainty that is found answers as one joint error: symmetric, not negative, the same however it is asked."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.release.grids import wholes

from sfumato.errors import ReleaseError
from sfumato.plugins import found
from sfumato.release import (
    Calibrated,
    Components,
    Control,
    Cube,
    Departures,
    Earlier,
    Independent,
    Raked,
    Shifted,
    Sided,
    Subject,
    Varying,
    Withheld,
    uncertainties,
)
from sfumato.release.error_law import NoisyTotals
from sfumato.release.uncertainties import StatedIn, read_uncertainty
from sfumato.release.uncertainties.adjusted import Adjusted
from sfumato.release.uncertainties.uncertainty import left_over
from sfumato.schema import Attribute, Box, Frame, Grid, Level, Levels, Rule, Schema, Table, UpTo

RNG = np.random.default_rng(5)
A = Attribute("a", Levels.of("123"))
B = Attribute("b", Levels.of([*"45", *({"code": f"{one}{two}", "parent": one} for one in "45" for two in "12")]))
TABLE = Table((A, B), (Rule.of({"a": "1", "b": "41"}),))
FRAME = Frame(
    "firm",
    (A, B),
    {"a": RNG.integers(0, 3, 12).astype(np.int32), "b": RNG.integers(0, 4, 12).astype(np.int32)},
    range(12),
)
FAMILY = UpTo(2, ("a", "b")).family(Schema((A, B)))
"""All tables of both, at either level of b: six choices of levels."""
DOMAINS = {"table": TABLE, "frame": FRAME, "family": FAMILY}
EXAMPLES = found(uncertainties, by="kind")
ANYWHERE = {"independent", "sided", "varying", "squared", "proportional", "departures", "withheld"}
ON_TABLES = ANYWHERE | {"calibrated", "raked", "earlier", "shifted"}
ON_FRAMES = ANYWHERE | {"adjusted"}
ON_FAMILIES = {"components"}
CASES = [(kind, "table") for kind in ON_TABLES] + [(kind, "frame") for kind in ON_FRAMES]
CASES += [(kind, "family") for kind in ON_FAMILIES]


def errors(kind, where):
    domain = DOMAINS[where]
    shape = TABLE.shape if where == "table" else (12,)
    values = np.arange(12).reshape(shape) + 1
    stated = example(kind)
    if kind == "varying" and where == "table":
        stated = Varying(np.linspace(1.0, 3.0, 12).reshape(shape) * TABLE.possible)
    return stated.over(domain, values * domain.possible)


def example(kind):
    """The example of a kind; of components as many as the family has."""
    return Components(tuple(np.linspace(1.0, 3.0, len(FAMILY.components)))) if kind == "components" else EXAMPLES[kind]


def boxes(count, seed=1):
    rng = np.random.default_rng(seed)
    return [Box({one.name: rng.random(len(one.levels.leaves)) < 0.6 for one in (A, B)}) for _ in range(count)] + [Box()]


def test_every_kind_that_is_found_is_asked_here_on_a_table_a_frame_or_a_family():
    assert set(EXAMPLES) == ON_TABLES | ON_FRAMES | ON_FAMILIES


@pytest.mark.parametrize(("kind", "where"), sorted(CASES))
def test_covariances_are_symmetric_and_of_no_sum_negative(kind, where):
    found, asked = errors(kind, where), boxes(7)
    if kind == "withheld":
        assert found.covariance(*asked[:2]) == found.covariances(asked, asked) == EXAMPLES[kind]
        return
    matrix = np.array([[found.covariance(one, other) for other in asked] for one in asked])
    assert np.allclose(matrix, matrix.T, rtol=1e-9)
    if kind != "squared":  # a total below 0 is taken for 0, so its errors are not those of one joint law
        assert np.linalg.eigvalsh(matrix).min() > -1e-9 * np.abs(matrix).max()
    assert np.allclose(found.covariances(asked, asked[:3]), matrix[:, :3], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kept", [(), ("a",), ("b",), ("a", "b")], ids=str)
@pytest.mark.parametrize(("kind", "where"), sorted(CASES))
def test_a_table_is_answered_as_its_boxes_are(kind, where, kept):
    found = errors(kind, where)
    tree = np.array([B.levels.mask(code) for code in B.levels.codes])
    for grid in (
        Grid((("a", np.eye(3, dtype=bool)), ("b", tree))),
        Grid((("b", tree), ("a", np.eye(3, dtype=bool)))),
        Grid((("b", np.eye(4, dtype=bool)),), Box({"a": np.array([True, False, True])})),
        Grid(()),
    ):
        asked = found.with_whole(grid, kept)
        if kind == "withheld":
            assert asked == EXAMPLES[kind]
            continue
        by_hand = [found.covariance(box, whole) for box, whole in zip(grid.boxes(), wholes(grid, kept), strict=True)]
        assert asked.shape == grid.shape
        assert asked.ravel().tolist() == pytest.approx(by_hand, rel=1e-8, abs=1e-8 * max(map(abs, by_hand)))


@pytest.mark.parametrize(("kind", "where"), sorted(CASES))
def test_all_pairs_of_a_table_are_answered_as_pairs_of_boxes_are(kind, where):
    found = errors(kind, where)
    tree = np.array([B.levels.mask(code) for code in B.levels.codes])
    for grid in (
        Grid((("b", tree),), Box({"a": np.array([True, False, True])})),
        Grid((("a", ~np.eye(3, dtype=bool)),)),
    ):
        asked = found.among(grid)
        if kind == "withheld":
            assert asked == EXAMPLES[kind]
            continue
        by_hand = np.array([[found.covariance(one, other) for other in grid.boxes()] for one in grid.boxes()])
        assert np.allclose(asked, by_hand, rtol=1e-8, atol=1e-8 * np.abs(by_hand).max())


@pytest.mark.parametrize(("kind", "where"), sorted(CASES))
def test_a_table_in_which_nobody_is_has_no_error(kind, where):
    nobody = Grid((("b", np.eye(4, dtype=bool)),), Box({"a": np.zeros(3, dtype=bool)}))
    asked = errors(kind, where).with_whole(nobody, ("b",))
    assert asked == EXAMPLES[kind] if kind == "withheld" else asked.ravel().tolist() == [0.0] * 4


@pytest.mark.parametrize(("kind", "where"), sorted(CASES))
def test_in_other_steps_errors_are_those_times_the_square(kind, where):
    if kind in {"squared", "proportional", "adjusted"}:  # they follow the values, which change with the steps
        return
    stated, domain, asked = example(kind), DOMAINS[where], boxes(3)
    values = np.arange(12).reshape(TABLE.shape if where == "table" else 12) * domain.possible + domain.possible
    if kind == "withheld":
        assert stated.in_steps(4.0) == stated
        return
    if kind == "varying":
        stated = replace(stated, variances=stated.variances.reshape(values.shape) * domain.possible)
    one, other = (each.over(domain, values).covariances(asked, asked) for each in (stated, stated.in_steps(4.0)))
    assert np.allclose(16 * one, other)


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_what_is_written_is_read_again(kind):
    stated = EXAMPLES[kind]
    columns, others = stated.columns, (Fraction(1), Independent(2.0))
    again = read_uncertainty(stated.to_dict(), StatedIn(Fraction(1), columns.__getitem__, lambda _: others))
    assert again.to_dict() == stated.to_dict()
    assert type(again) is type(stated)
    if not isinstance(stated, (Varying, Adjusted, Departures, Earlier, Shifted, Sided)):
        assert again == stated


@pytest.mark.parametrize("side", ["below", "above"])
def test_intervals_that_reach_less_far_at_a_higher_level_are_refused(side):
    stated = EXAMPLES["sided"]
    columns = stated.columns | {f"{side}_1": stated.columns[f"{side}_0"] - 0.25}
    assert columns[f"{side}_1"].min() > 0, "else it is refused for that"
    with pytest.raises(ValueError, match=f"reach less far {side} at a higher level"):
        Sided.read(stated.to_dict(), StatedIn(Fraction(1), columns.__getitem__, {}.__getitem__))


def test_noise_of_laplaces_law_with_variances_of_their_own_is_in_no_steps():
    """A row of variance 4: at 99% ln 100 / √2 of its 2, and of 0.04 as of 0.2, not a whole step."""
    rows = Frame("firm", (), {}, range(2))
    errors = Varying(np.array([4.0, 0.04]), excess=3.0).over(rows, np.array([10, 10]))
    each = Grid((("firm", np.eye(2, dtype=bool)),))
    totals = NoisyTotals(np.array([10.0, 10.0]), np.array([4.0, 0.04]), np.zeros(2), np.ones(2))
    assert errors.law(each).reach(0.99, totals)[0] == pytest.approx(np.log(100) / np.sqrt(2) * np.array([2, 0.2]))


def test_a_kind_that_nobody_wrote_is_refused():
    with pytest.raises(ReleaseError, match="'wild', which this version does not know; update Sfumato"):
        read_uncertainty({"kind": "wild"}, StatedIn(Fraction(1), {}.__getitem__, {}.__getitem__))


def test_whatever_is_computed_with_a_withheld_error_is_withheld():
    held = Withheld("its scale is confidential")
    for computed in (held + 1.0, 1.0 + held, 2 * held, held / 3, held - held, np.ones(3) * held, np.float64(2) + held):
        assert computed is held


def test_departures_are_summed_over_a_box_before_they_are_squared():
    """Two columns, (1, 2) and (3, -3), of two cells: the total has variance 3² + 0², the cells 1 + 9 and 4 + 9."""
    table = Table((Attribute("a", Levels.of("12")),))
    stated = Departures(np.array([[1.0, 3.0], [2.0, -3.0]]))
    found = stated.over(table, np.array([5, 6]))
    assert found.covariance(Box(), Box()) == 9
    assert found.with_whole(Grid((("a", np.eye(2, dtype=bool)),)), ("a",)).tolist() == [10, 13]
    moved = stated.moved(np.array([1, 1])).over(table, np.array([6, 7]))
    assert moved.covariance(Box(), Box()) == 9 + 4
    with pytest.raises(ReleaseError, match="not told by departures"):
        Departures.of(Independent(2.0).columns)


# Calibrated and raked over any error of the cells before


def dense(base, kind, controls, values):
    """f'[(I−KA)V(I−KA)' + K N K']g in full matrices over the possible cells, N the noise of reconciled controls."""
    cells = np.argwhere(TABLE.possible)
    above = {0: np.array([0, 0, 1, 1]), None: np.arange(4)}
    rows, noise = [], []
    for by, variance in controls:
        maps = [np.arange(3)[cells[:, 0]] if name == "a" else above[depth][cells[:, 1]] for name, depth in by]
        sizes = [3 if name == "a" else int(above[depth].max()) + 1 for name, depth in by]
        for place in np.ndindex(*sizes):
            inside = np.ones(len(cells), dtype=bool)
            for each, at in zip(maps, place, strict=True):
                inside &= each == at
            rows.append(inside)
            noise.append(variance)
    a, n = np.array(rows, dtype=float), np.diag(noise)
    if kind is Calibrated:
        gain = base @ a.T @ np.linalg.pinv(a @ base @ a.T + n, rcond=1e-12)
    else:
        d = np.diag(values[TABLE.possible].astype(float))
        gain = d @ a.T @ np.linalg.pinv(a @ d @ a.T, rcond=1e-12)
        if len(controls) > 1:
            reach, weight = a @ a.T, 1 / np.array(noise)
            onto = reach @ np.linalg.pinv((reach * weight) @ reach, rcond=1e-12, hermitian=True) @ (reach * weight)
            n = onto @ n @ onto.T
    rest = np.eye(len(cells)) - gain @ a
    return rest @ base @ rest.T + gain @ n @ gain.T


CONTROLS = {
    "one": [([("a", None)], 1.5)],
    "one, coarser": [([("b", 0)], 1.5)],
    "a tree": [([], 0.7), ([("b", 0)], 1.0), ([("a", None), ("b", 0)], 2.0)],
    "apart": [([("a", None)], 1.0), ([("b", 0)], 0.5)],
    "a finest": [([("a", None)], 1.0), ([("b", 0)], 0.5), ([("b", None), ("a", None)], 3.0)],
}
BASES = {
    "independent": Independent(2.0),
    "varying": Varying(np.linspace(0.5, 4.0, 12).reshape(TABLE.shape) * TABLE.possible),
    "calibrated": Calibrated(Independent(2.0), (Control((Level("b"),), 1.0),)),
    "calibrated varying": Calibrated(
        Varying(np.linspace(0.5, 4.0, 12).reshape(TABLE.shape) * TABLE.possible), (Control((Level("b", 0),), 1.0),)
    ),
    "raked": Raked(Independent(2.0), (Control((Level("b"),), 1.0),)),
    "earlier": Earlier(
        Raked(Independent(2.0), (Control((Level("b"),), 1.0),)),
        np.linspace(9.0, 40.0, 12).round().reshape(TABLE.shape) * TABLE.possible,
        np.linspace(0.5, 6.0, 12).reshape(TABLE.shape),
    ),
}


def before(name, values):
    """The covariance of the possible cells before, in a full matrix."""
    if name == "independent":
        return 2.0 * np.eye(int(TABLE.possible.sum()))
    if name == "varying":
        return np.diag(BASES[name].variances[TABLE.possible])
    if name == "earlier":
        then, factors = BASES[name].values.astype(int), BASES[name].factors[TABLE.possible]
        return np.outer(factors, factors) * before("raked", then)
    if name == "calibrated varying":
        return dense(before("varying", values), Calibrated, [([("b", 0)], 1.0)], values)
    return dense(
        before("independent", values), Calibrated if name == "calibrated" else Raked, [([("b", None)], 1.0)], values
    )


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("sets", CONTROLS)
@pytest.mark.parametrize("kind", [Calibrated, Raked])
def test_errors_after_controls_are_those_of_full_matrices_whatever_they_were_before(kind, sets, base):
    values = (np.random.default_rng(3).integers(5, 60, TABLE.shape)) * TABLE.possible
    controls = tuple(Control(tuple(Level(*one) for one in by), variance) for by, variance in CONTROLS[sets])
    found = kind(BASES[base], controls).over(TABLE, values)
    matrix = dense(before(base, values), kind, CONTROLS[sets], values)
    asked = boxes(5)
    q = np.array([np.outer(box.mask(A), box.mask(B))[TABLE.possible] for box in asked], dtype=float)
    by_hand = q @ matrix @ q.T
    scale = np.abs(by_hand).max()
    assert np.allclose(found.covariances(asked, asked), by_hand, rtol=1e-8, atol=1e-9 * scale)
    assert found.covariance(asked[0], asked[1]) == pytest.approx(by_hand[0, 1], rel=1e-7, abs=1e-9 * scale)
    grid = Grid((("a", np.eye(3, dtype=bool)), ("b", np.array([B.levels.mask(code) for code in B.levels.codes]))))
    q = np.array([np.outer(box.mask(A), box.mask(B))[TABLE.possible] for box in grid.boxes()], dtype=float)
    alone = np.diag(q @ matrix @ q.T)
    assert np.allclose(found.with_whole(grid, ("a", "b")).ravel(), alone, rtol=1e-8, atol=1e-9 * scale)
    for box in asked:
        inside = np.outer(box.mask(A), box.mask(B)) * TABLE.possible
        times = found.times(inside.astype(float))
        assert np.allclose(times[TABLE.possible], matrix @ inside[TABLE.possible], rtol=1e-8, atol=1e-9 * scale)


def test_a_stated_variance_that_is_half_again_too_large_would_be_seen():
    """The negative arm: the same matrices reject a base that is stated 50% too large."""
    values = np.full(TABLE.shape, 9) * TABLE.possible
    controls = (Control((Level("a"),), 1.5),)
    matrix = dense(before("independent", values), Calibrated, CONTROLS["one"], values)
    found = Calibrated(Independent(3.0), controls).over(TABLE, values)
    assert not np.allclose(found.covariance(Box(), Box()), matrix.sum(), rtol=0.01)


# A variance for every cell of a table, through a folder


def test_a_table_whose_cells_have_variances_of_their_own_is_written_and_read(tmp_path):
    from types import SimpleNamespace

    from sfumato.release.products.kinds import Shelf

    rng = np.random.default_rng(8)
    variances = rng.uniform(1, 9, TABLE.shape) * TABLE.possible
    values = rng.integers(0, 99, TABLE.shape) * TABLE.possible
    subject = Subject("jobs", "count", "Jobs", "jobs", Fraction(1))
    cube = Cube(subject, TABLE, values, Calibrated(Varying(variances), (Control((Level("b", 0),), 2.0),)))
    (tmp_path / "products").mkdir()
    line = cube.write(tmp_path)
    assert line.uncertainty["base"] == {"kind": "varying", "slope": 0.0, "reach": 0.0}
    manifest = SimpleNamespace(products=[line], unit="job")
    again = Shelf(tmp_path, manifest, {"a": A, "b": B}).product("jobs")
    assert np.array_equal(again.values, values)
    assert np.array_equal(again.uncertainty.base.variances, variances)
    for box in boxes(4):
        assert again.covariance(box, box) == pytest.approx(cube.covariance(box, box), rel=1e-12)
        alone = Varying(variances).over(TABLE, values).covariance(box, box)
        assert alone == pytest.approx(variances[np.outer(box.mask(A), box.mask(B))].sum())


def test_a_control_in_other_steps_has_its_variances_in_their_squares():
    by = (Level("place"),)
    assert Control(by, 4.0).in_steps(0.5).variance == 1.0
    assert Control(by, (4.0, 16.0)).in_steps(0.5).variance == (1.0, 4.0)


def test_what_controls_leave_is_nothing_where_it_is_rounding_and_something_where_it_is_not():
    left = left_over(np.array([2.0, 2.0, 1.0]), np.array([2.0 - 4e-15, 2.0 + 4e-15, 1.0 - 1e-9]))
    assert left[:2].tolist() == [0.0, 0.0]
    assert left[2] > 0
    assert left_over(np.array([2.0]), np.array([2.0 - 4e-13]), exact=False)[0] > 0, "where no control is exact"

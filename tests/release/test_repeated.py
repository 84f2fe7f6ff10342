"""Attributes that all controls tell apart leave the equations: the same errors, against one matrix over all cells."""

import numpy as np
import pytest
from tests.release.grids import wholes

from sfumato.release import Calibrated, Independent, Varying
from sfumato.release.uncertainties.calibrated import Calibration
from sfumato.release.uncertainties.controls import Control
from sfumato.release.uncertainties.repeated import Repeated
from sfumato.schema import Attribute, Box, Grid, Level, Levels, Rule, Table

AREAS = [{"code": "r"}, {"code": "p", "parent": "r"}, {"code": "q", "parent": "r"}]
AREAS += [
    {"code": f"{parent}{number}", "parent": parent} for parent, count in (("p", 3), ("q", 2)) for number in range(count)
]
KINDS, WORK = Attribute("kind", Levels.of("xyz")), Attribute("work", Levels.of(["no", "yes"]))
AREA = Attribute("area", Levels.of(AREAS))
TABLE = Table((AREA, KINDS, WORK), (Rule.of({"kind": ["x"], "work": ["yes"]}),))
CONTROLS = (
    Control((Level("area", 1), Level("kind"), Level("work")), 3.0),
    Control((Level("area", 0), Level("kind"), Level("work")), 5.0),
)


def matrix(table, controls, variance):
    """The covariance of all cells after least squares, from indicator matrices written out."""
    possible = table.possible.ravel()
    places = np.argwhere(np.ones(table.shape, dtype=bool))
    rows, noise = [], []
    for control in controls:
        keys = []
        for place in places:
            key = []
            for level in control.by:
                axis = table.names.index(level.name)
                attribute = table.attributes[axis]
                code = attribute.levels.leaves[place[axis]]
                parents = dict(zip(attribute.levels.codes, attribute.levels.parents, strict=True))
                chain = [code]
                while parents[chain[-1]] is not None:
                    chain.append(parents[chain[-1]])
                key.append(chain[::-1][level.depth if level.depth is not None else -1])
            keys.append(tuple(key))
        for one in dict.fromkeys(keys):
            rows.append([key == one and held for key, held in zip(keys, possible, strict=True)])
            noise.append(control.variance)
    a, v = np.array(rows, dtype=float), variance * np.diag(possible.astype(float))
    return v - v @ a.T @ np.linalg.inv(a @ v @ a.T + np.diag(noise)) @ a @ v


def boxes(rng, table, count):
    return [Box({one.name: rng.random(len(one.levels.leaves)) < 0.6 for one in table.attributes}) for _ in range(count)]


def cells(table, box):
    found = np.zeros(table.shape)
    sides = (np.flatnonzero(box.mask(one)) for one in table.attributes)
    found[np.ix_(*sides)] = 1
    return found.ravel()


@pytest.mark.parametrize(
    ("rules", "controls", "told"),
    [
        (TABLE.impossible, CONTROLS, True),
        ((), CONTROLS, True),
        (
            (),
            (CONTROLS[0], Control((Level("area", 0), Level("work")), 2.0)),
            True,
        ),  # kinds share a control: work alone is apart
        ((Rule.of({"area": ["p0"], "kind": ["x"]}),), CONTROLS, False),  # a rule binds what is apart to what is not
        ((), (CONTROLS[0], Control((Level("area", 0),), 2.0)), False),
    ],
)
def test_what_boxes_share_is_what_one_matrix_says(rules, controls, told):
    table = Table(TABLE.attributes, rules)
    stated = Calibrated(Independent(2.0), controls)
    errors = stated.over(table, np.zeros(table.shape, dtype=np.int64))
    assert isinstance(errors, Repeated if told else Calibration)
    whole, rng = matrix(table, controls, 2.0), np.random.default_rng(1)
    some = boxes(rng, table, 12)
    f = np.array([cells(table, box) for box in some])
    np.testing.assert_allclose(errors.covariances(some, some), f @ whole @ f.T, atol=1e-9)
    assert errors.covariance(some[0], some[1]) == pytest.approx(f[0] @ whole @ f[1])
    groups = {one.name: rng.random((3, len(one.levels.leaves))) < 0.5 for one in table.attributes}
    within = Box({"area": rng.random(5) < 0.8})
    for axis in groups.items():
        grid = Grid((axis,), within)
        f = np.array([cells(table, box) for box in grid.boxes()])
        np.testing.assert_allclose(errors.among(grid), f @ whole @ f.T, atol=1e-9)
    for axes in (("area", "work"), ("work", "area", "kind"), ("kind",), ()):
        grid = Grid(tuple((name, groups[name]) for name in axes), within)
        for kept in ((), axes[:1], axes):
            pairs = zip(grid.boxes(), wholes(grid, kept), strict=True)
            expected = [cells(table, one) @ whole @ cells(table, other) for one, other in pairs]
            found = errors.with_whole(grid, kept)
            assert found.shape == grid.shape
            np.testing.assert_allclose(found.ravel(), expected, atol=1e-9)
    weights = rng.normal(size=table.shape) * table.possible
    np.testing.assert_allclose(errors.times(weights).ravel(), whole @ weights.ravel(), atol=1e-9)


def test_totals_of_one_control_that_differ_in_error_are_not_taken_apart():
    uneven = (CONTROLS[0], Control(CONTROLS[1].by, tuple(np.arange(1.0, 7.0))))
    errors = Calibrated(Independent(2.0), uneven).over(TABLE, np.zeros(TABLE.shape, dtype=np.int64))
    assert isinstance(errors, Calibration)


def test_cells_with_variances_of_their_own_are_no_combination_over_and_over():
    table, rng = Table(TABLE.attributes), np.random.default_rng(2)
    variances = np.linspace(1.0, 4.0, table.size)
    errors = Calibrated(Varying(variances.reshape(table.shape)), CONTROLS).over(table, np.zeros(table.shape, np.int64))
    assert isinstance(errors, Calibration)
    some = boxes(rng, table, 6)
    f = np.array([cells(table, box) for box in some])
    np.testing.assert_allclose(errors.covariances(some, some), f @ matrix(table, CONTROLS, variances) @ f.T, atol=1e-9)

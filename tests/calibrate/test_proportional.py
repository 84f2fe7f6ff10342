"""Least squares of numbers with errors in proportion: unbiased, with the error it states, as weights follow no draw.

400 draws of a total that has a standard deviation of 18%: a bias of 5.8%, which weights at the draws themselves give
(computed beforehand by 200,000 draws in plain numpy), is 6.4 standard errors away, one of 0.1% is none.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sfumato.calibrate.least_squares import LeastSquares
from sfumato.draws import SeededDraws
from sfumato.mechanisms import Cells, LogLaplace
from sfumato.privacy import Relative
from sfumato.release import Cube, Proportional, Subject, measured
from sfumato.schema import Attribute, Box, Levels, Rule, Schema, Table

PLACES = ["s", {"code": "c", "parent": "s"}, *({"code": f"p{n}", "parent": "c"} for n in range(2))]
SCHEMA = Schema((Attribute("place", Levels.of(PLACES), of="shop"),))
SIZES, MOVE, COUNT = np.array([230, 50]), Relative(Fraction(1, 10)), 400


def published(name, by, values, draws):
    mechanism = LogLaplace("0.5")
    noisy = mechanism.perturb(Cells(SCHEMA.table(by), np.asarray(values), Fraction(1), MOVE), draws)
    return measured(Subject(name, "count", name, "jobs", noisy.step), noisy, mechanism.uncertainty(noisy))


def totals(draws):
    """The total of two places moved to that of their county, and its stated variance, many times."""
    found = []
    for _ in range(COUNT):
        products = {
            "places": published("places", ["place"], SIZES, draws),
            "county": published("county", ["place@1"], [SIZES.sum()], draws),
        }
        made = LeastSquares("jobs", "places", ("county",)).apply(products)
        step = float(made.subject.step)
        found.append((made.total(Box()) * step, made.covariance(Box(), Box()) * step**2))
    return np.array(found, dtype=float).T


def test_totals_are_unbiased_and_err_as_is_stated():
    values, variances = totals(SeededDraws(1))
    errors = values - SIZES.sum()
    spread = errors.std()
    assert abs(errors.mean()) < 4 * spread / np.sqrt(COUNT)
    assert np.mean(variances) == pytest.approx(spread**2, rel=0.45)
    assert spread < 62, "either alone has 74 or more"


def test_variances_at_other_sizes_are_in_proportion_and_never_of_less_than_a_tenth_of_the_shift():
    """0.02 (n + 10)²: at 5 of 15, at −9.5 and at −100 of 1."""
    found = Proportional(0.02, 10.0).settled(np.array([5.0, 0.0, -9.5, -100.0])).variances
    assert found == pytest.approx([0.02 * 225, 0.02 * 100, 0.02, 0.02])


def test_weights_at_the_draws_themselves_would_pull_totals_down(monkeypatch):
    monkeypatch.setattr(Proportional, "settled", lambda self, sizes: None)
    values, _ = totals(SeededDraws(1))
    assert (values - SIZES.sum()).mean() < -3 * values.std() / np.sqrt(COUNT)


def test_cells_that_cannot_be_have_no_error_and_take_no_share():
    """A table with an impossible cell gives what the list of its three possible ones gives, cells and errors."""
    square = Table(tuple(Attribute(name, Levels.of("01")) for name in "ab"), (Rule.of({"a": ["1"], "b": ["1"]}),))
    listed = Table((Attribute("cell", Levels.of("012")),))
    found = []
    for table, values in ((square, [[230, 50], [20, 0]]), (listed, [230, 50, 20])):
        cube = Cube(
            Subject("cube", "count", "Jobs", "jobs", Fraction(1)), table, np.array(values), Proportional(0.2, 90.0)
        )
        whole = Cube(replace(cube.subject, name="whole"), table.margin([]), np.array(420), Proportional(0.1, 90.0))
        made = LeastSquares("made", "cube", ("whole",)).apply({"cube": cube, "whole": whole})
        step = float(made.subject.step)
        found.append([*(made.values[table.possible] * step), made.covariance(Box(), Box()) * step**2])
    assert found[0] == pytest.approx(found[1], rel=1e-6)
    assert 300 < sum(found[0][:3]) < 420

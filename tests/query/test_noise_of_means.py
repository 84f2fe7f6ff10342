"""Means hold their level by the law of both numbers, and are refused where these may share noise."""

import numpy as np
import pytest
from worlds import engine_of, manifest_of, subject_of

from sfumato.errors import QueryError
from sfumato.query import Estimate
from sfumato.query.columns import Columns
from sfumato.query.means import mean_of
from sfumato.query.ratio_columns import RatioColumns
from sfumato.release import Cube, Independent
from sfumato.release.error_law import NORMAL, NormalError
from sfumato.release.moved_error import MovedError
from sfumato.schema import Attribute, Levels, Table

RUNS, LARGE, MEAN = 200_000, 400, 250.0
PLACE = Table((Attribute("place", Levels.of("ns")),))


def covered(scales, laws, level, *, apart):
    """How often intervals hold the true mean; amount and number have Laplace's noise of some scales, in these laws."""
    rng = np.random.default_rng(7)
    drawn = [rng.laplace(0, scale, RUNS) if scale else np.zeros(RUNS) for scale in scales]
    values = MEAN * LARGE + drawn[0], LARGE + drawn[1]
    sides = [
        Columns(value, np.full(RUNS, 2 * scale**2), np.zeros(RUNS), np.ones(RUNS, dtype=int), law=law)
        for value, scale, law in zip(values, scales, laws, strict=True)
    ]
    low, high = RatioColumns.of(*sides, np.zeros(RUNS), np.zeros(RUNS), apart=apart).ends(level)
    return np.mean((low <= MEAN) & (high >= MEAN))


def laplace(scale):
    """One draw of Laplace's law, of excess kurtosis 3."""
    return NormalError(0.0, 3.0, 2 * scale**2)


# 200,000 runs tell coverage to 0.0005 at 95% and to 0.0002 at 99%: six of these are a false alarm in a billion. Where
# the law of the count is left out, one draw of Laplace's law covers 1 − exp(−1.96 √2) = 93.7%, and 97.4% at 99%.
@pytest.mark.parametrize(("level", "least"), [(0.95, 0.947), (0.99, 0.9887)])
@pytest.mark.parametrize("scales", [(0.0, 5.0), (300.0, 5.0), (1250.0, 5.0), (4000.0, 1.0)])
def test_means_cover_by_the_law_of_the_amount_and_of_the_count(scales, level, least):
    laws = NORMAL if not scales[0] else laplace(scales[0]), laplace(scales[1])
    assert covered(scales, laws, level, apart=True) >= least


@pytest.mark.parametrize(("level", "least"), [(0.95, 0.947), (0.99, 0.9887)])
def test_without_the_law_of_the_count_they_do_not(level, least):
    assert covered((0.0, 5.0), (NORMAL, NORMAL), level, apart=True) < least
    assert covered((0.0, 5.0), (NORMAL, laplace(5.0)), level, apart=False) < least


def test_what_both_numbers_were_moved_by_is_in_their_covariance():
    over = Estimate(110.0, 5.0, law=MovedError(NORMAL, np.array([2.0])))
    under = Estimate(90.0, 10.0, law=MovedError(NORMAL, np.array([-3.0])))
    assert mean_of(over, under, "", 0.0).covariance == -6.0
    assert mean_of(over, Estimate(90.0, 10.0), "", 0.0).covariance == 0.0


def products():
    jobs, raked = (Cube(subject_of(name), PLACE, np.array([500, 700]), Independent(2.0)) for name in ("jobs", "raked"))
    return jobs, raked, Cube(subject_of("pay", "total"), PLACE, np.array([5000, 7000]), Independent(50.0))


def told(made_of):
    """A release of jobs and pay that were measured, and of raked jobs that a step made."""
    manifest = manifest_of(*products())
    lines = [one.model_copy(update={"made_of": made_of if one.name == "raked" else []}) for one in manifest.products]
    spends = [one for one in manifest.spends if one.measure != "raked"]
    return engine_of(*products(), manifest=manifest.model_copy(update={"products": lines, "spends": spends}))


def test_what_a_step_made_of_a_number_is_not_divided_by_it():
    engine = told(["jobs"])
    for ask in (engine.mean, lambda of, per: engine.means(of, "place", per=per)):
        with pytest.raises(QueryError, match="a step made one from the other's numbers"):
            ask("raked", per="jobs")
        with pytest.raises(QueryError, match="a step made one from the other's numbers"):
            ask("jobs", per="raked")
    assert engine.mean("pay", per="raked").value == 10
    assert engine.means("pay", "place", per="jobs").figure(0).value == 10


def test_a_release_that_does_not_say_what_a_step_read_has_no_means_of_it():
    engine = told([])
    with pytest.raises(QueryError, match="the release does not say"):
        engine.mean("pay", per="raked")
    assert engine.mean("pay", per="jobs").value == 10

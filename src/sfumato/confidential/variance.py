"""Variance: the a and b of a variance function, fitted to replicate weights inside the agency.

The relative variances v / x² of estimates x are fitted by a + b / x, each weighted by 1 over the square of what is
fitted, in turns until nothing moves: Wolter 2007, section 7.4.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.design import LARGEST_CUBE, Survey
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed
from sfumato.errors import QueryError
from sfumato.mechanisms import DiscreteGaussian, Mechanism, RoundedGaussian
from sfumato.plan import Measure, Plan
from sfumato.plan.margins import typical
from sfumato.plan.weights import sums_weight
from sfumato.query import Axis
from sfumato.release import Withheld
from sfumato.schema import Grid, UpTo
from sfumato.statistics import Total

Floats = NDArray[np.float64]
WAYS = 2
"""Estimates are those of the total and of all tables of one and two attributes, at every level."""
LEAST_RECORDS = 10
"""Estimates of fewer records say little of their own variance."""
LEAST_ESTIMATES = 5
TURNS = 200


@dataclass(frozen=True, eq=False, repr=False)
class FittedVariance(Sealed):
    """A variance function a x² + b x beside the estimates that it was fitted to, and what it would be if bought."""

    of: Measure
    method: str
    a: float
    b: float
    estimates: Floats
    variances: Floats
    bought: "BoughtInstead"

    def at(self, estimates: Floats) -> Floats:
        """The standard errors that it gives to some estimates."""
        return np.sqrt(np.maximum(self.a * estimates**2 + self.b * estimates, 0.0))

    @property
    def ratios(self) -> tuple[float, float, float]:
        """The standard errors that it gives over those by replication: first decile, median and ninth."""
        found = np.quantile(self.at(self.estimates) / np.sqrt(self.variances), (0.1, 0.5, 0.9))
        return float(found[0]), float(found[1]), float(found[2])

    @property
    def deff(self) -> float:
        """By how much b is larger than what Σw² and Σw give."""
        return self.b / self.bought.b

    def groups(self, count: int = 8) -> list[tuple[float, float, float]]:
        """Estimates from small to large in groups: the median of each, of its errors by replication, and the fit."""
        order = np.array_split(np.argsort(self.estimates), min(count, len(self.estimates)))
        middles = [(np.median(self.estimates[some]), np.median(np.sqrt(self.variances[some]))) for some in order]
        return [(float(x), float(error), float(self.at(np.array([x]))[0])) for x, error in middles]


@dataclass(frozen=True, eq=False, repr=False)
class BoughtInstead(Sealed):
    """What b would be from Σw² and Σw, and how far off noise would leave it at what the measure itself costs."""

    b: float
    off: float | None
    costs: str
    squares: Total
    with_: Mechanism


def fit_variance(plan: Plan, microdata: Microdata, name: str = "") -> FittedVariance:
    """The variance function of a measure that sums the weight, the first one unless it is named."""
    measure = _measure(plan, name)
    with closing(Survey(plan, microdata, (*measure.names, *measure.where))) as survey:
        found = [_points(survey, grid) for grid in _grids(plan, measure)]
        estimates, variances = (np.concatenate(part) for part in zip(*found, strict=True))
        a, b = fitted(estimates, variances)
        return FittedVariance(measure, survey.method, a, b, estimates, variances, _bought(plan, survey, measure))


def _measure(plan: Plan, name: str) -> Measure:
    """The measure that is asked for; refused where its numbers have no sampling error by replication."""
    schema = plan.schema
    if schema.weight is None or not (schema.replicates or schema.order):
        raise QueryError("A variance function is fitted to replicates; name [data] weight, and replicates or an order.")
    fit = [one for one in plan.measures if sums_weight(schema, one.of)]
    asked = plan.measure(name) if name else (fit[0] if fit else None)
    if asked is None or asked not in fit:
        who = f"'{name}' does not sum" if name else "No measure of the plan sums"
        raise QueryError(
            f"{who} the weight '{schema.weight}', so replicate weights say nothing of its error; measure a "
            "total of the weight."
        )
    return asked


def _grids(plan: Plan, measure: Measure) -> Iterator[Grid]:
    """The whole, and all tables of few attributes with all levels of each, that fit in memory."""
    columns = 1 + (plan.schema.replicate_count if plan.schema.order else len(plan.schema.replicates))
    attributes = [plan.schema.attribute(name) for name in measure.names]
    for ways in range(WAYS + 1):
        for chosen in combinations(attributes, ways):
            axes = tuple((one.name, Axis(one, one.levels.codes).groups) for one in chosen)
            grid = Grid(axes, plan.universe(measure))
            if np.prod(grid.shape, dtype=float) * columns <= LARGEST_CUBE:
                yield grid


def _points(survey: Survey, grid: Grid) -> tuple[Floats, Floats]:
    """Estimates above 0 of enough records that vary at all, and their variances."""
    estimates, records = survey.total(grid), survey.records(grid)
    variances = survey.variances(estimates)
    full = np.asarray(estimates.full, dtype=np.float64)
    if isinstance(variances, Withheld):
        raise QueryError(f"There is nothing to fit: {variances.reason}.")
    kept = (full > 0) & (variances > 0) & (records >= LEAST_RECORDS)
    return full[kept], np.asarray(variances[kept], dtype=np.float64)


def fitted(estimates: Floats, variances: Floats) -> tuple[float, float]:
    """The a and b whose a + b / x is nearest to the relative variances, in parts of itself.

    >>> x = np.array([10.0, 100.0, 1000.0, 5000.0, 20000.0])
    >>> a, b = fitted(x, -0.00001 * x**2 + 300 * x)
    >>> round(a, 8), round(b, 4)
    (-1e-05, 300.0)
    """
    if len(np.unique(estimates)) < LEAST_ESTIMATES:
        raise QueryError(
            f"There are fewer than {LEAST_ESTIMATES} estimates of {LEAST_RECORDS} records or more that vary; a and b "
            "cannot be told from so few."
        )
    relative, unit = variances / estimates**2, float(np.median(estimates))
    columns = np.stack([np.ones_like(estimates), unit / estimates], axis=1)
    now = np.array([0.0, float(np.median(variances / estimates)) / unit])
    least = 1e-3 * now[1]
    for _ in range(TURNS):
        # An estimate of nearly all, as good as without error, counts no more than one of half.
        weights = 1 / np.maximum(columns @ now, columns[:, 1] * max(now[1], least) / 2)
        found = np.linalg.lstsq(columns * weights[:, None], relative * weights, rcond=None)[0]
        done, now = bool(np.allclose(found, now, rtol=1e-10, atol=0)), found
        if done:
            break
    if now[1] <= 0:
        raise QueryError(
            "No b above 0 fits: relative errors do not fall with the size of estimates. State no function, or look at "
            "`sfumato tabulate` for what is the matter."
        )
    return float(now[0]), float(now[1]) * unit


def _bought(plan: Plan, survey: Survey, measure: Measure) -> BoughtInstead:
    """What the two measures of a bought variance would give, without noise, and the error that noise would bring."""
    bounds, missing = measure.of.value_bounds, getattr(measure.of, "missing", None)
    clip = (bounds.low, bounds.high) if bounds else None
    codes = getattr(measure.of, "missing_codes", None)
    weight, step = str(plan.schema.weight), measure.of.step**2
    of = Total(weight, step=step, missing=missing, power=2, clip_value=clip, missing_codes=codes)
    whole = Grid((), plan.universe(measure))
    squares, weights = (survey.each(one, whole).full.item() for one in (of, measure.of))
    bought = replace(measure, of=of, by=(), title="", with_=_of_one_number(measure))
    move = plan.move(bought)
    error = bought.with_.expected(move, typical(plan, bought))
    off = None if isinstance(error, Withheld) else error / squares
    return BoughtInstead(squares / weights, off, bought.with_.loss(move).words(), of, bought.with_)


def _of_one_number(measure: Measure) -> Mechanism:
    """The mechanism of a measure; where that is of a family of tables, one of the same budget for one number."""
    if not isinstance(measure.by, UpTo):
        return measure.with_
    spent = {name: getattr(measure.with_, name, None) for name in ("mu", "rho")}
    return RoundedGaussian(spent["mu"]) if spent["mu"] is not None else DiscreteGaussian(spent["rho"] or 1)

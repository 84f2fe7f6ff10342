"""A synthetic population of jobs: skewed establishments, and occupation, education, age and pay that hang together."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pyarrow as pa

from sfumato.errors import PlanError
from sfumato.synth.columns import FIGURES, Floats, Integers, levels, names, pick

OWNERSHIP = ("private", "federal", "state", "local")
SIZE_CLASSES = ("1-4", "5-19", "20-99", "100-499", "500+")
SIZE_EDGES = (5, 20, 100, 500)
SEX = ("female", "male")
EDUCATION = ("none", "high school", "some college", "bachelor", "graduate")
EDUCATION_AGES = (18, 19, 21, 24)  # the youngest age at which each level above none is held
OLDEST = 80
EDUCATION_MISSING = 0.03
SUPPORT = 0.3  # the share of an establishment's jobs that are not in its own trade
TAIL_FROM, TAIL_INDEX = 100, 1.1  # establishment sizes are Pareto from here up


@dataclass(frozen=True)
class OccupationGroup:
    """One major occupation group: which establishments live by it and who works in it, in percent."""

    small: float  # as the trade of establishments under 50 workers
    large: float  # as the trade of larger ones
    support: float  # among the jobs outside the trade of their establishment
    female: int
    entry: int  # youngest age
    age: int  # mean age
    education: Sequence[int]
    public: Sequence[int]  # federal, state and local among establishments of this trade


GROUPS = {code: OccupationGroup(*figures) for code, figures in FIGURES["groups"].items()}
LISTED = FIGURES["employment"]["occupations"].split()
STATES = FIGURES["employment"]["states"]
OCCUPATIONS = tuple(LISTED[::3])
JOBS: Floats = np.array(LISTED[1::3], dtype=float)
LOG_PAY: Floats = np.log(np.array(LISTED[2::3], dtype=float) * 1000 / 4)
GROUP_OF: Integers = np.array([list(GROUPS).index(code[:2]) for code in OCCUPATIONS])
LEAN: Floats = LOG_PAY - (np.bincount(GROUP_OF, JOBS * LOG_PAY) / np.bincount(GROUP_OF, JOBS))[GROUP_OF]
"""How far the pay of an occupation lies from its group's, in logarithms."""


@dataclass(frozen=True)
class Establishments:
    """One entry an establishment; `shift` is its own leaning in pay, schooling and sex."""

    size: Integers
    state: Integers
    trade: Integers
    ownership: Integers
    shift: Floats


@dataclass(frozen=True)
class Workers:
    """One entry a job: the establishment it is in, the occupation, and who holds it."""

    at: Integers
    occupation: Integers
    age: Integers
    school: Integers
    male: Integers


def employment(rows: int = 100_000, seed: int = 1) -> pa.Table:
    """One row a job, the jobs of an establishment together; the same seed gives the same table."""
    if rows < 1:
        raise PlanError(f"employment was asked for {rows} rows; a table of jobs has at least 1.")
    rng = np.random.Generator(np.random.PCG64(seed))
    places = _establishments(rows, rng)
    workers = _workers(places, rng)
    columns = {
        "job_id": names("J", np.arange(1, rows + 1)),
        "establishment_id": names("E", workers.at + 1),
        "occupation": levels(OCCUPATIONS, workers.occupation),
        "state": levels(tuple(STATES), places.state[workers.at]),
        "ownership": levels(OWNERSHIP, places.ownership[workers.at]),
        "size_class": levels(SIZE_CLASSES, np.searchsorted(SIZE_EDGES, places.size, side="right")[workers.at]),
        "sex": levels(SEX, workers.male),
        "age": pa.array(workers.age, pa.int32()),
        "education": levels(EDUCATION, workers.school, rng.random(rows) < EDUCATION_MISSING),
        "wage": pa.array(_wages(places, workers, rng), pa.int64()),
    }
    return pa.table(columns)


def _establishments(rows: int, rng: np.random.Generator) -> Establishments:
    size = _sizes(rows, rng)
    small, large = ([getattr(group, side) for group in GROUPS.values()] for side in ("small", "large"))
    trade = pick(np.array([small, large]), (size >= 50).astype(np.int64), rng)
    owners = np.array([(100 - sum(group.public), *group.public) for group in GROUPS.values()], dtype=float)
    state = pick(np.array([[weight for weight, _ in STATES.values()]]), np.zeros_like(size), rng)
    shift = rng.normal(0, (0.12, 0.25, 0.3), (size.size, 3))
    return Establishments(size, state, trade, pick(owners, trade, rng), shift)


def _sizes(rows: int, rng: np.random.Generator) -> Integers:
    """Sizes that sum to `rows`: a lognormal body, a Pareto tail up to 2% of the jobs, within 200 and 10,000 workers."""
    # Every size is at least 1, so `rows` draws always suffice; the last one kept is cut to fit.
    body = np.exp(rng.normal(np.log(3.8), 1.5, rows))
    largest = min(max(rows // 50, 2 * TAIL_FROM), 10_000)
    tail = TAIL_FROM * rng.uniform((TAIL_FROM / largest) ** TAIL_INDEX, 1, rows) ** (-1 / TAIL_INDEX)
    size = np.maximum(np.rint(np.where(body < TAIL_FROM, body, tail)), 1).astype(np.int64)
    end = np.cumsum(size)
    size = size[: np.searchsorted(end, rows) + 1]
    size[-1] -= end[size.size - 1] - rows
    return size


def _workers(places: Establishments, rng: np.random.Generator) -> Workers:
    at = np.repeat(np.arange(places.size.size), places.size)
    occupation = _occupations(places.trade[at], rng)
    lean = LEAN[occupation]
    age = _ages(occupation, lean, rng)
    school = _schooling(occupation, lean + places.shift[at, 1], age, rng)
    share = _of_group("female")[occupation] / 100
    logit = np.log(share / (1 - share)) - 1.4 * (lean + places.shift[at, 2])
    male = (rng.random(at.size) > 1 / (1 + np.exp(-logit))).astype(np.int64)
    return Workers(at, occupation, age, school, male)


def _occupations(trade: Integers, rng: np.random.Generator) -> Integers:
    outside = pick(np.array([[group.support for group in GROUPS.values()]]), np.zeros_like(trade), rng)
    group = np.where(rng.random(trade.size) < SUPPORT, outside, trade)
    return pick(np.where(np.arange(len(GROUPS))[:, None] == GROUP_OF, JOBS, 0.0), group, rng)


def _of_group(field: str) -> Floats:
    """A figure of the group of each occupation."""
    return np.array([getattr(GROUPS[code[:2]], field) for code in OCCUPATIONS], dtype=float)


def _ages(occupation: Integers, lean: Floats, rng: np.random.Generator) -> Integers:
    """Whole years, a beta law from an occupation's youngest age to 80; the better paid start later."""
    entry = _of_group("entry")[occupation] + np.clip(7 * lean, 0, 8)
    mean = _of_group("age")[occupation] + np.clip(5 * lean, -4, 5)
    centre = (mean - entry) / (OLDEST + 1 - entry)
    drawn = entry + (OLDEST + 1 - entry) * rng.beta(4.5 * centre, 4.5 * (1 - centre))
    return np.asarray(np.minimum(drawn, OLDEST), dtype=np.int64)


def _schooling(occupation: Integers, lean: Floats, age: Integers, rng: np.random.Generator) -> Integers:
    """An ordered probit with the cut points of the group, never above what the age allows."""
    shares = [np.cumsum(group.education)[:-1] / sum(group.education) for group in GROUPS.values()]
    cuts = np.array([[NormalDist().inv_cdf(share) for share in row] for row in shares])
    score = rng.normal(size=age.size) + 2 * lean
    reached = np.sum(score[:, None] > cuts[GROUP_OF[occupation]], axis=1)
    return np.asarray(np.minimum(reached, np.searchsorted(EDUCATION_AGES, age, side="right")), dtype=np.int64)


def _wages(places: Establishments, workers: Workers, rng: np.random.Generator) -> Integers:
    """Whole dollars a quarter: lognormal around occupation, place, schooling, age and sex."""
    state = np.array([shift for _, shift in STATES.values()])[places.state]
    place = state + places.shift[:, 0] + 0.03 * np.log(places.size) - 0.08
    usual = (_of_group("education") @ np.arange(5) / 100)[workers.occupation]
    person = 0.12 * (workers.school - usual) + 0.1 * workers.male - 0.0006 * (workers.age - 50) ** 2 + 0.1
    usual_pay = LOG_PAY[workers.occupation] + place[workers.at] + person
    return np.asarray(np.maximum(np.rint(np.exp(rng.normal(usual_pay, 0.4))), 1), dtype=np.int64)

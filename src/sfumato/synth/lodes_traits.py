"""Who works where: traits of workers by sector, raked to real shares, with a leaning of each establishment's own."""

from functools import cache

import numpy as np

from sfumato.synth.columns import Floats, Integers, pick
from sfumato.synth.lodes_country import FIGURES, SECTORS, Workplaces

TRAITS = FIGURES["traits"]
YEARS = ((16, 30), (30, 55), (55, 81))
"""The years of life of each class of age; the last is not in it."""
YOUNG = 30
"""Education is not told of younger workers, as in LODES."""


@cache
def shares_by_sector(trait: str) -> Floats:
    """The shares of a trait's levels in each sector, which over all jobs come to the real ones."""
    codes, total = TRAITS[trait]["codes"], np.array(TRAITS[trait]["shares"], dtype=float)
    rows = np.array([one.share for one in SECTORS.values()])
    tilts = {
        "sex": ("women", np.array([0.0, 1.0])),
        "age": ("young", np.array([1.0, 0.0, -0.3])),
        "education": ("graduates", np.array([-1.0, -0.4, 0.0, 1.0])),
    }
    name, slope = tilts.get(trait, ("", np.zeros(len(codes))))
    tilt = np.array([getattr(one, name) if name else 0.0 for one in SECTORS.values()])
    table = np.exp(np.outer(tilt, slope)) * total
    for _ in range(100):
        table *= (rows / table.sum(axis=1))[:, None]
        table *= total / total.sum() * rows.sum() / table.sum(axis=0)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def leaning(trait: str, sector: Integers, rng: np.random.Generator) -> Floats:
    """The shares of a trait in each establishment: Dirichlet around those of its sector, so that the mean stays."""
    drawn = rng.standard_gamma(TRAITS[trait]["alike"] * shares_by_sector(trait)[sector])
    return np.asarray(drawn + 1e-9)


def workers(of: Workplaces, at: Integers, rng: np.random.Generator) -> dict[str, Integers]:
    """The traits of a worker for each entry of `at`, the place of an establishment among `of`; age in years."""
    found = {name: pick(leaning(name, of.sector, rng), at, rng) for name in TRAITS}
    first, last = np.array(YEARS).T
    found["age"] = first[found["age"]] + (rng.random(at.size) * (last - first)[found["age"]]).astype(np.int64)
    found["education"] = np.where(found["age"] < YOUNG, len(TRAITS["education"]["codes"]), found["education"])
    return found


def earnings(sector: Integers, rng: np.random.Generator) -> Integers:
    """Dollars a month: lognormal, half of the differences in pay between sectors kept."""
    weekly = np.log([one.weekly for one in SECTORS.values()])
    weights = np.array([one.share for one in SECTORS.values()])
    shift = 0.5 * (weekly - np.average(weekly, weights=weights))
    spread = np.sqrt(FIGURES["earnings"]["log_spread"] ** 2 - np.average(shift**2, weights=weights))
    drawn = rng.normal(FIGURES["earnings"]["log_mean"] + shift[sector], spread)
    return np.asarray(np.maximum(np.rint(np.exp(drawn)), 1), dtype=np.int64)

"""Who lives in a synthetic city: where, in which neighbourhood, and with which work; totals are met exactly."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.synth.columns import Floats, Integers

FIGURES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("iab.toml").read_text(encoding="utf-8"))
HOMES, TRAITS = FIGURES["homes"], FIGURES["traits"]
CODES = {
    "sex": ("female", "male"),
    "foreign": ("no", "yes"),
    "employed": ("no", "yes"),
    "benefits": ("no", "yes"),
    "skill": ("low", "medium", "high"),
    "wage": ("low", "medium", "high"),
    "distance": ("up to 1 km", "1 to 5 km", "5 to 10 km", "10 to 20 km", "over 20 km"),
}
"""The levels of what is known of a person, in order; skill, wage and distance are of those who are employed."""


@dataclass(frozen=True)
class PostalCode:
    """A postal code: where its middle lies, in metres east and north of the origin, and how many people it has."""

    code: str
    east: int
    north: int
    people: int


@dataclass(frozen=True)
class Aims:
    """How many people of a group are foreign, not employed, and both."""

    foreign: int
    not_employed: int
    both: int


@dataclass(frozen=True)
class Homes:
    """One entry a person: the place of the postal code, metres east and north, and the wealth of the neighbourhood."""

    postal_code: Integers
    east: Integers
    north: Integers
    wealth: Floats


def homes(codes: tuple[PostalCode, ...], rng: np.random.Generator) -> Homes:
    """The people of some postal codes, each in a building of a neighbourhood; several live at one place."""
    people = np.array([code.people for code in codes])
    middles = np.array([(code.east, code.north) for code in codes], dtype=float)
    quarter_of, quarter_places = _neighbourhoods(people, middles, rng)
    east, north = quarter_places.T / 1_000
    wealth = np.sin(east / 1.7) + np.cos(north / 1.3 + 1) + rng.normal(0, 0.7, len(quarter_of))
    wealth = (wealth - wealth.mean()) / max(float(wealth.std()), 1e-9)
    buildings = np.maximum(people // HOMES["a_building"], 1)
    first_quarter, first_building = _firsts(np.bincount(quarter_of)), _firsts(buildings)
    of_code = np.repeat(np.arange(len(codes)), buildings)
    quarters = np.bincount(quarter_of)[of_code]
    quarter = first_quarter[of_code] + (rng.random(len(of_code)) * quarters).astype(np.int64)
    built = np.rint(quarter_places[quarter] + rng.normal(0, HOMES["buildings_apart"], (len(of_code), 2)))
    lives = np.repeat(np.arange(len(codes)), people)
    # Some buildings have many people: the first ones of a postal code are drawn most.
    building = first_building[lives] + (rng.random(len(lives)) ** 1.6 * buildings[lives]).astype(np.int64)
    placed = built[building].astype(np.int64)
    return Homes(lives, placed[:, 0], placed[:, 1], wealth[quarter[building]])


def _firsts(counts: Integers) -> Integers:
    return np.cumsum(counts) - counts


def _neighbourhoods(people: Integers, middles: Floats, rng: np.random.Generator) -> tuple[Integers, Floats]:
    """The postal code of each neighbourhood and where it lies: nearest to the middle of its own code."""
    of_code = np.repeat(np.arange(len(people)), -(-people // HOMES["a_neighbourhood"]))
    away = rng.normal(0, HOMES["neighbourhoods_apart"], (len(of_code), 2))
    for _ in range(4):
        places = middles[of_code] + away
        apart = ((places[:, None, :] - middles[None, :, :]) ** 2).sum(axis=2)
        away[apart.argmin(axis=1) != of_code] /= 2
    return of_code, middles[of_code] + away


def work(wealth: Floats, aims: Aims, rng: np.random.Generator) -> dict[str, Integers]:
    """What is known of each person, as numbers of levels; what nobody has without work is 0 where there is none."""
    count, richer = len(wealth), TRAITS["richer"]
    foreign = _most(richer["foreign"] * wealth, aims.foreign, rng)
    idle = np.zeros(count, dtype=bool)
    for some, wanted in ((foreign, aims.both), (~foreign, aims.not_employed - aims.both)):
        idle[np.flatnonzero(some)[_most(richer["not_employed"] * wealth[some], wanted, rng)]] = True
    skill = _ordered(np.array([TRAITS["skill"]]), np.zeros(count, dtype=np.int64), richer["skill"] * wealth, rng)
    wage = _ordered(np.array(TRAITS["wage"]), skill, richer["wage"] * wealth, rng)
    distance = _ordered(np.array([TRAITS["distance"]]), np.zeros(count, dtype=np.int64), np.zeros(count), rng)
    found = {
        "sex": (rng.random(count) >= TRAITS["female"] / 100).astype(np.int64),
        "foreign": foreign.astype(np.int64),
        "employed": (~idle).astype(np.int64),
        "benefits": (idle & (rng.random(count) < TRAITS["benefits"] / 100)).astype(np.int64),
    }
    told = {"skill": skill, "wage": wage, "distance": distance}
    return found | {name: np.where(idle, 0, one) for name, one in told.items()}


def _most(leaning: Floats, wanted: int, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """So many of some people, those who lean to it more often than others."""
    score = leaning + rng.logistic(size=len(leaning))
    found = np.zeros(len(leaning), dtype=bool)
    found[np.argpartition(score, len(score) - wanted)[len(score) - wanted :] if wanted else []] = True
    return found


def _ordered(shares: Floats, row: Integers, leaning: Floats, rng: np.random.Generator) -> Integers:
    """One of several ordered levels, with the shares of a row where nobody leans up or down."""
    cumulated = np.cumsum(shares, axis=1)[:, :-1] / shares.sum(axis=1, keepdims=True)
    score = leaning + rng.logistic(size=len(leaning))
    return np.asarray((score[:, None] > np.log(cumulated / (1 - cumulated))[row]).sum(axis=1), dtype=np.int64)

"""The cities and postal codes of synthetic employment biographies: Fürth, or as many cities as people need."""

from dataclasses import dataclass
from math import isqrt

import numpy as np

from sfumato.errors import PlanError
from sfumato.synth.columns import Floats, Integers
from sfumato.synth.iab_people import FIGURES, HOMES, Aims, PostalCode

FEWEST, MOST = 500, 200_000_000


@dataclass(frozen=True)
class City:
    """A city, the region that it is in, and its postal codes."""

    name: str
    region: str
    postal_codes: tuple[PostalCode, ...]

    @property
    def people(self) -> int:
        return sum(code.people for code in self.postal_codes)


def cities(people: int) -> tuple[City, ...]:
    """Fürth where one city holds them, else as many as it takes; the same whatever the seed, as code lists are."""
    if not FEWEST <= people <= MOST:
        raise PlanError(f"iab was asked for {people:,} people; it makes {FEWEST:,} to {MOST:,}.")
    count = max(1, round(people / FIGURES["people"]))
    if count == 1:
        return (_fuerth(people),)
    rng = np.random.Generator(np.random.PCG64(count))
    sizes = apportioned(people, np.exp(rng.normal(0, 0.8, count)))
    side, found, code = isqrt(count - 1) + 1, [], 0
    for number, size in enumerate(sizes):
        row, column = divmod(number, side)
        middle = HOMES["cities_apart"] * np.array([column - side // 2, row - side // 2]) + rng.integers(-4000, 4000, 2)
        region = f"Region {number // FIGURES['cities_a_region'] + 1}"
        found.append(City(f"City {number + 1}", region, _postal_codes(int(size), middle, code, rng)))
        code += len(found[-1].postal_codes)
    return tuple(found)


def _fuerth(people: int) -> City:
    known = {code: told for code, told in FIGURES["city"].items() if isinstance(told, list)}
    sizes = apportioned(people, np.array([told[2] for told in known.values()], dtype=float))
    codes = (
        PostalCode(code, told[0], told[1], int(size)) for (code, told), size in zip(known.items(), sizes, strict=True)
    )
    return City(FIGURES["city"]["name"], FIGURES["city"]["region"], tuple(codes))


def _postal_codes(people: int, middle: Integers, before: int, rng: np.random.Generator) -> tuple[PostalCode, ...]:
    """The postal codes of a made-up city around its middle, about as large as those of Fürth."""
    usual = FIGURES["people"] / (len(FIGURES["city"]) - 2)
    count = max(1, round(people / usual))
    sizes, side = apportioned(people, np.exp(rng.normal(0, 0.3, count))), isqrt(count - 1) + 1
    places = np.array([divmod(one, side) for one in range(count)]) * HOMES["postal_codes_apart"] + middle
    return tuple(
        PostalCode(f"{before + number + 1:05d}", int(east), int(north), int(size))
        for number, ((east, north), size) in enumerate(zip(places, sizes, strict=True))
    )


def apportioned(whole: int, weights: Floats) -> Integers:
    """A whole number in parts of 1 and more, in proportion to weights, by the largest remainders.

    >>> apportioned(10, np.array([1.0, 1.0, 2.0])).tolist()
    [3, 3, 4]
    """
    shares = (whole - len(weights)) * weights / weights.sum()
    parts = np.floor(shares).astype(np.int64)
    parts[np.argsort(parts - shares, kind="stable")[: whole - len(weights) - int(parts.sum())]] += 1
    return np.asarray(parts + 1)


def aims(before: int, after: int) -> Aims:
    """What the people from one number to another are to have, so that all up to a number have the shares of Fürth."""
    names = ("foreign", "not_employed", "not_employed_foreign")
    return Aims(*(_share(after, FIGURES[name]) - _share(before, FIGURES[name]) for name in names))


def _share(people: int, figure: int) -> int:
    whole = int(FIGURES["people"])
    return (people * figure * 2 + whole) // (2 * whole)

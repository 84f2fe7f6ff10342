"""The maps of the slides: the share of high wages among employees with medium skills, by clusters of 50, 100 and 200.

Weights make every total that of the signed table, so that a weighted share is the ratio of two signed totals; records
without weights are those of the table in which a negative cell is one record, a carrier (`iab-full`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq

from sfumato.draws import SeededDraws, TwoSidedGeometric
from sfumato.geography.locations import Located, Locations, read_locations
from sfumato.geography.partition import Partition, microaggregated
from sfumato.studies.study import Line
from sfumato.synth.columns import Floats, Integers
from sfumato.synth.iab import write_people
from sfumato.synth.iab_people import CODES
from sfumato.synth.iab_places import cities

SIZES = (50, 100, 200)
EPSILON, SENSITIVITY = 1, 2
CELL = Fraction(EPSILON, SENSITIVITY)
VARIANCE = 2 * exp(-CELL) / (1 - exp(-CELL)) ** 2
WITHIN = ("sex", "foreign", "distance", "wage")
HIGH = CODES["wage"].index("high")
Z = 1.959964
Say = Callable[[str], object]


@dataclass(frozen=True, eq=False)
class MappedShares:
    """For each cluster of a size the employees with medium skills by cell, true and noisy, the last axis being wage."""

    k: int
    partition: Partition
    true: Integers
    noisy: Integers

    @staticmethod
    def share(cells: Integers | Floats) -> Floats:
        """High wages among all; NaN where there is nobody, or less."""
        whole = cells.reshape(len(cells), -1).sum(axis=1).astype(float)
        high = cells[..., HIGH].reshape(len(cells), -1).sum(axis=1)
        return np.asarray(np.divide(high, whole, out=np.full(len(cells), np.nan), where=whole > 0))

    @cached_property
    def original(self) -> Floats:
        return self.share(self.true)

    @cached_property
    def unweighted(self) -> Floats:
        """Of the records of a table in which a negative cell is one record."""
        return self.share(np.where(self.noisy < 0, 1, self.noisy))

    @cached_property
    def weighted(self) -> Floats:
        """Of signed totals; none where the denominator is within its own noise of 0, so that it could be anything."""
        whole = self.noisy.reshape(len(self.noisy), -1).sum(axis=1)
        cells = self.noisy[0].size
        return np.where(whole > Z * sqrt(cells * VARIANCE), self.share(self.noisy), np.nan)


def made(rows: int, seed: int = 1) -> tuple[Locations, Integers]:
    """Where synthetic people live, and the cell of each who is employed with medium skills; -1 of all others."""
    with TemporaryDirectory() as folder:
        write_people(Path(folder), cities(rows), seed)
        located = Located("person_id", ("east", "north"), ("postal_code", "city", "region"))
        locations = read_locations(Path(folder) / "locations.parquet", located)
        people = pq.read_table(Path(folder) / "people.parquet")
    codes = {name: np.array(people[name].cast("string").to_pylist(), dtype=object) for name in (*WITHIN, "skill")}
    some = codes["skill"] == "medium"
    cell = np.zeros(len(some), dtype=np.int64)
    for name in WITHIN:
        place = {code: number for number, code in enumerate(CODES[name])}
        cell = cell * len(place) + np.array([place.get(code, 0) for code in codes[name]])
    return locations, np.where(some, cell, -1)


def shares(k: int, partition: Partition, cell: Integers, seed: int) -> MappedShares:
    """The clusters of a size, with one draw of noise."""
    shape = tuple(len(CODES[name]) for name in WITHIN)
    width, some = int(np.prod(shape)), cell >= 0
    areas = len(partition.codes)
    counted = np.bincount(partition.area[some] * width + cell[some], minlength=areas * width)
    noise = TwoSidedGeometric(CELL).draw(counted.size, SeededDraws(seed))
    true, noisy = (one.reshape(areas, *shape) for one in (counted, counted + noise))
    return MappedShares(k, partition, true, noisy)


def lines(runs: int, rows: int, say: Say) -> list[Line]:
    """How near noisy shares come to the true ones, in the mean of some draws."""
    locations, cell = made(rows)
    found = []
    for k in SIZES:
        say(f"clusters of {k}")
        partition = microaggregated(locations, k)
        drawn = [shares(k, partition, cell, seed) for seed in range(1, runs + 1)]
        found += _lines(k, drawn)
    return found


def _lines(k: int, drawn: Sequence[MappedShares]) -> list[Line]:
    areas = f"{len(drawn[0].true):,} areas of {k}"
    high = drawn[0].true[..., HIGH].sum() / drawn[0].true.sum()
    unweighted = np.mean([np.nanmean(one.unweighted) for one in drawn])
    weighted = np.mean([one.noisy[..., HIGH].sum() / one.noisy.sum() for one in drawn])
    told = np.mean([np.isfinite(one.weighted).mean() for one in drawn])
    return [
        Line(f"{areas}: share of high wages in the city, true", "", f"{high:.1%}"),
        Line(f"{areas}: mean share by area, without weights", "", f"{unweighted:.1%}"),
        Line(f"{areas}: share in the city, with weights", "", f"{weighted:.1%}"),
        Line(f"{areas}: areas whose weighted share is a number", "", f"{told:.0%}"),
        Line(f"{areas}: correlation with the true shares, without weights", "", _mean(drawn, "unweighted")),
        Line(f"{areas}: the same with weights, where there is a number", "", _mean(drawn, "weighted")),
    ]


def _mean(drawn: Sequence[MappedShares], which: str) -> str:
    found = [correlation(one.original, getattr(one, which)) for one in drawn]
    return f"{np.nanmean(found):.2f}" if np.isfinite(found).any() else "none"


def correlation(one: Floats, other: Floats) -> float:
    """Of the areas in which both are a number."""
    both = np.isfinite(one) & np.isfinite(other)
    return float(np.corrcoef(one[both], other[both])[0, 1]) if both.sum() > 2 else float("nan")

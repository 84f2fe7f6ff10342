"""The cells of the LODES evaluation: jobs by place, sector and ownership, and by sex and education, joined."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential import Microdata
from sfumato.confidential.engines.choose import opened
from sfumato.confidential.engines.request import Reading
from sfumato.draws import SeededDraws
from sfumato.mechanisms import NoiseInfusion
from sfumato.plan import Plan
from sfumato.schema import Box, Ragged, UnitSums
from sfumato.synth.lodes import write_lodes
from sfumato.synth.lodes_country import OWNERSHIP, SECTORS, Country

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Say = Callable[[str], None]
BY, TRAITS = ("location@2", "sector", "ownership"), ("sex", "education")
UNIT = UnitSums(per="workplace_id")
INFUSION = NoiseInfusion("0.05", "0.15", per="workplace_id")
"""The system in use; its two numbers are confidential there, and a choice of the study here."""
STRATA = {"below 100": 100, "100 to 10,000": 10_000, "10,000 to 100,000": 100_000, "100,000 and more": 10**12}
"""Places by how many live there, as in the paper."""
EVERYWHERE, FEWEST = "all places", 20


@dataclass(frozen=True, eq=False)
class Marginal:
    """Cells that are published: of places, sectors and ownerships with a workplace, by traits of workers or not."""

    jobs: Floats
    largest: Floats
    """How many of its jobs the largest workplace of a cell has."""
    stratum: Integers
    units: Integers
    """The digests of all workplaces; of every pair of a cell and a workplace the two, and the jobs there."""
    cell: Integers
    unit: Integers
    count: Integers

    def infused(self, seed: int) -> Floats:
        """What the system in use would publish, with a key of its own for each seed."""
        draws = SeededDraws(seed)
        moved = INFUSION.factors(self.units, draws)[self.unit] * self.count
        infused = np.bincount(self.cell, moved, self.jobs.size).astype(np.float64)
        return INFUSION.rounded(infused, self.jobs.astype(np.int64), Fraction(1), draws).astype(np.float64)

    def within(self, name: str) -> NDArray[np.bool_]:
        """The cells of one stratum of places, or all."""
        if name == EVERYWHERE:
            return np.ones(self.jobs.size, dtype=bool)
        return np.asarray(self.stratum == list(STRATA).index(name))

    @property
    def strata(self) -> list[str]:
        """All places, and the strata that have enough cells to be compared."""
        return [EVERYWHERE, *(name for name in STRATA if self.within(name).sum() >= FEWEST)]


def marginals(jobs: int, say: Say) -> tuple[Marginal, Marginal]:
    """The marginal of workplaces, and that of sex and education as well, of so many synthetic jobs."""
    with tempfile.TemporaryDirectory() as folder:
        say(f"making {jobs:,} jobs")
        plan = Plan.read(write_lodes(Path(folder), jobs))
        say("joining and tabulating them")
        places, units = tabulated(plan, Path(folder), (*BY, *TRAITS))
    say("summing over workplaces")
    traits = plan.schema.table(TRAITS).size
    stratum = np.searchsorted(list(STRATA.values()), Country(jobs).geography.residents, side="right")
    digests, unit = np.unique(units.values[:, 0], return_inverse=True)
    occupied, own = np.unique(places // traits, return_inverse=True)
    of_place = stratum[occupied // (len(SECTORS) * len(OWNERSHIP))]
    whole = np.repeat(own, units.lengths)
    part = np.repeat(own * traits + places % traits, units.lengths)
    pairs = digests, unit, units.values[:, 1]
    return (
        marginal(*_whole_units(whole, *pairs), of_place),
        marginal(part, *pairs, np.repeat(of_place, traits)),
    )


def tabulated(plan: Plan, folder: Path, by: tuple[str, ...]) -> tuple[Integers, Ragged]:
    """The occupied cells of a table, and what each workplace has there."""
    table = plan.schema.table(by)
    tables = {name: folder / f"{name}.parquet" for name in plan.schema.tables}
    cut = [one for one in table.attributes if one.depth is not None]
    named = dict.fromkeys([*(plan.schema.attribute(one.name) for one in table.attributes), *cut])
    engine, _ = opened(Microdata.open(tables, plan.schema).sources, Reading(plan.schema, tuple(named), (UNIT,)), b"")
    try:
        places, columns = engine.occupied(table, (UNIT,), Box())
    finally:
        engine.close()
    return places, columns[UNIT]


def _whole_units(
    cell: Integers, digests: Integers, unit: Integers, count: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    """The same pairs with all traits of a workplace together; it lies in one cell of workplaces."""
    where = np.zeros(len(digests), dtype=np.int64)
    where[unit] = cell
    return where, digests, np.arange(len(digests)), np.bincount(unit, count, len(digests)).astype(np.int64)


def marginal(cell: Integers, digests: Integers, unit: Integers, count: Integers, stratum: Integers) -> Marginal:
    """Cells of pairs of a cell and a workplace, each with its jobs; one stratum a cell."""
    jobs, largest = np.bincount(cell, count, len(stratum)), np.zeros(len(stratum))
    np.maximum.at(largest, cell, count)
    return Marginal(jobs.astype(np.float64), largest, stratum, digests, cell, unit, count)

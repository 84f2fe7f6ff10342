"""Real LODES files: workplace area characteristics (WAC) by block, read and checked, and jobs drawn to match them.

A row is a block: its jobs (C000) by age (CA), earnings (CE), sector (CNS), race (CR), ethnicity (CT), education (CD,
from 30 years on) and sex (CS). Jobs drawn from it have the counts of every block by sector exactly, and the shares of
each block in everything else; which workplaces share the jobs of a block and sector, no such file tells.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from sfumato.errors import DataError
from sfumato.synth.columns import Floats, Integers, pick
from sfumato.synth.lodes_country import SECTORS, Blocks, Workplaces, owners_by_sector
from sfumato.synth.lodes_traits import TRAITS, YEARS, YOUNG
from sfumato.synth.qcew_codes import Level

BLOCK, JOBS = "w_geocode", "C000"
CLASSES = {"sex": "CS", "age": "CA", "race": "CR", "ethnicity": "CT", "education": "CD"}
RACES = ("01", "02", "03", "04", "05", "07")
MORE = 0.0137
"""Workplaces beyond the first that a block and sector have for each job, so that there are 48 for 1,000 jobs."""


def read_wac(path: Path) -> pa.Table:
    """The rows of a WAC file (CSV, also .gz), refused where it is none or its classes do not add up to its jobs."""
    try:
        table = pc.read_csv(path, convert_options=pc.ConvertOptions(column_types={BLOCK: pa.string()}))
    except (OSError, pa.ArrowInvalid):
        raise DataError(f"{Path(path).name} could not be read as a LODES WAC file, which is CSV, also .gz.") from None
    lacking = [name for name in (BLOCK, JOBS, *(one for kind in [*CLASSES, "sector"] for one in _columns(kind)))
               if name not in table.column_names]  # fmt: skip
    if lacking:
        raise DataError(f"{Path(path).name} is no LODES WAC file: it has no column '{lacking[0]}'.")
    jobs = table[JOBS].to_numpy()
    for kind in ("sector", "age", "race", "ethnicity", "sex"):
        if not (counts(table, kind).sum(axis=1) == jobs).all():
            raise DataError(f"In {Path(path).name} the jobs by {kind} do not add up to {JOBS} in some blocks.")
    if not (counts(table, "education").sum(axis=1) == counts(table, "age")[:, 1:].sum(axis=1)).all():
        raise DataError(f"In {Path(path).name} the jobs by education do not add up to those from 30 years on.")
    return table


def _columns(kind: str) -> list[str]:
    if kind == "sector":
        return [f"CNS{number:02d}" for number in range(1, len(SECTORS) + 1)]
    named = RACES if kind == "race" else [f"{one + 1:02d}" for one in range(len(TRAITS[kind]["codes"]))]
    return [f"{CLASSES[kind]}{number}" for number in named]


def counts(table: pa.Table, kind: str) -> Integers:
    """The jobs of every block by one classification: sector, sex, age, race, ethnicity or education."""
    return np.stack([table[name].to_numpy() for name in _columns(kind)], axis=1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class WacCountry:
    """Jobs that have the counts of a WAC file by block and sector; places are its census tracts."""

    table: pa.Table
    seed: int = 1

    @cached_property
    def geography(self) -> Blocks:
        """States, counties, tracts and blocks by their real codes."""
        blocks = sorted(self.table[BLOCK].to_pylist())
        levels, seen = list[Level](), set[str]()
        for block in blocks:
            for length, word in ((2, "State"), (5, "County"), (11, "Tract"), (15, "Block")):
                code = block[:length]
                if code not in seen:
                    seen.add(code)
                    parent = "" if length == 2 else block[: {5: 2, 11: 5, 15: 11}[length]]
                    levels.append({"code": code, "label": f"{word} {code}", "parent": parent})
        none = np.zeros(0, dtype=np.int64)
        return Blocks(levels, none, none, blocks, np.zeros(0), none)

    @cached_property
    def _order(self) -> Integers:
        return np.argsort(np.array(self.table[BLOCK].to_pylist()))

    @cached_property
    def workplaces(self) -> Workplaces:
        """One or more for each block and sector, whose jobs are shared out unevenly."""
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence((self.seed, 0))))
        jobs = counts(self.table, "sector")[self._order]
        block, sector = np.nonzero(jobs)
        held = jobs[block, sector]
        number = np.minimum(1 + rng.poisson(MORE * held), held)
        cell = np.repeat(np.arange(held.size), number)
        size = _shared(held, number, cell, rng)
        owner = pick(owners_by_sector(), sector[cell], rng)
        return Workplaces(size, sector[cell], owner, block[cell])

    def workers(self, of: Workplaces, at: Integers, rng: np.random.Generator) -> dict[str, Integers]:
        """The traits of a worker for each entry of `at`, with the shares of the block that the workplace is on."""
        block = of.block[at]
        found = {name: pick(self._shares[name], block, rng) for name in TRAITS if name != "education"}
        first, last = np.array(YEARS).T
        found["age"] = first[found["age"]] + (rng.random(at.size) * (last - first)[found["age"]]).astype(np.int64)
        taught = pick(self._shares["education"], block, rng)
        found["education"] = np.where(found["age"] < YOUNG, len(TRAITS["education"]["codes"]), taught)
        return found

    @cached_property
    def _shares(self) -> dict[str, Floats]:
        """A little is added to every class, so that a block without any may be drawn from all the same."""
        return {name: counts(self.table, name)[self._order].astype(np.float64) + 1e-9 for name in TRAITS}


def _shared(held: Integers, number: Integers, cell: Integers, rng: np.random.Generator) -> Integers:
    """Sizes of 1 and more, as many as each cell has workplaces, that sum to its jobs."""
    weight = np.exp(rng.normal(0, 1.5, cell.size))
    spare = (held - number)[cell] * weight / np.bincount(cell, weight)[cell]
    size = 1 + np.floor(spare).astype(np.int64)
    first = np.cumsum(number) - number
    size[first] += held - np.bincount(cell, size, held.size).astype(np.int64)
    return size

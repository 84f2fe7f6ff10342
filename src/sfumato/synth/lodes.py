"""Synthetic linked employer-employee data: workplaces, workers, and the jobs that link them, as in LODES.

A worker holds one job, or two or three; a workplace lies on a block, which is in a place, a county and a state. All
workplaces are held, some 50 bytes each, and jobs and workers are made and written in pieces, so that 11 million jobs
need hardly more memory than half a million.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.plan.toml import SHIPPED
from sfumato.synth.columns import Integers, levels
from sfumato.synth.lodes_country import FIGURES, OWNERSHIP, SECTORS, Country, Workplaces
from sfumato.synth.lodes_shapes import write_shapes
from sfumato.synth.lodes_traits import TRAITS, earnings, workers
from sfumato.synth.qcew_codes import write_levels

PIECE = 500_000
"""How many jobs are made at once, and those of one workplace more."""
NOT_TOLD = "E5"
CODES = {name: tuple(trait["codes"]) for name, trait in TRAITS.items()} | {
    "education": (*TRAITS["education"]["codes"], NOT_TOLD)
}


def write_lodes(folder: Path, rows: int = 50_000, seed: int = 1) -> Path:
    """The path of the plan; beside it stand the three tables, places and blocks as a code list, and outlines."""
    country = Country(rows, seed)
    folder.mkdir(parents=True, exist_ok=True)
    write_levels(folder / "codes" / "lodes_locations.csv", country.geography.levels)
    write_shapes(folder / "shapes" / "lodes_counties.geojson", country.geography.levels)
    pq.write_table(workplace_table(country), folder / "workplaces.parquet")
    _written(folder, country)
    text = (SHIPPED / "lodes.toml").read_text(encoding="utf-8")
    (folder / "lodes.toml").write_text(text, encoding="utf-8")
    return folder / "lodes.toml"


def workplace_table(country: Country) -> pa.Table:
    """What is public: which workplaces there are, whose, where, and in which sector."""
    of = country.workplaces
    return pa.table(
        {
            "workplace_id": pa.array(np.arange(1, of.size.size + 1)),
            "sector": levels(tuple(SECTORS), of.sector).dictionary_encode(),
            "ownership": levels(tuple(OWNERSHIP), of.owner).dictionary_encode(),
            "location": levels(tuple(country.geography.blocks), of.block).dictionary_encode(),
        }
    )


def _written(folder: Path, country: Country) -> None:
    """Jobs and workers, piece by piece."""
    writers: dict[str, pq.ParquetWriter] = {}
    try:
        for piece in job_pieces(country):
            for name, table in piece.items():
                if name not in writers:
                    writers[name] = pq.ParquetWriter(folder / f"{name}.parquet", table.schema)
                writers[name].write_table(table)
    finally:
        for writer in writers.values():
            writer.close()


def job_pieces(country: Country) -> Iterator[dict[str, pa.Table]]:
    """The jobs of some workplaces after the other, and the workers whose first jobs are among them."""
    size, first = country.workplaces.size, 1
    ends = np.cumsum(size)
    cuts = np.unique(np.searchsorted(ends, np.arange(0, ends[-1], PIECE), side="right"))
    for number, (start, stop) in enumerate(zip(cuts, [*cuts[1:], len(size)], strict=True), start=1):
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence((country.seed, number))))
        piece = _piece(country.workplaces, int(start), int(stop), first, rng)
        first += len(piece["workers"])
        yield piece


def _piece(of: Workplaces, start: int, stop: int, first: int, rng: np.random.Generator) -> dict[str, pa.Table]:
    own = Workplaces(*(column[start:stop] for column in (of.size, of.sector, of.owner, of.block)))
    at = np.repeat(np.arange(stop - start), own.size)
    holder = _holders(at, rng)
    made, worker = np.unique(holder, return_inverse=True)  # the job at which a worker is drawn, and whose each job is
    traits = workers(own, at[made], rng)
    jobs = {
        "worker_id": pa.array(first + worker),
        "workplace_id": pa.array(start + 1 + at),
        "earnings": pa.array(earnings(own.sector[at], rng), pa.int32()),
    }
    people = {"worker_id": pa.array(np.arange(first, first + made.size)), "age": pa.array(traits["age"], pa.int16())}
    people |= {name: levels(CODES[name], traits[name]).dictionary_encode() for name in TRAITS if name != "age"}
    return {"jobs": pa.table(jobs), "workers": pa.table(people)}


def _holders(at: Integers, rng: np.random.Generator) -> Integers:
    """For each job the first job of its worker, in these workplaces: its own, but for second and third ones."""
    several, count = FIGURES["several"], at.size
    second = rng.permutation(count)[: int(several["second"] * count / (1 + several["third"]))]
    third = rng.permutation(count)[: int(several["third"] * second.size)]
    holder = np.arange(count)
    primary = np.setdiff1d(holder, np.union1d(second, third))
    third = np.setdiff1d(third, second)
    chosen = rng.permutation(primary)[: second.size]
    second, third = second[: chosen.size], third[: chosen.size]
    holder[second] = chosen
    holder[third] = chosen[: third.size]
    # Nobody holds two jobs in one workplace: such a job is a worker's only one instead.
    holder = np.where((at[holder] == at) & (holder != np.arange(count)), np.arange(count), holder)
    twice = np.zeros(count, dtype=bool)
    twice[third] = at[third] == at[second[: third.size]]
    return np.where(twice, np.arange(count), holder)

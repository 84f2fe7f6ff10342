"""Synthetic linked employer-employee data: workplaces, workers, and the jobs that link them, as in LODES.

A worker holds one job, or two or three; a workplace lies on a block, which is in a place, a county and a state. All
workplaces are held, some 50 bytes each, and jobs and workers are made and written in pieces, so that 11 million jobs
need hardly more memory than half a million.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.plan.toml import SHIPPED
from sfumato.synth.columns import Integers, levels
from sfumato.synth.lodes_country import FIGURES, OWNERSHIP, SECTORS, Country, Workplaces
from sfumato.synth.lodes_shapes import write_shapes
from sfumato.synth.lodes_traits import TRAITS, earnings, workers
from sfumato.synth.lodes_wac import WacCountry, read_wac
from sfumato.synth.qcew_codes import write_levels

Hired = Callable[[Workplaces, Integers, np.random.Generator], dict[str, Integers]]
"""How workers are drawn for jobs in some workplaces."""
PIECE = 500_000
"""How many jobs are made at once, and those of one workplace more."""
NOT_TOLD = "E5"
DRAWN = """\
# The data are drawn to match a WAC file: `sfumato synth lodes --wac FILE --out DIR` writes the three tables, the list
# of tracts and blocks, and a copy of this plan beside them. The plan is what an agency would write for the real ones.
"""
"""What the plan says of data that are drawn from a WAC file."""
CODES = {name: tuple(trait["codes"]) for name, trait in TRAITS.items()} | {
    "education": (*TRAITS["education"]["codes"], NOT_TOLD)
}


def write_lodes(folder: Path, rows: int = 50_000, seed: int = 1, wac: Path | None = None) -> Path:
    """The path of the plan; beside it stand the three tables, places and blocks as a code list, and outlines.

    With a WAC file jobs have its counts by block and sector, places are tracts, and outlines are left to its user, as
    made-up ones would stand for real counties.
    """
    country, hired = _country(rows, seed, wac)
    folder.mkdir(parents=True, exist_ok=True)
    write_levels(folder / "codes" / "lodes_locations.csv", country.geography.levels)
    pq.write_table(workplace_table(country), folder / "workplaces.parquet")
    _written(folder, job_pieces(country, hired))
    text = (SHIPPED / "lodes.toml").read_text(encoding="utf-8")
    if wac is None:
        write_shapes(folder / "shapes" / "lodes_counties.geojson", country.geography.levels)
    else:
        text = wac_plan(text, wac.name)
    (folder / "lodes.toml").write_text(text, encoding="utf-8")
    return folder / "lodes.toml"


def wac_plan(text: str, file: str) -> str:
    """The shipped plan for jobs drawn from a WAC file: without outlines, and of the year that its name ends in.

    >>> wac_plan('period = "2026"', "ut_wac_S000_JT00_2019.csv.gz")
    'period = "2019"'
    """
    text = re.sub(r"\[geography\.location\]\n(.+\n)+\n", "", text)
    text = re.sub(r'"made-up outlines" = .+\n', "", text)
    text = re.sub(r"# The data are synthetic: .+\n# of the counties .+\n", DRAWN, text)
    year = re.search(r"_(\d{4})\.csv(\.gz)?$", file)
    return re.sub(r'(?m)^period = ".+"$', f'period = "{year[1]}"', text) if year else text


def _country(rows: int, seed: int, wac: Path | None) -> tuple[Country | WacCountry, Hired]:
    """So many jobs, or those of a WAC file, and how their workers are drawn."""
    if wac is None:
        return Country(rows, seed), workers
    real = WacCountry(read_wac(wac), seed)
    return real, real.workers


def workplace_table(country: Country | WacCountry) -> pa.Table:
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


def _written(folder: Path, pieces: Iterator[dict[str, pa.Table]]) -> None:
    """Jobs and workers, piece by piece."""
    writers: dict[str, pq.ParquetWriter] = {}
    try:
        for piece in pieces:
            for name, table in piece.items():
                if name not in writers:
                    writers[name] = pq.ParquetWriter(folder / f"{name}.parquet", table.schema)
                writers[name].write_table(table)
    finally:
        for writer in writers.values():
            writer.close()


def job_pieces(country: Country | WacCountry, hired: Hired = workers) -> Iterator[dict[str, pa.Table]]:
    """The jobs of some workplaces after the other, and the workers whose first jobs are among them."""
    of, first = country.workplaces, 1
    ends = np.cumsum(of.size)
    cuts = np.unique(np.searchsorted(ends, np.arange(0, ends[-1], PIECE), side="right"))
    for number, (start, stop) in enumerate(zip(cuts, [*cuts[1:], len(of.size)], strict=True), start=1):
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence((country.seed, number))))
        here = slice(int(start), int(stop))
        own = Workplaces(*(column[here] for column in (of.size, of.sector, of.owner, of.block)))
        piece = _piece(own, (int(start) + 1, first), hired, rng)
        first += len(piece["workers"])
        yield piece


def _piece(own: Workplaces, first: tuple[int, int], hired: Hired, rng: np.random.Generator) -> dict[str, pa.Table]:
    """The jobs and workers of some workplaces, numbered from the first workplace and the first worker on."""
    workplace, person = first
    at = np.repeat(np.arange(own.size.size), own.size)
    holder = _holders(at, rng)
    made, worker = np.unique(holder, return_inverse=True)  # the job at which a worker is drawn, and whose each job is
    traits = hired(own, at[made], rng)
    jobs = {
        "worker_id": pa.array(person + worker),
        "workplace_id": pa.array(workplace + at),
        "earnings": pa.array(earnings(own.sector[at], rng), pa.int32()),
    }
    people = {"worker_id": pa.array(np.arange(person, person + made.size)), "age": pa.array(traits["age"], pa.int16())}
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

"""Synthetic employment biographies with the place where each person lives, as the German employment agency has them.

Two files: what is known of people, and where they live, which the guarantee takes as known. Cities are made and written
one group after the other, so that 40 million people need hardly more memory than one million.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.geography.locations import Located, read_locations
from sfumato.geography.made import FROM_LOCATIONS
from sfumato.geography.partition import microaggregated
from sfumato.geography.partition_files import write_partition
from sfumato.plan.toml import SHIPPED
from sfumato.synth.columns import levels
from sfumato.synth.iab_people import CODES, FIGURES, homes, work
from sfumato.synth.iab_places import City, aims, cities

PIECE = 500_000
"""About how many people are made at once."""
ORIGIN = (52.0, 10.0)
"""Where metres east and north are counted from."""
CLUSTER = 50
"""The fewest people of an area."""
PLANS = ("iab.toml", "iab-levels.toml")
OF_EMPLOYED = ("skill", "wage", "distance")


def write_people(folder: Path, places: tuple[City, ...], seed: int) -> None:
    """`people.parquet` and `locations.parquet`, in the same order, piece by piece."""
    folder.mkdir(parents=True, exist_ok=True)
    writers: dict[str, pq.ParquetWriter] = {}
    try:
        for piece in pieces(places, seed):
            for name, table in piece.items():
                if name not in writers:
                    writers[name] = pq.ParquetWriter(folder / f"{name}.parquet", table.schema)
                writers[name].write_table(table)
    finally:
        for writer in writers.values():
            writer.close()


def pieces(places: tuple[City, ...], seed: int) -> Iterator[dict[str, pa.Table]]:
    """People and their locations, some cities after the other."""
    before, group = 0, list[City]()
    for number, city in enumerate(places, start=1):
        group.append(city)
        after = before + sum(one.people for one in group)
        if after - before >= PIECE or number == len(places):
            rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, number))))
            yield _piece(group, before, after, rng)
            before, group = after, []


def _piece(group: list[City], before: int, after: int, rng: np.random.Generator) -> dict[str, pa.Table]:
    ids = pa.array(np.arange(before + 1, after + 1))
    lived = [homes(city.postal_codes, rng) for city in group]
    known = work(np.concatenate([one.wealth for one in lived]), aims(before, after), rng)
    idle = known["employed"] == 0
    people = {"person_id": ids} | {
        name: levels(CODES[name], index, idle if name in OF_EMPLOYED else None).dictionary_encode()
        for name, index in known.items()
    }
    codes = [tuple(code.code for code in city.postal_codes) for city in group]
    repeated = np.repeat(np.arange(len(group)), [city.people for city in group])
    located = {
        "person_id": ids,
        "east": pa.array(np.concatenate([one.east for one in lived]), pa.int32()),
        "north": pa.array(np.concatenate([one.north for one in lived]), pa.int32()),
        "postal_code": pa.concat_arrays(
            [levels(own, one.postal_code) for own, one in zip(codes, lived, strict=True)]
        ).dictionary_encode(),
        "city": levels(tuple(city.name for city in group), repeated).dictionary_encode(),
        "region": levels(tuple(city.region for city in group), repeated).dictionary_encode(),
    }
    return {"people": pa.table(people), "locations": pa.table(located)}


def write_iab(folder: Path, rows: int = FIGURES["people"], seed: int = 1) -> Path:
    """The path of the plan; beside it stand people, where they live, and the areas that are made of that."""
    write_people(folder, cities(rows), seed)
    located = Located("person_id", ("east", "north"), ("postal_code", "city", "region"))
    areas = microaggregated(read_locations(folder / "locations.parquet", located), CLUSTER)
    shutil.rmtree(folder / "areas", ignore_errors=True)
    write_partition(areas, folder / "areas", {"method": FROM_LOCATIONS, "k": CLUSTER}, ORIGIN)
    for name in PLANS:
        shutil.copyfile(SHIPPED / name, folder / name)
    return folder / PLANS[0]

"""Synthetic careers after university research: one row a person and year since leaving, with sector and earnings.

A person keeps the title and the university, mostly the sector, and drops out of the records after some years.
"""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.errors import PlanError
from sfumato.plan.toml import SHIPPED
from sfumato.synth.columns import FIGURES, Integers, levels, names, pick

UNIVERSITIES, SECTORS = ("U1", "U2", "U3"), ("academia", "government", "industry")
TITLES = ("faculty", "postdoc", "graduate student", "undergraduate", "staff")
LONGEST, STAYS, SPREAD = 10, 0.92, 0.35
"""The years that are followed, the chance that a person stays in a sector, and the spread of earnings in logarithms."""


def umetrics(rows: int = 20_000, seed: int = 1) -> pa.Table:
    """The careers of so many persons; the same seed gives the same table."""
    if rows < 1:
        raise PlanError(f"umetrics was asked for {rows} persons; there is at least 1.")
    rng, figures = np.random.Generator(np.random.PCG64(seed)), FIGURES["umetrics"]
    titles, sectors = (np.array(figures[name], dtype=np.float64) for name in ("titles", "sectors"))
    first = np.zeros(rows, dtype=np.int64)
    university = pick(np.array([figures["universities"]], dtype=np.float64), first, rng)
    title = pick(titles[None, :, 0], first, rng)
    lasts = np.minimum(rng.geometric(0.12, rows), LONGEST)
    person = np.repeat(np.arange(rows), lasts)
    year = np.arange(len(person)) - np.repeat(np.cumsum(lasts) - lasts, lasts) + 1
    sector = _sectors(rng, sectors[:, 0], lasts)
    logs = np.log(1000 * titles[title, 1])[person] + np.log(sectors[sector, 1])
    logs += np.log1p(titles[title, 2] / 100)[person] * (year - 1) + rng.normal(0, SPREAD, rows)[person]
    return pa.table({
        "person_id": names("P", person + 1),
        "university": levels(UNIVERSITIES, university[person]),
        "title": levels(TITLES, title[person]),
        "sector": levels(SECTORS, sector),
        "years": pc.cast(pa.array(year), pa.string()),
        "earnings": pa.array(np.rint(np.exp(logs + rng.normal(0, 0.1, len(person)))).astype(np.int64)),
    })  # fmt: skip


def _sectors(rng: np.random.Generator, weights: np.ndarray, lasts: Integers) -> Integers:
    """The sector of every year: that of the year before, unless the person moves."""
    total = int(lasts.sum())
    drawn = pick(weights[None, :], np.zeros(total, dtype=np.int64), rng)
    begins = np.concatenate([[0], np.cumsum(lasts)[:-1]])
    moves = rng.random(total) >= STAYS
    moves[begins] = True
    return drawn[np.maximum.accumulate(np.where(moves, np.arange(total), 0))]


def write_umetrics(folder: Path, rows: int = 20_000, seed: int = 1) -> Path:
    """The path of the plan, in a folder with the careers."""
    table = umetrics(rows, seed)
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / "umetrics.parquet")
    for name in ("umetrics.toml", "umetrics-mose.toml"):
        shutil.copyfile(SHIPPED / name, folder / name)
    return folder / "umetrics.toml"

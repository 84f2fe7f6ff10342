"""Synthetic earnings of graduates by college and of veterans by occupation: lognormal, as such earnings nearly are.

The cells are small and skewed: a few hold thousands of people, most a few dozens, and many nobody. Earnings of a person
are the median of the cell times a lognormal factor; medians follow the field or occupation, the degree or pay grade,
and the college or service, each with an effect of its own.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import PlanError
from sfumato.plan.toml import SHIPPED
from sfumato.schema import Levels
from sfumato.synth.columns import FIGURES, Floats, levels, names, pick

SPREAD = 0.6
"""The standard deviation of the logarithm of earnings within a cell."""


@dataclass(frozen=True)
class Trait:
    """One thing that cells are told apart by: its codes, how many have each, and what each earns next to others."""

    name: str
    codes: tuple[str, ...]
    weights: Floats
    pay: Floats

    @classmethod
    def of(cls, name: str, figures: dict[str, list[float]]) -> "Trait":
        listed = np.array(list(figures.values()), dtype=np.float64)
        return cls(name, tuple(figures), listed[:, 0], np.log(listed[:, 1]))


def pseo(rows: int = 60_000, seed: int = 1) -> pa.Table:
    """One row a graduate, with earnings one year after the degree; the same seed gives the same table."""
    figures = FIGURES["pseo"]
    codes = Levels.read(SHIPPED / "codes" / "colleges.csv").leaves
    lasting = np.random.Generator(np.random.PCG64(7))  # colleges are the same whatever the seed
    sizes, pay = lasting.pareto(1.2, len(codes)) + 0.15, lasting.normal(0.0, 0.12, len(codes))
    college = Trait("college", codes, sizes, pay)
    return _people("G", "graduate_id", (college, *_traits(figures)), figures["median"], rows, seed)


def veo(rows: int = 60_000, seed: int = 1) -> pa.Table:
    """One row a veteran, with earnings one year after discharge; the same seed gives the same table."""
    return _people("V", "veteran_id", _traits(FIGURES["veo"]), FIGURES["veo"]["median"], rows, seed)


def _traits(figures: dict[str, dict[str, list[float]]]) -> tuple[Trait, ...]:
    return tuple(Trait.of(name, one) for name, one in figures.items() if name != "median")


def _people(letter: str, key: str, traits: tuple[Trait, ...], median: float, rows: int, seed: int) -> pa.Table:
    if rows < 1:
        raise PlanError(f"Earnings were asked of {rows} people; there is at least 1.")
    rng = np.random.Generator(np.random.PCG64(seed))
    first = np.zeros(rows, dtype=np.int64)
    drawn = {one.name: pick(one.weights[None, :], first, rng) for one in traits}
    logs = np.log(median) + sum(one.pay[drawn[one.name]] for one in traits)
    earned = np.rint(np.exp(logs + rng.normal(0.0, SPREAD, rows)))
    columns = {key: names(letter, np.arange(1, rows + 1))}
    columns |= {one.name: levels(one.codes, drawn[one.name]) for one in traits}
    return pa.table(columns | {"earnings": pa.array(earned.astype(np.int64))})


def write_pseo(folder: Path, rows: int = 60_000, seed: int = 1) -> Path:
    """The path of the plan of graduates, in a folder with their file and the list of colleges."""
    (folder / "codes").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(SHIPPED / "codes" / "colleges.csv", folder / "codes" / "colleges.csv")
    return _written(folder, "pseo", pseo, rows, seed)


def write_veo(folder: Path, rows: int = 60_000, seed: int = 1) -> Path:
    """The path of the plan of veterans, in a folder with their file."""
    return _written(folder, "veo", veo, rows, seed)


def _written(folder: Path, name: str, made: Callable[[int, int], pa.Table], rows: int, seed: int) -> Path:
    table = made(rows, seed)
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / f"{name}.parquet")
    shutil.copyfile(SHIPPED / f"{name}.toml", folder / f"{name}.toml")
    return folder / f"{name}.toml"

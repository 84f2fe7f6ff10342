"""A synthetic opportunity atlas: the income ranks of children and of their parents, by tract, race and gender.

Tracts have parents of their own, rich or poor, alike or mixed, and a level and a slope of their own, races a level; all
ranks are held within 0 and 1. Most cells of tract, race and gender are small, as races live apart.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import PlanError
from sfumato.plan.toml import SHIPPED
from sfumato.synth.columns import FIGURES, levels, pick
from sfumato.synth.lodes_shapes import write_shapes
from sfumato.synth.qcew_codes import Level, write_levels

A_TRACT, TRACTS_A_STATE, MOST_DRAWN = 400, 60, 1_500
"""Children of a tract, tracts of a state, and the most tracts that outlines are made for."""
RACES, SHARES, LIFTS = (tuple(FIGURES["atlas"][name]) for name in ("races", "shares", "lifts"))
GENDERS = ("female", "male")
APART = 1.5
"""How far races live apart: the sum of the parameters of the Dirichlet law of the shares of a tract."""


@dataclass(frozen=True)
class Tracts:
    """How many children there are, and so how many tracts."""

    rows: int
    seed: int = 1
    tracts: int | None = None

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise PlanError(f"atlas was asked for {self.rows} children; there is at least 1.")

    @cached_property
    def count(self) -> int:
        return self.tracts or max(4, round(self.rows / A_TRACT))

    @cached_property
    def levels(self) -> list[Level]:
        """States and their tracts; a tract's code is its state's two digits and five of its own."""
        states = max(2, round(self.count / TRACTS_A_STATE)) if self.count < 99 * TRACTS_A_STATE else 51
        found: list[Level] = []
        for state in range(states):
            code, name = f"{state + 1:02d}", f"State {state + 1:02d}"
            found.append({"code": code, "label": name, "parent": ""})
            for tract in range(self.count * state // states, self.count * (state + 1) // states):
                own = tract - self.count * state // states + 1
                found.append({"code": f"{code}{own:05d}", "label": f"{name}, tract {own}", "parent": code})
        return found

    def children(self) -> pa.Table:
        """One row a child."""
        rng = np.random.Generator(np.random.PCG64(self.seed))
        codes = tuple(level["code"] for level in self.levels if level["parent"])
        sizes = rng.lognormal(0.0, 0.5, self.count)
        tract = pick(sizes[None, :], np.zeros(self.rows, dtype=np.int64), rng)
        shares = rng.dirichlet(APART * np.array(SHARES) / sum(SHARES), self.count) + 1e-4
        race, gender = pick(shares, tract, rng), rng.integers(0, 2, self.rows)
        level, slope = rng.normal(0.45, 0.05, self.count), rng.normal(0.35, 0.08, self.count)
        rich, mixed = rng.normal(0.5, 0.15, self.count), rng.uniform(0.12, 0.28, self.count)
        parents = np.clip(rich[tract] + mixed[tract] * rng.standard_normal(self.rows), 0.0, 1.0)
        lift = np.array(LIFTS)[race] + np.where(gender == 0, 0.01, -0.01)
        kids = level[tract] + lift + slope[tract] * (parents - 0.5) + rng.normal(0.0, 0.22, self.rows)
        return pa.table({
            "tract": levels(codes, tract),
            "race": levels(RACES, race),
            "gender": levels(GENDERS, gender),
            "parent_rank": pa.array(np.round(parents, 6)),
            "kid_rank": pa.array(np.round(np.clip(kids, 0.0, 1.0), 6)),
        })  # fmt: skip


def write_atlas(folder: Path, rows: int = 60_000, seed: int = 1, tracts: int | None = None) -> Path:
    """The path of the plan; beside it stand its private sibling, the children, their tracts and, of few, outlines."""
    place = Tracts(rows, seed, tracts)
    folder.mkdir(parents=True, exist_ok=True)
    write_levels(folder / "codes" / "tracts.csv", place.levels)
    pq.write_table(place.children(), folder / "atlas.parquet")
    few = place.count <= MOST_DRAWN
    if few:
        write_shapes(folder / "shapes" / "tracts.geojson", place.levels)
    for name in ("atlas.toml", "atlas-private.toml"):
        text = (SHIPPED / name).read_text(encoding="utf-8")
        drawn = text if few else re.sub(r"\[geography\.tract\]\n(.+\n)+\n", "", text)
        (folder / name).write_text(drawn, encoding="utf-8")
    return folder / "atlas.toml"

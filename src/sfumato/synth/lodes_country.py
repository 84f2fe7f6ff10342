"""The country of the synthetic linked data: blocks in places in counties in states, and establishments on them."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from pathlib import Path
from statistics import NormalDist

import numpy as np

from sfumato.errors import PlanError
from sfumato.synth.columns import Floats, Integers, pick
from sfumato.synth.qcew_codes import Level, places

FIGURES = tomllib.loads(Path(__file__).with_name("lodes.toml").read_text(encoding="utf-8"))
OWNERSHIP = {"1": "Federal government", "2": "State government", "3": "Local government", "5": "Private"}
SIZES = FIGURES["sizes"]
FEWEST_COUNTIES = 6
BLOCKS_A_TRACT = 8_999


@dataclass(frozen=True)
class LodesSector:
    """A sector: its share of jobs, what its establishments are like, and who works there."""

    label: str
    share: float
    size: float
    weekly: int
    public: Sequence[int]
    women: float
    young: float
    graduates: float


SECTORS = {code: LodesSector(*figures) for code, figures in FIGURES["sectors"].items()}


@dataclass(frozen=True, eq=False)
class Blocks:
    """Counties, places and blocks in the order of their codes, each with its weight and the number of its parent."""

    levels: list[Level]
    county_of_place: Integers
    place_of_block: Integers
    blocks: list[str]
    block_weights: Floats
    residents: Integers
    """How many people live in each place, which is public."""


@dataclass(frozen=True, eq=False)
class Workplaces:
    """One entry an establishment, in the order of their blocks."""

    size: Integers
    sector: Integers
    owner: Integers
    block: Integers


@dataclass(frozen=True)
class Country:
    """So many jobs, and all that follows from how many they are and from a seed."""

    jobs: int
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1_000 <= self.jobs <= 200_000_000:
            raise PlanError(f"lodes was asked for {self.jobs:,} jobs; it makes 1,000 to 200,000,000.")

    @cached_property
    def geography(self) -> Blocks:
        """The same whatever the seed, as code lists are."""
        rng = np.random.Generator(np.random.PCG64(self.jobs))
        ratio = self.jobs / FIGURES["jobs"]
        counties = max(FEWEST_COUNTIES, round(FIGURES["counties"] * ratio))
        levels = places(counties, max(1, round(ratio)))
        county_weights = np.exp(rng.normal(0, 1.3, counties))
        of_place = _parents(county_weights**0.5, max(3 * counties, round(FIGURES["places"] * ratio)))
        share = np.exp(rng.normal(0, 1.4, len(of_place)))
        weights = county_weights[of_place] * share / np.bincount(of_place, share)[of_place]
        of_block = _parents(weights**0.85, max(2 * len(of_place), round(FIGURES["blocks"] * ratio)))
        within = np.exp(rng.normal(0, 1.2, len(of_block)))
        block_weights = weights[of_block] * within / np.bincount(of_block, within)[of_block]
        lived = FIGURES["residents_a_job"] * self.jobs * weights / weights.sum() * rng.lognormal(0, 0.4, len(weights))
        listed, blocks = _listed(levels, of_place, of_block)
        return Blocks(listed, of_place, of_block, blocks, block_weights, np.maximum(np.rint(lived), 1).astype(np.int64))

    @cached_property
    def workplaces(self) -> Workplaces:
        """The establishments, whose sizes sum to the jobs."""
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence((self.seed, 0))))
        count = max(1, round(FIGURES["establishments_a_job"] * self.jobs))
        owners, medians = owners_by_sector(), _medians()
        mean_size = np.array([[_mean_size(median) for median in row] for row in medians])
        jobs = np.array([one.share for one in SECTORS.values()])
        sector = pick((jobs / (owners * mean_size).sum(axis=1))[None, :], np.zeros(count, dtype=np.int64), rng)
        owner = pick(owners, sector, rng)
        block = np.sort(pick(self.geography.block_weights[None, :], np.zeros(count, dtype=np.int64), rng))
        size = _whole_sizes(_drawn_sizes(medians[sector, owner], self.jobs, rng), self.jobs, rng)
        return Workplaces(size, sector, owner, block)


def _parents(weights: Floats, count: int) -> Integers:
    """A parent for each of so many children, one at least for each, the rest in proportion to their weights."""
    extra = np.floor(weights / weights.sum() * (count - len(weights))).astype(np.int64)
    return np.repeat(np.arange(len(weights)), 1 + extra)


def _listed(levels: list[Level], of_place: Integers, of_block: Integers) -> tuple[list[Level], list[str]]:
    """States and counties with the places and blocks of each, as code lists have them, and the codes of the blocks."""
    counties = [level for level in levels if level["parent"]]
    listed, blocks = list(levels), list[str]()
    firsts = np.searchsorted(of_place, np.arange(len(counties)))
    spans = np.searchsorted(of_block, np.arange(len(of_place) + 1))
    for place, county in enumerate(of_place):
        parent, number = counties[county], place - firsts[county] + 1
        code = f"{parent['code']}-{number:03d}"
        listed.append({"code": code, "label": f"Place {number}, {parent['label']}", "parent": parent["code"]})
        for turn in range(spans[place + 1] - spans[place]):
            tract, block = divmod(turn, BLOCKS_A_TRACT)
            named = f"{parent['code']}{number:04d}{tract:02d}{1001 + block:04d}"
            listed.append({"code": named, "label": f"Block {named}", "parent": code})
            blocks.append(named)
    return listed, blocks


def owners_by_sector() -> Floats:
    """The chances of federal, state, local and private ownership, a row a sector."""
    return np.array([[*one.public, 100 - sum(one.public)] for one in SECTORS.values()], dtype=float)


def _medians() -> Floats:
    """The median of the body of sizes, by sector and owner: large where establishments are large on average."""
    means = np.array([[*SIZES["public"], one.size] for one in SECTORS.values()], dtype=float)
    return np.asarray(SIZES["median"] * (means / 13.8) ** 0.7)


def _mean_size(median: float) -> float:
    """The mean of a lognormal body below the tail's start and of a cut Pareto tail above it."""
    spread, start, index, largest = (SIZES[name] for name in ("spread", "tail_from", "tail_index", "largest"))
    ahead = (log(start) - log(median)) / spread
    body = median * exp(spread**2 / 2) * NormalDist().cdf(ahead - spread)
    cut = (start / largest) ** index
    tail = start * index / (index - 1) * (1 - (start / largest) ** (index - 1)) / (1 - cut)
    return float(body + (1 - NormalDist().cdf(ahead)) * tail)


def _drawn_sizes(medians: Floats, jobs: int, rng: np.random.Generator) -> Floats:
    start, index = SIZES["tail_from"], SIZES["tail_index"]
    largest = min(SIZES["largest"], max(jobs / 50, 2 * start))
    body = medians * np.exp(rng.normal(0, SIZES["spread"], medians.size))
    tail = start * rng.uniform((start / largest) ** index, 1, medians.size) ** (-1 / index)
    return np.where(body < start, body, tail)


def _whole_sizes(drawn: Floats, jobs: int, rng: np.random.Generator) -> Integers:
    """Sizes of 1 and more that sum to the jobs: the drawn ones times one number, the rest on the largest."""
    chance, low, high = rng.random(drawn.size), 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        total = int(np.maximum(np.floor(middle * drawn + chance), 1).sum())
        low, high = (middle, high) if total <= jobs else (low, middle)
    size = np.maximum(np.floor(low * drawn + chance), 1).astype(np.int64)
    size[np.argmax(size)] += jobs - size.sum()
    return size

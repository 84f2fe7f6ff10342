"""A synthetic quarterly census of employment and wages: a public frame, and what its establishments report.

The frame lists every establishment that ever exists in the quarters asked for; one that is not born yet, or dead
already, does not report. Sizes are lognormal with a Pareto tail, months follow the season of the sector, wages are
dollars a quarter. Everything is made and written in pieces, so that ten million establishments need no more memory than
half a million.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import PlanError
from sfumato.plan.toml import SHIPPED
from sfumato.synth.columns import Floats, Integers, levels, names, pick
from sfumato.synth.qcew_codes import OWNERSHIP, SECTORS, Level, industries, leaves, places, write_levels

PIECE = 500_000
"""How many establishments are made at once."""
LARGEST_FIRM = 40
OWNERS = np.array([[0.0045, 0.0035, 0.015, 0.977]])  # federal, state, local, private
PUBLIC = {"92": 60, "61": 25, "62": 8, "48-49": 4, "22": 3}  # the sectors of government establishments, in percent
PUBLIC_SIZES = (45.0, 130.0, 117.0)
SPREAD, TAIL_FROM, TAIL_INDEX = 1.3, 100, 1.1  # of the lognormal body, and of the Pareto tail above it
BODY = 0.8  # what the body keeps of a sector's mean size; the tail brings the rest
BORN, DIED = 0.03, 0.025  # a quarter
YEAR = 2026


@dataclass(frozen=True)
class Economy:
    """How many establishments in how many quarters, and the code lists that go with so many."""

    rows: int
    quarters: int = 1
    seed: int = 1
    named: tuple[Level, ...] = ()
    """States and counties that are there already; else they are made up."""

    def __post_init__(self) -> None:
        if not 1 <= self.rows < 100_000_000:
            raise PlanError(f"qcew was asked for {self.rows} establishments; it makes 1 to 99,999,999.")
        if not 1 <= self.quarters <= 40:
            raise PlanError(f"qcew was asked for {self.quarters} quarters; it makes 1 to 40.")

    @cached_property
    def places(self) -> list[Level]:
        counties = min(max(5, round(self.rows / 5_000)), 3_142)
        if self.named:
            return [*self.named]
        return places(counties, max(1, round(counties / 63)))

    @cached_property
    def counties(self) -> list[str]:
        return leaves(self.places)

    @cached_property
    def industries(self) -> list[str]:
        return leaves(industries())

    @cached_property
    def sector(self) -> Integers:
        """The sector of each industry."""
        of = {prefix: number for number, sector in enumerate(SECTORS.values()) for prefix in sector.prefixes}
        return np.array([of[code[:2]] for code in self.industries])

    @cached_property
    def popularity(self) -> Floats:
        """The share of each industry within its sector, by row; a few hold most. The same whatever the seed."""
        rng = np.random.Generator(np.random.PCG64(2026))
        weights = rng.permutation(len(self.industries)) + 1.0
        return np.where(np.arange(len(SECTORS))[:, None] == self.sector, weights**-0.6, 0.0)

    @cached_property
    def county_weights(self) -> Floats:
        """A few counties are large; the same whatever the seed."""
        rng = np.random.Generator(np.random.PCG64(len(self.counties)))
        return np.exp(rng.normal(0, 1.1, (1, len(self.counties))))

    @property
    def largest(self) -> float:
        """The size at which the tail is cut: that of a small state's largest employer, more in a larger economy."""
        return float(min(4_050 * max(self.rows / 25_000, 0.1) ** 0.5, 60_000))

    @property
    def periods(self) -> list[str]:
        return [f"{YEAR + number // 4}-Q{number % 4 + 1}" for number in range(self.quarters)]

    def pieces(self) -> Iterator["Piece"]:
        for number, start in enumerate(range(0, self.rows, PIECE)):
            rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence((self.seed, number))))
            yield Piece(self, start, min(PIECE, self.rows - start), rng)


class Piece:
    """Some establishments that follow each other in the frame; a firm's stand together."""

    def __init__(self, economy: Economy, start: int, size: int, rng: np.random.Generator) -> None:
        self.economy, self.start, self.size, self._rng = economy, start, size, rng
        self.firm = self._firms()
        of_firm = pick(OWNERS, np.zeros(self.firm[-1] + 1, dtype=np.int64), rng)
        self.owner = of_firm[self.firm]
        self.sector = pick(_sector_weights(), (of_firm != 3).astype(np.int64), rng)[self.firm]
        self.industry = pick(economy.popularity, self.sector, rng)
        self.county = pick(economy.county_weights, np.zeros(size, dtype=np.int64), rng)
        self._level = self._sizes()
        weekly = np.array([sector.weekly for sector in SECTORS.values()])[self.sector]
        self._pay = weekly * np.exp(rng.normal(-0.06, 0.35, size))
        self._born = np.floor(rng.random(size) / BORN)  # the quarter after which it reports, if there is one so late
        self._died = np.floor(rng.random(size) / DIED)  # the quarter from which on it no longer reports

    def _firms(self) -> Integers:
        """The number of each establishment's firm: nine in ten have one establishment, a few have many."""
        draws = 1 - self._rng.random(self.size)
        lengths = np.where(draws > 0.1, 1, np.minimum(1 + 0.1 / draws, LARGEST_FIRM)).astype(np.int64)
        return np.repeat(np.arange(self.size), lengths)[: self.size]

    def _sizes(self) -> Floats:
        private = np.array([sector.size for sector in SECTORS.values()])[self.sector]
        mean = np.where(self.owner == 3, private, np.array([*PUBLIC_SIZES, 0.0])[self.owner])
        body = np.exp(np.log(BODY * mean) - SPREAD**2 / 2 + self._rng.normal(0, SPREAD, self.size))
        low = (TAIL_FROM / self.economy.largest) ** TAIL_INDEX
        tail = TAIL_FROM * self._rng.uniform(min(low, 1.0), 1, self.size) ** (-1 / TAIL_INDEX)
        return np.where(body < TAIL_FROM, body, np.minimum(tail, self.economy.largest))

    def frame(self) -> pa.Table:
        """What is public: which establishments there are, whose, where, and in which industry."""
        number = np.arange(self.start + 1, self.start + self.size + 1)
        counties = levels(tuple(self.economy.counties), self.county).dictionary_encode()
        return pa.table(
            {
                "establishment_id": names("E", number),
                "firm_id": names("F", self.start + self.firm + 1),
                "naics": levels(tuple(self.economy.industries), self.industry).dictionary_encode(),
                "county": counties,
                "state": levels(tuple(county[:2] for county in self.economy.counties), self.county).dictionary_encode(),
                "ownership": levels(tuple(OWNERSHIP), self.owner).dictionary_encode(),
            }
        )

    def reports(self, quarter: int) -> pa.Table:
        """What the establishments that exist in a quarter report: jobs in each month, and wages in dollars."""
        self._level = self._level * np.exp(self._rng.normal(0, 0.04, self.size))
        months = [self._jobs(3 * quarter + month) for month in (1, 2, 3)]
        paid = sum(months) / 3 * 13 * self._pay * np.exp(self._rng.normal(0, 0.05, self.size))
        columns = {"m1emp": months[0], "m2emp": months[1], "m3emp": months[2], "wages": np.rint(paid).astype(np.int64)}
        last = self.economy.quarters - 1
        there = np.flatnonzero((last - self._born < quarter) & (self._died > quarter))
        named = {"establishment_id": names("E", self.start + 1 + there)}
        return pa.table(named | {name: pa.array(column[there], pa.int64()) for name, column in columns.items()})

    def _jobs(self, month: int) -> Integers:
        listed = SECTORS.values()
        season = [1 + one.swing * np.cos((month - one.peak) * np.pi / 6) for one in listed]
        expected = self._level * np.array(season)[self.sector] * np.exp(self._rng.normal(0, 0.02, self.size))
        # A workforce is a whole number; the fraction is the chance of one job more.
        return np.asarray(np.floor(expected + self._rng.random(self.size)), dtype=np.int64)


def _sector_weights() -> Floats:
    """The chances of the sectors: of private firms, then of government."""
    private = [sector.weight for sector in SECTORS.values()]
    return np.array([private, [float(PUBLIC.get(code, 0)) for code in SECTORS]])


def write_qcew(folder: Path, rows: int = 25_000, seed: int = 1, quarters: int = 1, named: Sequence[Level] = ()) -> Path:
    """The path of the plan of the first quarter; beside it stand its code lists, the frame, and a file a quarter."""
    economy = Economy(rows, quarters, seed, tuple(named))
    folder.mkdir(parents=True, exist_ok=True)
    write_levels(folder / "codes" / "naics.csv", industries())
    write_levels(folder / "codes" / "counties.csv", economy.places)
    paths = [folder / "frame.parquet", *(folder / f"qcew-{_file(period)}.parquet" for period in economy.periods)]
    writers: list[pq.ParquetWriter] = []
    try:
        for piece in economy.pieces():
            tables = [piece.frame(), *(piece.reports(quarter) for quarter in range(quarters))]
            if not writers:
                writers = [pq.ParquetWriter(path, one.schema) for path, one in zip(paths, tables, strict=True)]
            for writer, table in zip(writers, tables, strict=True):
                writer.write_table(table)
    finally:
        for writer in writers:
            writer.close()
    return _plans(folder, economy)


def _plans(folder: Path, economy: Economy) -> Path:
    """A copy of both plans for each quarter, as the frame is named from a plan's folder."""
    first = economy.periods[0]
    for name in ("qcew", "qcew-suppressed"):
        text = (SHIPPED / f"{name}.toml").read_text(encoding="utf-8")
        for period in economy.periods:
            written = text.replace(f'period = "{first}"', f'period = "{period}"')
            (folder / f"{name}-{_file(period)}.toml").write_text(written, encoding="utf-8")
    return folder / f"qcew-{_file(first)}.toml"


def _file(period: str) -> str:
    return period.replace("-", "").lower()

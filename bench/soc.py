"""A release with a SOC-like hierarchy, made through the gate, and random questions to it."""

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from sfumato.confidential import Account, Microdata, run

LARGEST_PAGE = 10_000
PATH = "/api/v2/tables/bench~jobs/data"
ROWS = 200_000


def occupations() -> list[dict[str, str]]:
    """A tree like SOC's: 23 major groups, 98 minor, 459 broad and 840 detailed occupations."""
    rows = [{"code": f"{11 + 2 * place}-0000", "label": f"Major group {place}"} for place in range(23)]
    minors, broads = [], []
    for place in range(98):
        major = rows[place % 23]["code"]
        minors.append({"code": f"{major[:3]}{1 + place // 23}000", "label": f"Minor {place}", "parent": major})
    for place in range(459):
        minor = minors[place % 98]["code"]
        broads.append({"code": f"{minor[:4]}{10 + place // 98}0", "label": f"Broad {place}", "parent": minor})
    leaves = [
        {"code": f"{broads[place % 459]['code'][:6]}{1 + place // 459}", "label": f"Occupation {place}",
         "parent": broads[place % 459]["code"]} for place in range(840)
    ]  # fmt: skip
    return [*rows, *minors, *broads, *leaves]


def attributes(*, large: bool) -> list[sf.Attribute]:
    states = [{"code": f"r{place}", "label": f"Region {place}"} for place in range(4)]
    states += [{"code": f"s{place:02}", "label": f"State {place}", "parent": f"r{place % 4}"} for place in range(51)]
    short = {"sex": 2, "age": 6, "education": 5, "hours": 4} if large else {"sex": 2, "age": 6, "education": 2}
    more = {name: sf.Levels.of([f"{name}{place}" for place in range(size)]) for name, size in short.items()}
    levels = {"occupation": sf.Levels.of(occupations()), "state": sf.Levels.of(states)} | more
    return [sf.Attribute(name, one) for name, one in levels.items()]


def made(folder: Path, *, large: bool, name: str = "bench", period: str = "2026") -> Path:
    """A release from random records, through the gate as an agency makes it."""
    folder.mkdir(parents=True)
    known, chosen = attributes(large=large), np.random.default_rng(1)
    columns = {
        one.name: pa.array(np.array(one.levels.leaves)[chosen.integers(0, len(one.levels.leaves), ROWS)].tolist())
        for one in known
    }
    pq.write_table(pa.table(columns), folder / "jobs.parquet")
    schema = sf.Schema(tuple(known), unit="job", repeated_rows=True)
    count = sf.Measure("jobs", sf.Count(), schema.names, sf.Geometric(1))
    plan = sf.Plan(name, schema, sf.AddRemove("job"), sf.Approximate(1), (count,), title="Jobs", period=period)
    Account.create(folder / "jobs.ledger", "jobs", plan.hidden, plan.limit)
    run(plan, Microdata.open(folder / "jobs.parquet", schema), folder / "jobs.ledger", folder / "release")
    return folder / "release"


class Questions:
    """Random tables by one to four variables at random levels, within a random universe, no larger than a page."""

    def __init__(self, release: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.known = {one.name: one.levels for one in sf.open(release).release.attributes}

    def address(self) -> str:
        shown: dict[str, int] = {}
        while not shown or np.prod([self._size(*one) for one in shown.items()]) > LARGEST_PAGE:
            names = self.random.sample(list(self.known), self.random.randint(1, 4))
            shown = {name: self.random.randint(0, self.known[name].depth) for name in names}
        rest = self.random.choice([name for name in self.known if name not in shown])
        codes = self.random.sample(self.known[rest].leaves, self.random.randint(1, min(9, self._size(rest, 9))))
        laid = "&".join(f"codelist[{name}]={self._list(name, level)}" for name, level in shown.items())
        return f"{PATH}?{laid}&sum[{rest}]={','.join(codes)}"

    def _list(self, name: str, level: int) -> str:
        return "leaves" if level and level >= self.known[name].depth else f"level{level}"

    def _size(self, name: str, level: int) -> int:
        levels = self.known[name]
        return len(levels.at(min(level, levels.depth)))

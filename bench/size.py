"""Cost against size: rows and cells from 10^5 to 10^8, CPU seconds of each step, and how steeply they grow.

*Rows*: codes as texts in five attributes of 135,936 cells; the tabulation alone, and the whole run from price to a
verified release. *Cells*: 100,000 rows in a table of three attributes, of which the first grows; the stages of one run
(tabulate and perturb, write, open), then the first table by the other two, 10,000 numbers of the whole cube with their
errors. Every size is a process of its own, warmed up on the smallest, and the least of three counts: what the system
takes to find so much memory comes on top, and differs from run to run by more than all the rest.

The slope is that of a line through the logarithms of the sizes from 10^6 on: 1 is linear, less is better, and up to
1.05 is put down to memory that no longer fits a cache. The peer is that line.
"""

import json
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.line import Goal, Line, process
from bench.tabulate import chosen, reading, tabulated, write_rows

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, run

LINEAR = Goal(1.05, within=True)
SMALLEST, FEW, TIMES = 10**5, 10**6, 3
WORDS = {
    "rows": {"tabulation": "tabulation", "run": "whole run"},
    "cells": {"perturb": "tabulate and perturb", "write": "write", "open": "verify and open", "query": "2-way table"},
}
Spent = dict[str, tuple[float, float]]
"""CPU seconds of each step, and those of them that the system took, mostly to find memory."""


def lines(*, quick: bool = False) -> Iterator[Line]:
    sizes = [10**power for power in range(5, 7 if quick else 9)]
    for of, steps in WORDS.items():
        with tempfile.TemporaryDirectory() as folder:
            told = [_apart(of, size, Path(folder) / str(size)) for size in sizes]
        for step, words in steps.items():
            points = [(size, spent[step][0]) for size, (spent, _) in zip(sizes, told, strict=True)]
            last, memory = told[-1]
            more = f"; of the last {last[step][1]:.2g} s in the system, {memory / 1e9:.1f} GB of memory at most"
            yield _line(f"{words} against {of}", points, more)


def _apart(of: str, size: int, folder: Path) -> tuple[Spent, int]:
    """One size in a process of its own, so that memory is its own and nothing is left of the others."""
    folder.mkdir()
    spent, memory = json.loads(process([sys.executable, "-m", "bench.size", of, str(size), str(folder)])[1])
    shutil.rmtree(folder)
    return spent, memory


def _line(what: str, points: list[tuple[int, float]], more: str) -> Line:
    told = ", ".join(f"{cost:.2g} s at 10^{np.log10(size):.0f}" for size, cost in points)
    total = sum(cost for _, cost in points)
    return Line(
        f"cost against size: {what}", "slope", slope(points), "linear", 1.0, cpu=total, goal=LINEAR,
        points=tuple(points), note=f"CPU {told}{more}",
    )  # fmt: skip


def slope(points: list[tuple[int, float]], least: int = FEW) -> float:
    """The slope through the upper decades, on logarithms.

    >>> slope([(10**5, 9.0), (10**6, 1.0), (10**7, 10.0), (10**8, 100.0)])
    1.0
    """
    upper = [point for point in points if point[0] >= least]
    kept = np.log10(upper if len(upper) > 1 else points)
    return round(float(np.polyfit(kept[:, 0], kept[:, 1], 1)[0]), 3)


# One size, in its own process


def main() -> None:
    import numba  # noqa: F401 - the compiled loops are taken where it is loaded

    of, size, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    job = {"rows": Tabulating, "cells": Publishing}[of]
    job(SMALLEST, folder).cost(folder)
    asked = job(size, folder)
    taken = [asked.cost(folder) for _ in range(TIMES)]
    least = {name: min(each[name] for each in taken) for name in taken[0]}
    print(json.dumps([least, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))


class Clock:
    """CPU seconds since it was last asked, and those of them in the system."""

    def __init__(self) -> None:
        self.last = resource.getrusage(resource.RUSAGE_SELF)

    def spent(self) -> tuple[float, float]:
        now, before = resource.getrusage(resource.RUSAGE_SELF), self.last
        self.last, system = now, now.ru_stime - before.ru_stime
        return now.ru_utime - before.ru_utime + system, system


class Tabulating:
    """Rows in a table of 135,936 cells."""

    def __init__(self, size: int, folder: Path) -> None:
        self.size, self.path, self.asked = size, folder / f"rows{size}.parquet", reading("text")
        write_rows(self.path, size, "text")

    def cost(self, folder: Path) -> Spent:
        clock = Clock()
        cells = tabulated(chosen, self.path, self.asked)
        alone = clock.spent()
        if int(np.sum(cells)) != self.size:
            raise RuntimeError(f"{self.size:,} rows were written, and {int(np.sum(cells)):,} were tabulated")
        del cells
        stages, _ = _run(self.path, self.asked.attributes, folder)
        whole, system = (sum(part) for part in zip(*stages.values(), strict=True))
        return {"tabulation": alone, "run": (whole, system)}


class Publishing:
    """A hundred thousand rows in as many cells as asked for."""

    def __init__(self, size: int, folder: Path) -> None:
        lengths = {"grows": size // 10**4, "rows": 100, "columns": 100}
        codes = {name: [f"c{code}" for code in range(length)] for name, length in lengths.items()}
        self.attributes = [sf.Attribute(name, sf.Levels.of(some)) for name, some in codes.items()]
        self.path, rng = folder / f"cells{size}.parquet", np.random.default_rng(1)
        places = {name: pa.array(rng.integers(0, length, SMALLEST)) for name, length in lengths.items()}
        pq.write_table(pa.table({name: pa.array(some).take(places[name]) for name, some in codes.items()}), self.path)

    def cost(self, folder: Path) -> Spent:
        stages, release = _run(self.path, self.attributes, folder)
        engine, clock = sf.QueryEngine(release), Clock()
        engine.table(rows="rows", cols="columns").columns()
        asked = clock.spent()
        return {"perturb": stages["perturbed"], "write": stages["written"], "open": stages["opened"], "query": asked}


def _run(path: Path, attributes: Sequence[sf.Attribute], folder: Path) -> tuple[Spent, sf.Release]:
    """CPU seconds of the stages of a run, each up to where it is told to be done, and the release."""
    schema = sf.Schema(tuple(attributes), unit="row", repeated_rows=True)
    count = sf.Measure("rows", sf.Count(), schema.names, sf.Geometric(1))
    plan = sf.Plan("size", schema, sf.AddRemove("row"), sf.Approximate(1), (count,), title="Rows", period="2026")
    spent: Spent = {}
    with tempfile.TemporaryDirectory(dir=folder) as name:
        ledger, out = Path(name) / "ledger", Path(name) / "release"
        Account.create(ledger, "rows", plan.hidden, plan.limit)
        clock = Clock()
        options = Options(progress=lambda stage: spent.update({stage: clock.spent()}))
        release = run(plan, Microdata.open(path, schema), ledger, out, options)
        spent["opened"] = clock.spent()
    return spent, release


if __name__ == "__main__":
    main()

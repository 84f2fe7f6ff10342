"""Tables of a cube of ten million cells, beside DuckDB on the same cells in memory.

The cube is that of `bench.soc`: 840 occupations in four levels, 51 states in two, four short attributes. DuckDB holds
one row a cell in a table of its own: a small integer for each attribute, one more for every coarser level of the two
hierarchies, so that no question needs a join, and the value. A question is a random table by one to four attributes at
random levels, no larger than a page. CPU seconds are of all threads. "Look-up" is a question whose margin was made
before, "first" makes it; "fallback" reads the cube itself. Every answer is compared cell by cell.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
from bench.line import Goal, Line, timed
from bench.soc import LARGEST_PAGE, attributes

from sfumato.release.lattice import Lattice, levels_of
from sfumato.schema import Attribute, Box, Grid, LeafGroups
from sfumato.schema.totals import totals_over

GOALS = {"look-up": Goal(100), "fallback": Goal(3)}


def lines(*, quick: bool = False) -> Iterator[Line]:
    known = tuple(attributes(large=not quick))
    cells = np.random.default_rng(1).geometric(0.4, [len(one.levels.leaves) for one in known]).astype(np.int32) - 3
    held = tabled(known, cells)
    for within in (False, True):
        yield from measured(known, cells, held, Asking(known, within), 20 if quick else 100)


class Asking:
    """Random tables, as a grid for us and as SQL for DuckDB, within a universe of some leaves of one more if wanted."""

    def __init__(self, known: tuple[Attribute, ...], within: bool) -> None:
        self.known, self.within, self.random = {one.name: one for one in known}, within, random.Random(2)
        self.levels = {one.name: levels_of(one.levels)[1:] for one in known}
        self.groups = {
            name: [LeafGroups.parted(level.of, level.size) for level in levels] for name, levels in self.levels.items()
        }

    def question(self) -> tuple[Grid, str]:
        shown: dict[str, int] = {}
        while not shown or np.prod([self.levels[name][at].size for name, at in shown.items()]) > LARGEST_PAGE:
            names = self.random.sample(list(self.known), self.random.randint(1, 4))
            shown = {name: self.random.randrange(len(self.levels[name])) for name in names}
        box, where = self._universe([name for name in self.known if name not in shown])
        keys = ", ".join(_column(name, at) for name, at in shown.items())
        axes = tuple((name, self.groups[name][at]) for name, at in shown.items())
        return Grid(axes, box), f"SELECT {keys}, sum(value)::BIGINT FROM cells {where} GROUP BY ALL"

    def _universe(self, rest: list[str]) -> tuple[Box, str]:
        if not self.within:
            return Box(), ""
        name = self.random.choice(rest)
        length = len(self.known[name].levels.leaves)
        chosen = self.random.sample(range(length), self.random.randint(1, min(9, length)))
        mask = np.isin(np.arange(length), chosen)
        return Box(
            {name: mask}
        ), f"WHERE {_column(name, len(self.levels[name]) - 1)} IN ({', '.join(map(str, chosen))})"


def _column(name: str, at: int) -> str:
    return f"{name}_{at}"


def tabled(known: tuple[Attribute, ...], cells: np.ndarray) -> duckdb.DuckDBPyConnection:
    columns = {}
    for axis, one in enumerate(known):
        for at, level in enumerate(levels_of(one.levels)[1:]):
            along = level.of.astype(np.int16).reshape([-1 if place == axis else 1 for place in range(cells.ndim)])
            columns[_column(one.name, at)] = pa.array(np.broadcast_to(along, cells.shape).ravel())
    held = duckdb.connect()
    held.register("given", pa.table(columns | {"value": cells.ravel()}))
    held.execute("CREATE TABLE cells AS SELECT * FROM given")
    return held


def measured(
    known: tuple[Attribute, ...], cells: np.ndarray, held: duckdb.DuckDBPyConnection, asking: Asking, count: int
) -> Iterator[Line]:
    lattice = Lattice(cells, known)
    ways: dict[str, Callable[[Grid], np.ndarray]] = {
        "first": lattice.totals,
        "look-up": lattice.totals,
        "fallback": lambda grid: totals_over(lattice.values, known, grid),
    }
    spent: dict[str, list[float]] = {way: [] for way in [*ways, "theirs"]}
    agree = dict.fromkeys(ways, True)
    held.execute("SELECT sum(value) FROM cells").fetchall()
    for _ in range(count):
        grid, sql = asking.question()
        _, cpu, found = timed(lambda sql=sql: held.execute(sql).fetchnumpy())
        spent["theirs"].append(cpu)
        *keys, sums = found.values()
        theirs = np.zeros(grid.shape, dtype=np.int64)
        theirs[tuple(keys)] = sums
        for way, answer in ways.items():
            _, cpu, ours = timed(lambda grid=grid, answer=answer: answer(grid))
            spent[way].append(cpu)
            agree[way] &= bool(np.array_equal(ours, theirs))
    kept = sum(one.nbytes for one in lattice.kept.values())
    more = f"; {len(lattice.kept)} margins of {kept / cells.nbytes:.0%} of its bytes"
    for way in ways:
        what = f"1-4-way tables of {cells.size:,} cells, {'in a universe, ' if asking.within else ''}{way}"
        yield replace(_line(what, spent[way], spent["theirs"], more), agree=agree[way], goal=GOALS.get(way))


def _line(what: str, ours: list[float], theirs: list[float], more: str) -> Line:
    ratios = np.array(theirs) / np.array(ours)
    note = (
        f"{sum(theirs) / sum(ours):,.0f}x less CPU in all; a question: median {np.median(ratios):,.0f}x, least "
        f"{ratios.min():,.1f}x; p95 {1_000 * np.quantile(ours, 0.95):.2f} ms{more}"
    )
    mean, mean_theirs = 1_000 * float(np.mean(ours)), 1_000 * float(np.mean(theirs))
    return Line(
        what, "CPU ms", mean, f"DuckDB {duckdb.__version__} in memory", mean_theirs,
        cpu=sum(ours), cpu_theirs=sum(theirs), note=note,
    )  # fmt: skip

"""Jobs joined to their workers and workplaces and tabulated, beside DuckDB's own join and GROUP BY of the same columns.

Workload: `sfumato synth lodes` with 11 million jobs, 10.3 million workers and 526,900 workplaces as three Parquet
files, warm. Tables are by five columns of workplaces and workers; ours checks every key and every code and gives the
empty cells as well. DuckDB joins by the same keys, groups by the same columns (a place is the first nine letters of
its block's code), and hands out how many groups there are. The third line is of the largest workplace of every cell by
place, sector and ownership, which DuckDB finds by grouping twice. CPU seconds of the process, median of three, DuckDB
on all cores and ours on one.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import numpy as np
from bench.line import Goal, Line
from bench.tabulate import cpu

from sfumato.confidential.engines.choose import opened
from sfumato.confidential.engines.request import Reading, TableRequest
from sfumato.plan import Plan
from sfumato.schema import Aggregate, Box, Largest, Rows
from sfumato.synth import write

TABLES = {
    "by place, sector, ownership, sex and education": ("location@2", "sector", "ownership", "sex", "education"),
    "by sector, ownership, sex, education and race": ("sector", "ownership", "sex", "education", "race"),
}
LARGEST = Largest(per="workplace_id")


def lines(*, quick: bool = False) -> Iterator[Line]:
    jobs = 10**5 if quick else 11_000_000
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan.read(write("lodes", Path(folder), jobs))
        sources = {name: [Path(folder) / f"{name}.parquet"] for name in plan.schema.tables}
        plain = duckdb.connect()
        linked = " ".join(
            f"{'FROM' if name == 'jobs' else 'JOIN'} '{own[0]}'{'' if name == 'jobs' else f' USING ({key})'}"
            for (name, own), key in zip(sources.items(), ("", "worker_id", "workplace_id"), strict=True)
        )
        for what, by in TABLES.items():
            columns = ", ".join("location[:9] AS place" if one == "location@2" else one for one in by)
            names = ", ".join("place" if one == "location@2" else one for one in by)
            grouped = f"SELECT {names}, count(*) AS n FROM (SELECT {columns} {linked}) GROUP BY ALL"
            yield _against(plan, sources, plain, (f"joined, {jobs:,} jobs, {what}", by, Rows(), grouped))
        by = TABLES["by place, sector, ownership, sex and education"][:3]
        units = f"SELECT location[:9] AS place, sector, ownership, workplace_id, count(*) AS n {linked} GROUP BY ALL"
        grouped = f"SELECT place, sector, ownership, max(n) AS n FROM ({units}) GROUP BY ALL"
        yield _against(
            plan, sources, plain, (f"the same, largest workplace of {len(by)}-way cells", by, LARGEST, grouped)
        )


def _against(plan: Plan, sources: dict, plain: duckdb.DuckDBPyConnection, asked: tuple) -> Line:
    what, by, aggregate, grouped = asked
    ours = cpu(lambda: tabulated(plan, sources, by, aggregate), 3)
    theirs = cpu(lambda: plain.execute(f"SELECT count(*), sum(n) FROM ({grouped})").fetchall(), 3)
    found = tabulated(plan, sources, by, aggregate)
    grouped_counts = plain.execute(f"SELECT n FROM ({grouped}) ORDER BY n").fetchnumpy()["n"]
    agree = np.array_equal(np.sort(found[found > 0]), grouped_counts)  # cell by cell in the order of their numbers
    version = f"DuckDB {duckdb.__version__}"
    costs = {"cpu": ours, "cpu_theirs": theirs, "agree": agree, "goal": Goal(2, within=True)}
    return Line(what, "CPU s", ours, f"{version} join and GROUP BY", theirs, **costs)


def tabulated(plan: Plan, sources: dict, by: Sequence[str], aggregate: Aggregate) -> np.ndarray:
    """One aggregate over every cell of a table, from the files."""
    table = plan.schema.table(by)
    cut = [one for one in table.attributes if one.depth is not None]
    named = dict.fromkeys([*(plan.schema.attribute(one.name) for one in table.attributes), *cut])
    only = TableRequest(table, (aggregate,), Box())
    engine, _ = opened(sources, Reading(plan.schema, tuple(named), (aggregate,), only=only), b"")
    try:
        return np.asarray(engine.aggregate(table, (aggregate,), Box())[aggregate])
    finally:
        engine.close()

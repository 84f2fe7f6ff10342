"""Records in a cluster beside Spark's own GROUP BY of the raw codes, on one server and one file.

Workload: jobs over four columns of codes, 100,000 cells, and two values to be summed, in ten Parquet files; a Connect
server of Spark 4.3 on this machine with two cores, warm. Plain Spark groups by the codes, counts, sums both values as
they stand, and its groups are fetched. Ours opens a session, has the cluster clip both values, put them into whole
steps and sum them, fetches the groups, checks every code against its levels and lays out all cells. CPU seconds of all
processes, the Java machine among them, median of three after one to warm up; of a hundred million rows, one after all
others.

At most 2 rows of a unit, or 5, is the same with six units for ten rows, which names fall on at random: then half of the
rows are of units with more than 2, and one in fifty of units with more than 5. Releases over 100,000 and ten million
cells stand beside Tumult Analytics, one after one to warm up. Without Java or build/spark (`make spark`) all of this is
left out, and it is said.
"""

import math
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.cluster_release import Spent, beside, plan_of, released, tumult
from bench.line import Goal, Line
from bench.peers.clock import of_process
from tests.confidential import spark_server

from sfumato.confidential.engines.cluster.client import import_client
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.sources.cluster import Address, ClusterTable
from sfumato.confidential.engines.spark import Spark
from sfumato.privacy import Truncate
from sfumato.schema import Attribute, Box, Clipped, Levels, Rows, Schema, Sum, Table

SIZES = {"state": 50, "trade": 500, "sex": 2, "size": 2}
FILES = 10
PIECE = 2**20
ROOM = 6 * 10**9
"""The bytes of disk that must be free for a hundred million rows."""
UNITS = 0.6
"""Units for a row."""
MOST = (2, 5)
"""How many rows of a unit count."""
TOLD = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "4",
}
"""Spark as it comes, but for the partitions of a shuffle: there are two cores."""
JAVA = "-XX:+UseParallelGC"
VALUES = (
    Clipped("wage", Fraction(0), Fraction(50_000), Fraction(1, 10)),
    Clipped("hours", Fraction(0), Fraction(80), Fraction(1)),
)
SALT = bytes(32)
Sizes = Mapping[str, int]


def lines(*, quick: bool = False) -> Iterator[Line]:
    try:
        spark_server.home()
    except spark_server.NoSpark as lacking:
        yield Line("records in a cluster", "CPU s", 0, "Spark", note=f"left out: {lacking}")
        return
    rows = 10**5 if quick else 10**7
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with spark_server.served(folder, told=TOLD, memory="3g", java=JAVA) as address:
            yield from _beside_group_by(address, folder, rows, 3)
            yield from _beside_tumult(address, folder, rows)
            if not quick and shutil.disk_usage(folder).free > ROOM:
                yield from _beside_group_by(address, folder, 10**8, 1)


def codes(sizes: Sizes) -> dict[str, list[str]]:
    return {name: [f"{name[0]}{code:03}" for code in range(size)] for name, size in sizes.items()}


def write_jobs(place: Path, rows: int, sizes: Sizes, *, named: bool = False) -> Path:
    """Jobs spread over all cells in several files, a piece at a time; with units where they are named."""
    rng, texts = np.random.default_rng(1), {name: pa.array(own) for name, own in codes(sizes).items()}
    place.mkdir()
    for file in range(FILES):
        writer = None
        for start in range(0, rows // FILES, PIECE):
            length = min(PIECE, rows // FILES - start)
            piece = {name: text.take(pa.array(rng.integers(0, len(text), length))) for name, text in texts.items()}
            piece |= {"wage": pa.array(np.round(rng.gamma(2, 15_000, length), 2))}
            piece |= {"hours": pa.array(rng.integers(0, 90, length))}
            piece |= {"unit": pa.array(rng.integers(0, int(UNITS * rows), length))} if named else {}
            table = pa.table(piece)
            writer = writer or pq.ParquetWriter(place / f"{file}.parquet", table.schema)
            writer.write_table(table)
        if writer:
            writer.close()
    return place


def ours(address: str, place: Path, at_most: int | None = None) -> dict[Any, Any]:
    """The cells that the engine gives, in a session of its own as a run has it."""
    listed = tuple(Attribute(name, Levels.of(own)) for name, own in codes(SIZES).items())
    truncated = ("unit", Truncate("unit", at_most)) if at_most else (None, None)
    asked = Reading(Schema(listed, repeated_rows=True), listed, (Rows(), *map(Sum, VALUES)), *truncated)
    engine = Spark([ClusterTable(Address.parse(address), str(place))], asked, SALT)
    cells = engine.aggregate(Table(asked.attributes), asked.aggregates, Box())
    engine.close()
    return dict(cells)


def plain(address: str, place: Path) -> pa.Table:
    """The groups as plain Spark gives them, in a session of its own."""
    import_client()
    from pyspark.sql.connect.functions import expr
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(address).create()
    sums = [expr(one) for one in ("count(*) AS n", "sum(wage) AS wage", "sum(hours) AS hours")]
    groups = session.read.parquet(str(place)).groupBy(*SIZES).agg(*sums).toArrow()
    session.stop()
    return groups


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this process and of all that it started, the Java machine among them."""
    before = of_process(os.getpid())
    work()
    time.sleep(0.5)  # what is forgotten after an answer is forgotten here
    return of_process(os.getpid()) - before


def _beside_group_by(address: str, folder: Path, rows: int, times: int) -> Iterator[Line]:
    """All cells of the same rows, with all of them counted and with so many of a unit at most."""
    place = write_jobs(folder / "jobs", rows, SIZES, named=True)
    works: list[Callable[[], Any]] = [lambda: plain(address, place), lambda: ours(address, place)]
    works += [partial(ours, address, place, most) for most in MOST]
    if times > 1:
        for work in works:  # to warm up; a hundred million rows come after ten
            work()
    # In turns, so that a machine that others use is as busy for all.
    turns = [[_measured(work) for work in works] for _ in range(times)]
    theirs, *own = (statistics.median(spent for spent, _ in each) for each in zip(*turns, strict=True))
    (_, groups), (_, cells), *_ = turns[-1]
    agree = _agree(cells, groups)
    what = f"records in a cluster, {rows:,} rows, {math.prod(SIZES.values()):,} cells, 2 sums"
    crowds = ["", *(f", at most {most} of {int(UNITS * rows):,} units" for most in MOST)]
    for more, mine in zip(crowds, own, strict=True):
        same = None if more else agree  # fewer rows count
        goal = Goal(3 if more else 1.2, within=True)
        shared = {"threads": 2, "cpu": mine, "cpu_theirs": theirs, "agree": same, "goal": goal}
        yield Line(what + more, "CPU s", mine, "Spark GROUP BY of the codes", theirs, **shared)
    shutil.rmtree(place)


def _measured(work: Callable[[], Any]) -> tuple[float, Any]:
    """The CPU seconds of some work, and what it gave."""
    given: list[Any] = []
    return cpu(lambda: given.append(work())), given[0]


def _beside_tumult(address: str, folder: Path, rows: int) -> Iterator[Line]:
    """Releases of the same records over few cells and many."""
    costs, jobs = list[tuple[dict[str, int], float, int]](), list[tuple[dict[str, int], Path, Path]]()
    for name, sizes in {"few": SIZES, "many": SIZES | {"trade": rows // 200}}.items():
        place = write_jobs(folder / f"jobs-{name}", rows, sizes)
        plan, out = plan_of(codes(sizes)), folder / f"release-{name}"
        if not costs:
            released(address, place, plan, folder / "warm")
            jobs.append((sizes, place, folder / "tumult-warm"))
        cells = list[int]()
        mine = cpu(lambda: cells.append(released(address, place, plan, out)))  # noqa: B023 - done at once
        costs.append((sizes, mine, *cells))
        jobs.append((sizes, place, folder / f"tumult-{name}"))

    def theirs() -> tuple[list[Spent], str]:
        (_, *spent), name = tumult(jobs)
        return spent, name

    yield from beside(rows, costs, theirs)
    for _, place, _ in jobs[1:]:
        shutil.rmtree(place)


def _agree(cells: dict[Any, Any], groups: pa.Table) -> bool:
    """Whether the counts are the same, cell by cell; plain sums are of values that were not clipped."""
    places = np.zeros(len(groups), dtype=np.int64)
    for name, size in SIZES.items():
        places = places * size + np.array([int(code[1:]) for code in groups[name].to_pylist()])
    counted = np.zeros(math.prod(SIZES.values()), dtype=np.int64)
    counted[places] = groups["n"].to_numpy()
    return bool((counted == cells[Rows()].ravel()).all())

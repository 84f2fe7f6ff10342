"""Tables with 80 replicates from the replicate cube, beside the same tables computed on the fly, in one run.

Workload: 10^7 records with a weight and 80 replicate weights, all whole; 51 states, 24 ages, 2 sexes and 5 kinds, so
12,240 cells of 81 numbers. The cube is built once and is measured beside DuckDB's plain sum of all columns of the warm
file. A table by state and sex is then summed from the cube; on the fly it is one GROUP BY in DuckDB over the same file,
or our own reading of the records for these attributes alone. All numbers are compared, to the integer. CPU seconds of
the process; DuckDB on all cores, ours on one.
"""

import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.line import Goal, Line, timed

from sfumato.confidential import Microdata
from sfumato.confidential.design import Survey
from sfumato.confidential.true_table import TableLayout
from sfumato.plan import Plan

SHAPE = {"state": 51, "age": 24, "sex": 2, "kind": 5}
BY = ("state", "sex")
WEIGHTS = [f"w{place}" for place in range(81)]
PIECE = 2**18
"""Rows that are written at a time, so that no more are held."""
PLAN = """
name = "bench"
sampling = "successive difference replication"
[data]
unit = "person"
weight = "w0"
weight_kind = "base"
replicates = "w{1..80}"
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "1"
[[measure]]
name = "persons"
of = { statistic = "count", weighted = false }
by = ["state"]
with = { mechanism = "geometric", epsilon = "1" }
""" + "".join(f"[attributes.{name}]\nlevels = {[str(leaf) for leaf in range(size)]}\n" for name, size in SHAPE.items())


def lines(*, quick: bool = False) -> Iterator[Line]:
    import numba  # noqa: F401 - the compiled loops are taken where it is loaded

    rows, plan = 10**5 if quick else 10**7, Plan.parse(PLAN, Path("bench.toml"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.parquet"
        write_sample(path, rows)
        yield from _measured(path, plan, rows)


def write_sample(path: Path, rows: int) -> None:
    """Weights of 1 to 200, and replicates by the factors 0.3, 1 and 1.7, rounded."""
    rng, writer = np.random.default_rng(1), None
    made = np.rint(np.arange(201)[:, None] * np.array([0.2929, 1, 1, 1.7071])).astype(np.int32).ravel()
    for start in range(0, rows, PIECE):
        length = min(PIECE, rows - start)
        piece = {name: rng.integers(0, size, length, dtype=np.int16) for name, size in SHAPE.items()}
        weight = rng.integers(1, 201, length, dtype=np.int32)
        piece["w0"] = weight
        for name in WEIGHTS[1:]:
            piece[name] = made.take(weight * 4 + rng.integers(0, 4, length, dtype=np.int8))
        writer = writer or pq.ParquetWriter(path, pa.table(piece).schema)
        writer.write_table(pa.table(piece))
    if writer:
        writer.close()


def _measured(path: Path, plan: Plan, rows: int) -> Iterator[Line]:
    data, plain = Microdata.open(path, plan.schema), duckdb.connect()
    grid, version = TableLayout(BY, None).grid(plan), f"DuckDB {duckdb.__version__}"
    summed = ", ".join(f"sum({name})" for name in WEIGHTS)
    everything = f"SELECT {summed}, {', '.join(f'sum({name})' for name in SHAPE)} FROM '{path}'"
    grouped = f"SELECT {', '.join(BY)}, {summed} FROM '{path}' GROUP BY ALL ORDER BY ALL"

    scan, _ = _cpu(lambda: plain.execute(everything).fetchall())
    build, survey = _cpu(lambda: _built(plan, data, tuple(SHAPE)))
    query, table = _cpu(lambda: survey.total(grid).values, 200)
    fly, theirs = _cpu(lambda: plain.execute(grouped).fetchnumpy())
    own, again = _cpu(lambda: Survey(plan, data, BY).total(grid).values)

    told = np.stack([theirs[f"sum({name})"] for name in WEIGHTS], axis=-1).reshape(table.shape)
    what, size = f"SDR, {rows:,} rows, 80 replicates", f"{' x '.join(BY)}"
    agree = bool((table == told).all() and (table == again).all())
    yield Line(
        f"{what}: build the cube", "CPU s", build, f"{version} sum-scan", scan, cpu=build, cpu_theirs=scan,
        agree=agree, goal=Goal(4, within=True),
    )  # fmt: skip
    for peer, taken in ((f"{version} GROUP BY", fly), ("our scan of the records", own)):
        yield Line(
            f"{what}: {size} from the cube", "CPU s", query, peer, taken, cpu=query, cpu_theirs=taken,
            agree=agree, goal=Goal(500),
        )  # fmt: skip


def _built(plan: Plan, data: Microdata, names: tuple[str, ...]) -> Survey:
    survey = Survey(plan, data, names)
    survey.total(TableLayout((), None).grid(plan))  # the first question makes the cube
    return survey


def _cpu(work: Callable[[], object], times: int = 3) -> tuple[float, object]:
    """CPU seconds, median after one run that is not counted, and what came of it."""
    made = work()
    return statistics.median(timed(work)[1] for _ in range(times)), made

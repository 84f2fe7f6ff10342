"""SDR over a million rows: `tabulate` beside DuckDB's own sum of the same 81 columns, in one run.

Workload: 10^6 records, a weight and 80 replicate weights, 4 x 13 cells. The peer is one plain GROUP BY over the same
Parquet file, whose sums of doubles depend on the order of its threads; ours checks levels and weights, and does not.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.line import Line, timed

from sfumato.confidential import Microdata
from sfumato.confidential.estimands import MeanOf, TotalOf
from sfumato.confidential.true_table import TableLayout, true_table
from sfumato.plan import Plan

PLAN = """
name = "bench"
sampling = "a sample"
[data]
unit = "person"
weight = "w0"
weight_kind = "base"
replicates = "w{1..80}"
[attributes.state]
levels = ["0", "1", "2", "3"]
[attributes.age]
bands = [0, 5, 10, 15, 20, 25, 35, 45, 55, 60, 65, 75, 85]
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
"""


def write_sample(path: Path, rows: int, *, whole: bool) -> None:
    rng = np.random.default_rng(1)
    weight = rng.lognormal(3, 1, rows)
    columns = {f"w{place}": weight * rng.choice([1.7071, 1, 0.2929], rows) for place in range(1, 81)} | {"w0": weight}
    kept = {name: np.rint(values).astype(np.int32) if whole else values for name, values in columns.items()}
    kept |= {"state": rng.integers(0, 4, rows), "age": rng.integers(0, 96, rows), "turn": rng.permutation(rows)}
    pq.write_table(pa.table(kept), path)


def plain(path: Path) -> object:
    sums = ", ".join(f"sum(w{place})" for place in range(81))
    return duckdb.connect().execute(f"SELECT state, age // 5, {sums} FROM '{path}' GROUP BY ALL").fetchnumpy()


def lines(*, quick: bool = False) -> Iterator[Line]:
    """Totals, means and totals with built replicates, of whole and of fractional weights."""
    rows = 100_000 if quick else 1_000_000
    given = Plan.parse(PLAN, Path("bench.toml"))
    built = Plan.parse(PLAN.replace('replicates = "w{1..80}"', 'order = "turn"'), Path("bench.toml"))
    asked = {
        "totals": (given, TotalOf()),
        "means": (given, MeanOf("age")),
        "totals, replicates built": (built, TotalOf()),
    }
    layout, peer = TableLayout(("state",), "age"), f"DuckDB {duckdb.__version__} plain sum"
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("whole", "fractional"):
            path = Path(folder) / f"{kind}.parquet"
            write_sample(path, rows, whole=kind == "whole")
            plain(path)  # warm the file
            _, theirs, _ = timed(lambda path=path: plain(path))
            for name, (plan, of) in asked.items():
                data = Microdata.open(path, plan.schema)
                _, cpu, _ = timed(lambda plan=plan, data=data, of=of: true_table(plan, data, layout, of))
                what = f"SDR, {rows:,} rows, {kind} weights: {name}"
                yield Line(what, "CPU s", cpu, peer, theirs, cpu=cpu, cpu_theirs=theirs)

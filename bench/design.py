"""SDR over a million rows: `tabulate` beside DuckDB's own sum of the same 81 columns, in one run.

Workload: 10^6 records, a weight and 80 replicate weights, 4 x 13 cells. The peer is one plain GROUP BY over the same
Parquet file, whose sums of doubles depend on the order of its threads; ours checks levels and weights, and does not.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.confidential import Microdata
from sfumato.confidential.estimands import MeanOf, TotalOf
from sfumato.confidential.true_table import Layout, true_table
from sfumato.plan.toml import parse

PLAN = """
name = "bench"
sampling = "a sample"
[data]
unit = "person"
weight = "w0"
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
of = "count"
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


def timed(work: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def plain(path: Path) -> object:
    sums = ", ".join(f"sum(w{place})" for place in range(81))
    return duckdb.connect().execute(f"SELECT state, age // 5, {sums} FROM '{path}' GROUP BY ALL").fetchnumpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    given = parse(PLAN, Path("bench.toml"))
    built = parse(PLAN.replace('replicates = "w{1..80}"', 'order = "turn"'), Path("bench.toml"))
    print(f"{rows:,} rows, 80 replicates, DuckDB {duckdb.__version__}: wall s, CPU s, CPU ratio to DuckDB's plain sum")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("whole", "fractional"):
            path = Path(folder) / f"{kind}.parquet"
            write_sample(path, rows, whole=kind == "whole")
            plain(path)  # warm the file
            _, peer = timed(lambda path=path: plain(path))
            for name, plan, of in [
                ("totals", given, TotalOf()),
                ("means", given, MeanOf("age")),
                ("totals, replicates built", built, TotalOf()),
            ]:
                layout = Layout(("state",), "age")
                wall, cpu = timed(
                    lambda plan=plan, of=of, path=path, layout=layout: true_table(
                        plan, Microdata.open(path, plan.schema), layout, of
                    )
                )
                print(f"{kind:10} {name:24} {wall:6.2f} {cpu:6.2f} {cpu / peer:6.1f}")


if __name__ == "__main__":
    main()

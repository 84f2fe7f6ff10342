"""Tabulation of ten million rows beside DuckDB's own scan and GROUP BY of the same file, in one run.

Workload: five attributes, 135,936 cells, codes as texts and as small integers; the file is warm and the compiled loops
are loaded. The scan sums every column (of texts, their lengths) and does no more; the GROUP BY counts the rows of every
combination. Ours checks every code against its levels and gives the empty cells as well. CPU seconds of the process,
median of five, DuckDB on all cores and ours on one.
"""

import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.line import Line, timed

from sfumato.confidential.engines import Dense, DuckDB, Reading, opened
from sfumato.schema import Attribute, Box, Levels, Rows, Schema, Table

SHAPE = (59, 24, 12, 4, 2)
NAMES = tuple(f"a{place}" for place in range(len(SHAPE)))


def lines(*, quick: bool = False) -> Iterator[Line]:
    rows = 10**5 if quick else 10**7
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("text", "integer"):
            path = Path(folder) / f"{kind}.parquet"
            write_rows(path, rows, kind)
            yield from _against_duckdb(path, rows, kind)
        yield from _against_the_other_engine(Path(folder), rows)
    if not quick:
        yield from _growing()


def write_rows(path: Path, rows: int, kind: str, **more: np.ndarray) -> None:
    rng = np.random.default_rng(1)
    columns = {}
    for name, size in zip(NAMES, SHAPE, strict=True):
        places = rng.integers(0, size, rows)
        texts = pa.array([f"c{place}" for place in range(size)])
        columns[name] = texts.take(pa.array(places)) if kind == "text" else pa.array(places.astype(np.int16))
    pq.write_table(pa.table(columns | {name: pa.array(values) for name, values in more.items()}), path)


def reading(kind: str, *, key: str | None = None, unit: str | None = None) -> Reading:
    letter = "c" if kind == "text" else ""
    listed = tuple(
        Attribute(name, Levels.of([f"{letter}{place}" for place in range(size)]))
        for name, size in zip(NAMES, SHAPE, strict=True)
    )
    return Reading(Schema(listed, key=key), listed, (), unit, 8)


def tabulated(make: Callable[..., Dense | DuckDB], path: Path, asked: Reading) -> np.ndarray:
    return np.asarray(make([path], asked, b"salt").aggregate(Table(asked.attributes), (Rows(),), Box())[Rows()])


def cpu(work: Callable[[], object], times: int = 5) -> float:
    work()
    return statistics.median(timed(work)[1] for _ in range(times))


def _against_duckdb(path: Path, rows: int, kind: str) -> Iterator[Line]:
    import numba  # noqa: F401 - the compiled loops are taken where it is loaded

    plain, columns = duckdb.connect(), ", ".join(NAMES)
    summed = ", ".join(f"sum({name if kind == 'integer' else f'strlen({name})'})" for name in NAMES)
    asked = reading(kind)
    ours = cpu(lambda: tabulated(opened, path, asked))
    scan = cpu(lambda: plain.execute(f"SELECT {summed} FROM '{path}'").fetchall())
    grouped = f"SELECT {columns}, count(*) AS n FROM '{path}' GROUP BY ALL"
    group = cpu(lambda: plain.execute(grouped).fetchnumpy())
    counts = sorted(plain.execute(f"SELECT n FROM ({grouped})").fetchnumpy()["n"].tolist())
    cells = tabulated(opened, path, asked)
    agree = sorted(cells[cells > 0].tolist()) == counts
    what = f"tabulation, {rows:,} rows, {cells.size:,} cells, {kind} codes"
    version = f"DuckDB {duckdb.__version__}"
    yield Line(what, "CPU s", ours, f"{version} sum-scan", scan, cpu=ours, cpu_theirs=scan, agree=agree)
    note = f"{group / ours:.1f}x less CPU"
    yield Line(what, "CPU s", ours, f"{version} GROUP BY", group, cpu=ours, cpu_theirs=group, agree=agree, note=note)


def _against_the_other_engine(folder: Path, rows: int) -> Iterator[Line]:
    """The engine that reads every source and names every fault, on the same file."""
    rng = np.random.default_rng(2)
    path, units = folder / "named.parquet", rng.integers(0, 3 * rows // 10, rows)
    write_rows(path, rows, "text", key=rng.permutation(rows), unit=units)
    for what, named in {"": {}, ", key": {"key": "key"}, ", at most 8 of a unit": {"unit": "unit"}}.items():
        asked = reading("text", **named)
        ours, theirs = (
            cpu(lambda make=make, asked=asked: tabulated(make, path, asked), 1) for make in (opened, DuckDB)
        )
        agree = bool((tabulated(opened, path, asked) == tabulated(DuckDB, path, asked)).all())
        name = f"the same from the checked SQL, {rows:,} rows{what}"
        yield Line(name, "CPU s", ours, "our DuckDB engine", theirs, cpu=ours, cpu_theirs=theirs, agree=agree)


def _growing() -> Iterator[Line]:
    """Cost against size: ten times the rows should cost no more than ten times as much."""
    before = None
    for rows in (10**5, 10**6, 10**7):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write_rows(path, rows, "text")
            taken = cpu(lambda path=path: tabulated(opened, path, reading("text")), 3)
        yield Line(f"tabulation against size, {rows:,} rows", "CPU s", taken, "a tenth of the rows", before, cpu=taken)
        before = taken

"""Tabulation beside DuckDB's own scan and GROUP BY of the same file, in one run.

Workload: ten million rows over five attributes, 135,936 cells with codes as texts and as small integers, 60,000,000
cells with integers (a hundred million rows as well, where the disk has room), and a thousand million cells as packed
keys; the file is warm and the compiled loops are loaded. The scan sums every column (of texts, their lengths) and does
no more; the GROUP BY counts the rows of every combination and hands out none of them. Ours checks every code against
its levels and gives the empty cells as well, but for packed keys. CPU seconds of the process, median of five (of three
with a hundred million rows), DuckDB on all cores and ours on one.
"""

import math
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.line import Goal, Line, timed

from sfumato.confidential.engines.choose import opened
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.engine import Engine
from sfumato.confidential.engines.request import Reading, TableRequest
from sfumato.privacy import Truncate
from sfumato.schema import LARGEST, Attribute, Box, Levels, Rows, Schema, Table

SHAPE = (59, 24, 12, 4, 2)
WIDE = (500, 100, 50, 12, 2)
PACKED = (1000, 100, 50, 20, 10)
NAMES = tuple(f"a{place}" for place in range(len(SHAPE)))
PIECE = 2**20
"""Rows that are written at a time, so that no more are held."""
ROOM = 4 * 10**9
"""The bytes of disk that must be free for the file of a hundred million rows, of which it takes a quarter."""


def lines(*, quick: bool = False) -> Iterator[Line]:
    rows = 10**5 if quick else 10**7
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("text", "integer"):
            yield from _against_duckdb(Path(folder), rows, kind, SHAPE)
        for shape in (WIDE, PACKED):
            yield from _against_duckdb(Path(folder), rows, "integer", shape)
        if not quick and shutil.disk_usage(folder).free > ROOM:
            yield from _against_duckdb(Path(folder), 10**8, "integer", WIDE, times=3)
        yield from _against_the_other_engine(Path(folder), rows)


def write_rows(path: Path, rows: int, kind: str, *, shape: Sequence[int] = SHAPE, **more: np.ndarray) -> None:
    """Rows spread evenly over all cells, with more columns where given, a piece at a time."""
    rng, writer = np.random.default_rng(1), None
    texts = [pa.array([f"c{place}" for place in range(size)]) for size in shape]
    for start in range(0, rows, PIECE):
        length = min(PIECE, rows - start)
        places = [rng.integers(0, size, length, dtype=np.int16) for size in shape]
        coded = [
            text.take(pa.array(one)) if kind == "text" else pa.array(one)
            for text, one in zip(texts, places, strict=True)
        ]
        piece = dict(zip(NAMES, coded, strict=True))
        piece |= {name: pa.array(values[start : start + length]) for name, values in more.items()}
        table = pa.table(piece)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()


def reading(kind: str, *, shape: Sequence[int] = SHAPE, key: str | None = None, unit: str | None = None) -> Reading:
    letter = "c" if kind == "text" else ""
    listed = tuple(
        Attribute(name, Levels.of([f"{letter}{place}" for place in range(size)]))
        for name, size in zip(NAMES, shape, strict=True)
    )
    only = TableRequest(Table(listed), (Rows(),), Box())
    return Reading(Schema(listed, key=key), listed, (Rows(),), unit, Truncate(unit, 8) if unit else None, only)


def chosen(sources: Sequence[Path], asked: Reading, salt: bytes) -> Engine:
    return opened(sources, asked, salt)[0]


def tabulated(make: Callable[..., Engine], path: Path, asked: Reading) -> np.ndarray:
    """The rows of every cell, or of every cell that has some where there are too many cells to hold."""
    engine, table = make([path], asked, b"salt"), Table(asked.attributes)
    if table.size > LARGEST:
        return np.asarray(engine.occupied(table, (Rows(),), Box())[1][Rows()])
    return np.asarray(engine.aggregate(table, (Rows(),), Box())[Rows()])


def cpu(work: Callable[[], object], times: int = 5) -> float:
    work()
    return statistics.median(timed(work)[1] for _ in range(times))


def _against_duckdb(folder: Path, rows: int, kind: str, shape: Sequence[int], times: int = 5) -> Iterator[Line]:
    import numba  # noqa: F401 - the compiled loops are taken where it is loaded

    path, plain = folder / "rows.parquet", duckdb.connect()
    write_rows(path, rows, kind, shape=shape)
    summed = ", ".join(f"sum({name if kind == 'integer' else f'strlen({name})'})" for name in NAMES)
    grouped = f"SELECT {', '.join(NAMES)}, count(*) AS n FROM '{path}' GROUP BY ALL"
    asked, size = reading(kind, shape=shape), math.prod(shape)
    ours = cpu(lambda: tabulated(chosen, path, asked), times)
    scan = cpu(lambda: plain.execute(f"SELECT {summed} FROM '{path}'").fetchall(), times)
    group = cpu(lambda: plain.execute(f"SELECT count(*), max(n) FROM ({grouped})").fetchall(), times)
    agree = _same_cells(plain, path, kind, shape)
    what = f"tabulation, {rows:,} rows, {size:,} cells{' packed' if size > LARGEST else ''}, {kind} codes"
    version = f"DuckDB {duckdb.__version__}"
    # Packed keys are sorted, which no goal was set for beside a scan.
    beside = None if size > LARGEST else Goal(2, within=True)
    for peer, theirs, goal in (("sum-scan", scan, beside), ("GROUP BY", group, Goal(3))):
        shared = {"cpu": ours, "cpu_theirs": theirs, "agree": agree, "goal": goal}
        yield Line(what, "CPU s", ours, f"{version} {peer}", theirs, **shared)


def _same_cells(plain: duckdb.DuckDBPyConnection, path: Path, kind: str, shape: Sequence[int]) -> bool:
    """Whether ours and DuckDB's GROUP BY have the same rows in the same cells, cell by cell."""
    cells = tabulated(chosen, path, reading(kind, shape=shape)).ravel()
    key = "0"
    for name, size in zip(NAMES, shape, strict=True):
        key = f"({key} * {size} + CAST({name if kind == 'integer' else f'{name}[2:]'} AS BIGINT))"
    counted = f"SELECT {key} AS cell, count(*) AS n FROM '{path}' GROUP BY cell ORDER BY cell"
    theirs = plain.execute(counted).fetchnumpy()
    found = np.arange(len(theirs["n"])) if math.prod(shape) > LARGEST else theirs["cell"]
    return len(theirs["n"]) == np.count_nonzero(cells) and bool((cells[found] == theirs["n"]).all())


def _against_the_other_engine(folder: Path, rows: int) -> Iterator[Line]:
    """The engine that reads every source and names every fault, on the same file."""
    rng = np.random.default_rng(2)
    path, units = folder / "named.parquet", rng.integers(0, 3 * rows // 10, rows)
    write_rows(path, rows, "text", key=rng.permutation(rows), unit=units)
    for what, named in {"": {}, ", key": {"key": "key"}, ", at most 8 of a unit": {"unit": "unit"}}.items():
        asked = reading("text", **named)
        ours, theirs = (
            cpu(lambda make=make, asked=asked: tabulated(make, path, asked), 1) for make in (chosen, DuckDB)
        )
        agree = bool((tabulated(chosen, path, asked) == tabulated(DuckDB, path, asked)).all())
        name = f"the same from the checked SQL, {rows:,} rows{what}"
        yield Line(name, "CPU s", ours, "our DuckDB engine", theirs, cpu=ours, cpu_theirs=theirs, agree=agree)

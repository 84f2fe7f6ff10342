"""Record files: weighted records as Parquet, CSV or Stata, and the page beside them that says how to use them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sfumato.errors import QueryError, how_many
from sfumato.query.caveats import caveats_of
from sfumato.query.engine import QueryEngine
from sfumato.query.record_calls import RecordCalls
from sfumato.query.stata import StataFile, StataVariable, stata_name
from sfumato.query.weighted_records import CodeColumn, WeightedRecords, records_of
from sfumato.release.error_law import NoisyTotals
from sfumato.release.figures import number
from sfumato.schema import Box, Grid

Columns = dict[str, NDArray[Any]]
Progress = Callable[[int, int], None]
LABELS = {
    "weight": "Calibration weight",
    "noise_variance": "Variance of the noise",
    "moved": "Weight less unbiased one",
}
SUFFIXES = (".parquet", ".csv", ".dta")
MOST_LISTED = 12
"""Columns of up to so many codes have them listed on the page."""


def write_records(engine: QueryEngine, path: Path, replicates: int, progress: Progress, of: str | None = None) -> int:
    """Write the records of a release of tables to a file, and how to use it beside it."""
    records = records_of(engine, of, replicates)
    if path.suffix not in SUFFIXES:
        raise QueryError(f"{path} is no .parquet, .csv or .dta file; records are written as one of these.")
    part, done = path.with_name(f".{path.name}.part"), 0
    try:
        with _opened(part, path.suffix, records, engine.release.manifest.title) as write:
            for chunk in records.chunks():
                write(chunk)
                done += len(next(iter(chunk.values())))
                progress(done, records.size)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    path.with_name(f"{path.name}.README.txt").write_text(how_to_use(engine, path, records), encoding="utf-8")
    return records.size


@contextmanager
def _opened(part: Path, suffix: str, records: WeightedRecords, title: str) -> Iterator[Callable[[Columns], None]]:
    """What writes some rows to the file."""
    if suffix == ".dta":
        variables = _variables(records)
        with StataFile(part, list(variables.values()), records.size, title) as file:
            yield lambda chunk: file.write({variables[name].name: column for name, column in chunk.items()})
        return
    codes = {one.name: pa.array(one.codes, pa.string()) for one in records.codes}
    text = pa.string() if suffix == ".csv" else pa.dictionary(pa.int32(), pa.string())
    fields = [(name, text) for name in codes] + [(name, pa.float64()) for name in records.names.values()]
    schema = pa.schema(fields)
    with _writer(part, suffix, schema) as file:

        def write(chunk: Columns) -> None:
            columns = [_coded(chunk[name], codes[name], text) for name in codes]
            columns += [pa.array(chunk[name]) for name in records.names.values()]
            file.write_table(pa.Table.from_arrays(columns, schema=schema))

        yield write


def _writer(part: Path, suffix: str, schema: pa.Schema) -> Any:
    if suffix == ".csv":
        from pyarrow import csv

        return csv.CSVWriter(part, schema)
    return pq.ParquetWriter(part, schema, compression="zstd")


def _coded(places: NDArray[Any], codes: pa.Array, text: pa.DataType) -> pa.Array:
    coded = pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), codes)
    return coded.cast(text) if pa.types.is_string(text) else coded


def _variables(records: WeightedRecords) -> dict[str, StataVariable]:
    """The columns as variables of Stata, whose names are narrower."""
    found: dict[str, StataVariable] = {}
    for one in records.codes:
        name = stata_name(one.name, (other.name for other in found.values()))
        found[one.name] = StataVariable(name, one.attribute.label, one.codes, one.labels)
    for meant, called in records.names.items():
        name = stata_name(called, (other.name for other in found.values()))
        found[called] = StataVariable(name, LABELS.get(meant, f"Replicate weight {meant[2:]}"))
    return found


def how_to_use(engine: QueryEngine, path: Path, records: WeightedRecords) -> str:
    """What the columns are, how to add them up, and how to tell the error of what comes out."""
    from jinja2 import Environment

    made = Environment(trim_blocks=True, autoescape=False)  # noqa: S701 - plain text
    text = made.from_string(Path(__file__).with_name("records.txt").read_text("utf-8"))
    first = min(records.codes, key=lambda one: (len(one.codes) == 1, len(one.codes)))
    stata = path.suffix == ".dta"
    variables = _variables(records) if stata else {}
    columns = [_described(one, variables.get(one.name)) for one in records.codes]
    code = int(variables[first.name].values[0]) if stata else first.codes[0]
    said = text.render(
        engine=engine,
        manifest=engine.release.manifest,
        subject=records.product.subject,
        caveat=caveats_of(engine.release, records.product).sentence(),
        records=records,
        cells=records.table.count(Box()),
        columns=columns,
        calls=RecordCalls(path.name, variables[first.name].name if stata else first.name, code),
        names={meant: variables[name].name if stata else name for meant, name in records.names.items()},
        moved=records.moved is not None,
        count=records.replicates,
        few=_few(records),
        stata=stata,
    )
    return "\n".join(one if one.startswith("    ") else fill(one, 100) for one in said.splitlines()) + "\n"


def _described(column: CodeColumn, variable: StataVariable | None) -> str:
    """A column of codes as the page lists it: under its name, with the codes or numbers that the file has."""
    attribute, count = column.attribute, len(column.codes)
    level = "" if attribute.depth is None else f" at level {attribute.depth + 1}"
    said = f"{variable.name if variable else column.name}: {attribute.label}{level}, {count:,} code{'s' * (count > 1)}"
    codes = [str(value) for value in variable.values] if variable else list(column.codes)
    if count > MOST_LISTED or tuple(codes) == column.labels:
        return said
    listed = (code if code == label else f"{code} = {label}" for code, label in zip(codes, column.labels, strict=True))
    return f"{said}: {'; '.join(listed)}"


def _few(records: WeightedRecords) -> str:
    """The 95% margins of sums of few cells, by the law of the noise."""
    variance, law = float(records.variances.max()), records.product.errors.law(Grid(())).noise
    law = law.times(float(records.product.subject.step))
    said = []
    for cells in (1, 2, 5, 10):
        totals = NoisyTotals(*np.array([[0.0], [variance * cells], [0.0], [float(cells)]]))
        said.append(f"± {number(float(law.reach(0.95, totals)[0][0]))} for {how_many(cells, 'cell')}")
    return ", ".join(said)

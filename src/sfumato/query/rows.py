"""Rows: protected microdata to take along, one line a unit, and the page beside them that says how to use them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import QueryError
from sfumato.query.caveats import caveats_of
from sfumato.query.engine import QueryEngine
from sfumato.query.record_files import Progress, write_records
from sfumato.query.replicates import CHUNK, ValueColumn
from sfumato.query.value_notes import noted
from sfumato.release import Product
from sfumato.release.products.records import FRAME

REPLICATES = 20


def write_rows(
    engine: QueryEngine,
    path: Path,
    replicates: int = REPLICATES,
    progress: Progress = lambda done, all_: None,  # noqa: ARG005
    of: str | None = None,
) -> int:
    """Write all rows of a release with their protected values to a file, and how to use it beside it.

    Of tables the rows are weighted records, of the product `of` where several could be meant. `progress` hears how many
    rows of how many are written.
    """
    _refuse_file(path, replicates)
    if not any(engine.release.products[name].per_row for name in engine.statistics):
        return write_records(engine, path, replicates, progress, of)
    products = _refuse_unfit(engine, path)
    columns = [ValueColumn(product, replicates, engine.release.id) for product in products]
    size = products[0].domain.size
    writer, done = None, 0
    part = path.with_name(f".{path.name}.part")
    try:
        for batch in _frame(engine):
            whole: dict[str, Any] = {name: batch.column(name) for name in batch.schema.names}
            for column in columns:
                whole |= column.between(done, done + batch.num_rows)
            table = pa.table(whole)
            writer = writer or _writer(path, part, table.schema)
            writer.write_table(table)
            done += batch.num_rows
            progress(done, size)
        if writer is not None:
            writer.close()
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    path.with_name(f"{path.name}.README.txt").write_text(how_to_use(engine, path, columns), encoding="utf-8")
    return size


def _refuse_file(path: Path, replicates: int) -> None:
    if path.exists():
        raise QueryError(f"{path} is there already; name another file, or move it away.")
    if replicates < 0 or replicates == 1:
        raise QueryError(f"{replicates} replicates tell no error; 20 tell it to a sixth, 80 to a twelfth, 0 are none.")


def _refuse_unfit(engine: QueryEngine, path: Path) -> list[Product]:
    if path.suffix not in {".parquet", ".csv"}:
        raise QueryError(f"{path} is no .parquet or .csv file; rows of a register are written as one of these.")
    found = [engine.release.products[name] for name in engine.statistics]
    return [one for one in found if one.per_row]


def _frame(engine: QueryEngine) -> Iterator[Any]:
    """The public register of the release, some rows at a time."""
    if engine.release.folder is None:
        raise QueryError("The release was not opened from a folder, so the names of its rows are not at hand.")
    for batch in pq.ParquetFile(engine.release.folder / FRAME).iter_batches(batch_size=CHUNK):
        plain = [
            column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in batch.columns
        ]
        yield pa.RecordBatch.from_arrays(plain, names=batch.schema.names)


def _writer(path: Path, part: Path, schema: Any) -> Any:
    if path.suffix == ".csv":
        from pyarrow import csv

        return csv.CSVWriter(part, schema)
    return pq.ParquetWriter(part, schema, compression="zstd")


def how_to_use(engine: QueryEngine, path: Path, columns: Sequence[ValueColumn]) -> str:
    """What the columns are, how to add them up, and how to tell the error of what comes out."""
    from jinja2 import Template

    text = Template(Path(__file__).with_name("rows.txt").read_text("utf-8"), trim_blocks=True)
    caveats = {one.name: caveats_of(engine.release, one.product).sentence() for one in columns}
    shown = {"manifest": engine.release.manifest, "file": path.name, "columns": columns, "caveats": caveats}
    said = text.render(engine=engine, noted=noted, **shown)
    return "\n\n".join(fill(one, 100, break_long_words=False) for one in said.split("\n\n")) + "\n"

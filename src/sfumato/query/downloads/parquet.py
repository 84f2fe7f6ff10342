"""Parquet: the tidy table with codes and labels as dictionaries, and everything to know of it in the schema."""

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.query.answer import Answer
from sfumato.query.downloads.about import facts
from sfumato.query.downloads.tidy import cells, lines

KEY = b"sfumato"
"""The key of the schema's metadata under which the facts stand, as JSON."""


class _Sink(io.BytesIO):
    """What a writer has written and nobody has taken yet."""

    before = 0

    def tell(self) -> int:
        return self.before + super().tell()

    def taken(self) -> bytes:
        part = self.getvalue()
        self.before += len(part)
        self.seek(0)
        self.truncate(0)
        return part


def pieces(answer: Answer) -> Iterator[bytes]:
    """The file row group by row group; only one is held at a time."""
    parts = answer.pieces()
    first = next(parts)
    table = arrow(first)
    sink = _Sink()
    known = json.dumps(facts(first) | {"title": answer.title}, ensure_ascii=False, sort_keys=True).encode()
    schema = table.schema.with_metadata({KEY: known})
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), schema, compression="zstd") as writer:
        writer.write_table(table.replace_schema_metadata(schema.metadata))
        del table  # who waits for its reader holds no more than is to be sent
        yield sink.taken()
        for part in parts:
            writer.write_table(arrow(part).replace_schema_metadata(schema.metadata))
            yield sink.taken()
    yield sink.taken()


def arrow(answer: Answer) -> pa.Table:
    """The tidy table; a number or error that is missing or withheld is null, an error without end stays infinite."""
    return _table(answer, lines(answer, mark=False), pa.dictionary(pa.int32(), pa.string()))


def plain(answer: Answer) -> pa.Table:
    """The same for a notebook: texts as texts, without what is the same in every line, and columns that say nothing."""
    found = cells(answer)
    silent = [answer.own[name] for name in ("status", "reason") if not any(found[answer.own[name]])]
    return _table(answer, {name: values for name, values in found.items() if name not in silent}, pa.string())


def _table(answer: Answer, columns: Mapping[str, list[Any]], text: pa.DataType) -> pa.Table:
    own, whole = answer.own, answer.columns.estimate.dtype.kind != "f"
    types = {own[name]: pa.float64() for name in answer.tidy_metrics} | {own["cells"]: pa.int64()}
    types |= {own["estimate"]: pa.int64()} if whole else {}
    return pa.table({name: pa.array(values, types.get(name, text)) for name, values in columns.items()})

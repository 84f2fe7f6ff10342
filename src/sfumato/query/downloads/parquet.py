"""Parquet: the tidy table with codes and labels as dictionaries, and everything to know of it in the schema."""

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sfumato.query.answer import METRICS, Answer
from sfumato.query.columns import listed
from sfumato.query.downloads.about import facts
from sfumato.query.downloads.tidy import beside

KEY = b"sfumato"
"""The key of the schema's metadata under which the facts stand, as JSON."""


class _Sink(io.RawIOBase):
    """What a writer has written and nobody has taken yet."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.length = 0

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self.parts.append(bytes(part))
        self.length += len(self.parts[-1])
        return len(self.parts[-1])

    def tell(self) -> int:
        return self.length

    def taken(self) -> bytes:
        parts, self.parts = b"".join(self.parts), []
        return parts


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
        yield sink.taken()
        for part in parts:
            writer.write_table(arrow(part).replace_schema_metadata(schema.metadata))
            yield sink.taken()
    yield sink.taken()


def arrow(answer: Answer) -> pa.Table:
    """The tidy table; a number or error that is missing or withheld is null, an error without end stays infinite."""
    numbers, own = answer.columns, answer.own
    found: dict[str, Any] = {}
    for place, axis in enumerate(answer.axes):
        for title, texts in zip(answer.titles[place], (axis.codes, axis.labels), strict=True):
            found[title] = _coded(answer.codes(place), texts)
    whole = numbers.estimate.dtype.kind != "f"
    found[own["estimate"]] = pa.array(listed(numbers.estimate), pa.int64() if whole else pa.float64())
    for name in METRICS[1:]:
        found[own[name]] = pa.array(getattr(numbers, name), pa.float64(), from_pandas=True)
    found[own["grade"]] = _dictionary(numbers.grade.tolist())
    found[own["cells"]] = pa.array(numbers.cells, pa.int64())
    found[own["status"]] = _dictionary(numbers.status("code"))
    found[own["reason"]] = _dictionary(numbers.status("reason", " ".join(answer.figures.reasons)))
    for name, text in beside(answer).items():
        found[own[name]] = _coded(np.zeros(len(numbers)), [text])
    return pa.table(found)


def plain(answer: Answer) -> pa.Table:
    """The same for a notebook: texts as texts, without what is the same in every line, and columns that say nothing."""
    table = arrow(answer).drop_columns([answer.own[name] for name in beside(answer)])
    texts = [pa.types.is_dictionary(field.type) for field in table.schema]
    columns = [one.cast(pa.string()) if text else one for one, text in zip(table.columns, texts, strict=True)]
    found = dict(zip(table.column_names, columns, strict=True))
    silent = [answer.own[name] for name in ("status", "reason") if not any(found[answer.own[name]].to_pylist())]
    return pa.table({name: column for name, column in found.items() if name not in silent})


def _coded(places: NDArray[Any], texts: Sequence[str]) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), pa.array(texts, pa.string()))


def _dictionary(listed: list[str]) -> Any:
    return pa.array(listed, pa.string()).dictionary_encode().cast(pa.dictionary(pa.int32(), pa.string()))

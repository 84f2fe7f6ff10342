"""Parquet: the tidy table with codes and labels as dictionaries, and everything to know of it in the schema."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.serve.downloads.about import facts
from sfumato.serve.downloads.answer import METRICS, Answer, apart
from sfumato.serve.downloads.tidy import beside

KEY = b"sfumato"
"""The key of the schema's metadata under which the facts stand, as JSON."""


class _Sink:
    """What a writer has written and nobody has taken yet."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.length, self.closed = 0, False

    def write(self, part: Any) -> int:
        self.parts.append(bytes(part))
        self.length += len(self.parts[-1])
        return len(self.parts[-1])

    def tell(self) -> int:
        return self.length

    def flush(self) -> None: ...

    def close(self) -> None:
        self.closed = True

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
    """The tidy table; an error that is withheld is null, one without end stays infinite."""
    found: dict[str, Any] = {}
    for place, axis in enumerate(answer.axes):
        at = pa.array(answer.codes(place).astype(np.int32))
        for title, texts in zip(answer.titles[place], (axis.codes, axis.labels), strict=True):
            found[title] = pa.DictionaryArray.from_arrays(at, pa.array(texts, pa.string()))
    names = apart([*METRICS, "grade", "cells", *beside(answer)], list(found))
    numbers = answer.columns
    whole = answer.sheet.product.subject.step.denominator == 1
    found[names["estimate"]] = pa.array(numbers.estimate.tolist(), pa.int64() if whole else pa.float64())
    for name in METRICS[1:]:
        found[names[name]] = pa.array(getattr(numbers, name), pa.float64(), from_pandas=True)
    found[names["grade"]] = _dictionary(numbers.grade.tolist())
    found[names["cells"]] = pa.array(numbers.cells, pa.int64())
    for name, text in beside(answer).items():
        zeros = pa.array(np.zeros(len(numbers), dtype=np.int32))
        found[names[name]] = pa.DictionaryArray.from_arrays(zeros, pa.array([text], pa.string()))
    return pa.table(found)


def _dictionary(listed: list[str]) -> Any:
    return pa.array(listed, pa.string()).dictionary_encode().cast(pa.dictionary(pa.int32(), pa.string()))

"""Frames: pandas, polars and Arrow frames, and the files of Stata, SPSS and SAS, as Arrow tables."""

from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.confidential.engines.request import Wanted
from sfumato.confidential.engines.sources.cluster import in_cluster
from sfumato.errors import DataError


def frame_table(frame: Any, wanted: Wanted) -> tuple[list[str], pa.Table]:
    """The wanted columns of any frame that narwhals accepts, eager or lazy."""
    import narwhals as nw

    if in_cluster(frame):  # narwhals would fetch all of its records
        raise DataError("The table stays in its cluster, and is read there by the engine spark alone.")
    try:
        native = nw.from_native(frame)
    except TypeError:
        raise DataError(
            "The data are neither a path nor a frame; give a file, or a pandas, polars or Arrow frame."
        ) from None
    there = list(native.collect_schema().names())
    named = wanted.of("The frame", there)
    chosen = native.select(named or there[:1])
    collected = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
    return named, _table([_column(collected[name].to_arrow, collected[name].to_list) for name in collected.columns])


def readstat_table(path: Path, reader: str, wanted: Wanted) -> tuple[list[str], pa.Table]:
    """The wanted columns of a Stata, SPSS or SAS file; codes stay codes, labels belong in the levels."""
    _, there = _read_readstat(path, reader, wanted.encoding, metadataonly=True)
    named = wanted.of(path.name, there.column_names)
    some = named or there.column_names[:1]
    content, _ = _read_readstat(path, reader, wanted.encoding, usecols=some)
    kept = [content[name] for name in some]
    return named, _table(
        [_column(lambda one=one: pa.array(one, from_pandas=True), lambda one=one: one) for one in kept]
    )


def readstat_labels(path: Path, reader: str, encoding: str | None) -> dict[str, dict[str, str]]:
    """What a Stata or SPSS file calls the values of each column, by the text that the value is read as."""
    _, there = _read_readstat(path, reader, encoding, metadataonly=True)
    named: dict[str, dict[Any, str]] = there.variable_value_labels
    return {column: {_text(value): label for value, label in own.items() if label} for column, own in named.items()}


def _read_readstat(path: Path, reader: str, encoding: str | None, **asked: Any) -> tuple[dict[str, list[Any]], Any]:
    """Columns as lists, and what the file says of them; told otherwise, pyreadstat makes frames of pandas."""
    import pyreadstat

    said = {"encoding": encoding} if encoding else {}
    content, there = getattr(pyreadstat, reader)(str(path), output_format="dict", **asked, **said)
    return content, there


def _table(arrays: list[Any]) -> pa.Table:
    return pa.table(arrays, names=[f"c{place}" for place in range(len(arrays))])


def _column(as_arrow: Any, as_list: Any) -> Any:
    """The column in the type that Arrow finds for it; one of mixed types becomes text."""
    try:
        return as_arrow()
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        return pa.array(_texts(as_list()), pa.string())


def _texts(values: Iterable[Any]) -> list[str | None]:
    return [None if _is_missing(value) else _text(value) for value in values]


def _is_missing(value: Any) -> bool:
    # NaN and NaT differ from themselves; pandas' NA refuses to say.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)  # noqa: PLR0124


def _text(value: Any) -> str:
    """A value of a mixed column as the same text that its own type would give.

    >>> [_text(value) for value in (True, 7.0, 0.5, Decimal("1.50"), Decimal("100"), "01")]
    ['true', '7', '0.5', '1.5', '100', '01']
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return str(value)

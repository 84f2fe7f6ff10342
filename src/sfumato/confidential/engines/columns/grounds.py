"""Grounds: why data are left to DuckDB, as far as that can be told before they are read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.columns.scan import can_scan
from sfumato.confidential.engines.columns.tally import COUNTED
from sfumato.confidential.engines.engine import Unsure
from sfumato.confidential.engines.request import Reading
from sfumato.schema import LARGEST, Weighted


def is_counted(reading: Reading) -> bool:
    """Whether one dense table is asked whose records need not be held together, nor any of them left out."""
    asked = reading.only
    if asked is None or reading.names or asked.table.size > LARGEST:
        return False
    return all(isinstance(one, (*COUNTED, Weighted)) for one in asked.aggregates)


def compares_rows(sources: Sequence[Any], reading: Reading) -> bool:
    """Whether whole rows of several sources are compared, for which all of them are held."""
    return len(sources) > 1 and not (reading.schema.key or reading.schema.repeated_rows)


def decline(sources: Sequence[Any], partners: Sequence[Any], reading: Reading) -> None:
    """Leave to DuckDB what is not of one pass over columns."""
    schema = reading.schema
    if not all(map(can_scan, (*sources, *partners))):
        raise Unsure("it is faster and reads Parquet files and data frames, which not all of these data are")
    if compares_rows(sources, reading):
        raise Unsure("rows may stand in two sources, and no key tells them apart")
    if not reading.columns:
        raise Unsure("no column is read")
    if schema.joined and reading.weighted:
        raise Unsure("weights are in joined tables")
    plain = reading.weighted == (Weighted(),) and reading.weights and not schema.order
    if reading.weighted and not (plain and is_counted(reading)):
        raise Unsure("weights are summed by queries, but for the weights alone in one table")


@contextmanager
def by_arrow() -> Iterator[None]:
    """What Arrow cannot read, or hold as whole numbers, is left to DuckDB."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = type(error).__name__
    else:
        return
    raise Unsure(f"Arrow does not read the data ({reason})")

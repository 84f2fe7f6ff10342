"""Partner tables: what rows find in other tables, held as the codes of each row there and looked up batch by batch."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.confidential.engines.columns.coded_column import CodedColumn, Integers, whole_numbers
from sfumato.confidential.engines.columns.scan import batches
from sfumato.confidential.engines.engine import Unsure
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.sources.files import place_of
from sfumato.confidential.engines.sources.tables import refuse_misplaced, wanted
from sfumato.schema import Partner

SPREAD = 4
"""How many places a row the range of keys may have for a table of all of them to be made."""


class PartnerTable:
    """The rows of one table, each found by its key: a whole number that stands once, in a range that is not wide."""

    def __init__(self, partner: Partner, sources: Sequence[Any], coded: Sequence[CodedColumn]) -> None:
        self.on = partner.on
        columns = list(dict.fromkeys([partner.on, *(one.column for one in coded)]))
        keys: list[Integers] = []
        for source in sources:
            for batch in batches(source, columns, [one.column for one in coded]):
                keys.append(_keys(batch[partner.on], partner.on))
                for one in coded:
                    one.add(batch[one.column])
        self._codes = [np.concatenate([*one.parts, np.empty(0, one.meaning.dtype)]) for one in coded]
        self._place_all(np.concatenate([*keys, np.empty(0, np.int64)]))

    def _place_all(self, keys: Integers) -> None:
        """A place for every key between the least and the largest, -1 where there is no row."""
        self._least, most = (int(keys.min()), int(keys.max())) if len(keys) else (0, 0)
        if most - self._least >= SPREAD * len(keys) + 1_000:
            raise Unsure(f"keys of column '{self.on}' lie far apart")
        self._places = np.full(most - self._least + 1, -1, dtype=np.int32)
        self._places[keys - self._least] = np.arange(len(keys), dtype=np.int32)
        if np.count_nonzero(self._places >= 0) < len(keys):
            raise Unsure(f"column '{self.on}' has a key twice")

    def _found(self, array: Any) -> Integers:
        """The place of the row that each record finds; all find one."""
        keys = _keys(array, self.on)
        if len(keys) and not self._least <= int(keys.min()) <= int(keys.max()) < self._least + len(self._places):
            raise Unsure("some records find no row in another table")
        places = self._places[keys - self._least]
        if len(places) and int(places.min()) < 0:
            raise Unsure("some records find no row in another table")
        return places

    def look_up(self, columns: Sequence[CodedColumn], array: Any) -> None:
        """Add to columns of the records what each finds here, in the order in which they are held."""
        places = self._found(array)
        for one, codes in zip(columns, self._codes, strict=True):
            one.parts.append(np.take(codes, places))


def _keys(array: Any, column: str) -> Integers:
    if array.null_count or not pa.types.is_integer(array.type):
        raise Unsure(f"column '{column}' has keys that are no whole numbers, or lack")
    return np.asarray(whole_numbers(array), dtype=np.int64)


def held_by(tables: Mapping[str, Sequence[Any]], reading: Reading) -> dict[str, str]:
    """Which table has each column that is read, those that tables are joined by standing in that of the rows."""
    asked = wanted(reading).columns
    there = {name: [column for column in asked if column in _names(own[0])] for name, own in tables.items()}
    refuse_misplaced(there, reading)
    rows = reading.schema.base
    return {column: name for name, own in there.items() for column in own} | dict.fromkeys(there[rows], rows)


def _names(source: Any) -> list[str]:
    """The columns of a Parquet file or a frame."""
    if isinstance(source, (str, Path)):
        from pyarrow.parquet import read_schema

        return list(read_schema(place_of(str(source))[0]).names)
    import narwhals as nw

    return list(nw.from_native(source).collect_schema().names())

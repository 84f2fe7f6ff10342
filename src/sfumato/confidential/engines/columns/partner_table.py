"""Partner tables: what rows find in other tables, held as the codes of each row there and looked up batch by batch."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.confidential.engines.columns.coded_column import CodedColumn, Integers, whole_numbers
from sfumato.confidential.engines.columns.names import PLAIN
from sfumato.confidential.engines.columns.scan import batches, is_text
from sfumato.confidential.engines.engine import Unsure
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.sources.files import place_of
from sfumato.confidential.engines.sources.tables import refuse_misplaced, wanted
from sfumato.schema import Partner

SPREAD = 4
"""How many places a row the range of keys may have for a table of all of them to be made."""
UNFOUND = "some records find no row in another table"


class NumberKeys:
    """Keys that are whole numbers in a range that is not wide: a place for every number, -1 where there is no row."""

    def __init__(self, on: str, keys: Sequence[Any]) -> None:
        self._on = on
        held = np.concatenate([*(self._numbers(one) for one in keys), np.empty(0, np.int64)])
        self._least, most = (int(held.min()), int(held.max())) if len(held) else (0, 0)
        if most - self._least >= SPREAD * len(held) + 1_000:
            raise Unsure(f"keys of column '{on}' lie far apart")
        self._places = np.full(most - self._least + 1, -1, dtype=np.int32)
        self._places[held - self._least] = np.arange(len(held), dtype=np.int32)
        if np.count_nonzero(self._places >= 0) < len(held):
            raise Unsure(f"column '{on}' has a key twice")

    def _numbers(self, array: Any) -> Integers:
        if array.null_count or not pa.types.is_integer(array.type):
            raise Unsure(f"column '{self._on}' has keys that lack, or are of several types")
        return np.asarray(whole_numbers(array), dtype=np.int64)

    def found(self, array: Any) -> Integers:
        """The place of the row that each record finds; all find one."""
        keys = self._numbers(array)
        if len(keys) and not self._least <= int(keys.min()) <= int(keys.max()) < self._least + len(self._places):
            raise Unsure(UNFOUND)
        places = self._places[keys - self._least]
        if len(places) and int(places.min()) < 0:
            raise Unsure(UNFOUND)
        return places


class TextKeys:
    """Keys that are texts of which none is a spelling of another; those of all rows are looked up at once.

    A table of the keys is made for every look-up, so that one for all rows costs least.
    """

    def __init__(self, on: str, keys: Sequence[Any], rows: Sequence[Any]) -> None:
        import pyarrow.compute as pc

        listed = self._texts(on, keys)
        if not pc.all(pc.match_substring_regex(listed, PLAIN), min_count=0).as_py():
            raise Unsure(f"column '{on}' has keys that may be spellings of one another")
        if pc.count_distinct(listed).as_py() < len(listed):
            raise Unsure(f"column '{on}' has a key twice")
        asked = [batch[on] for source in rows for batch in batches(source, [on], [])]
        places = pc.index_in(self._texts(on, asked), value_set=listed)
        if places.null_count:
            raise Unsure(UNFOUND)
        self._places, self._at = np.asarray(places.to_numpy(), dtype=np.int32), 0

    @staticmethod
    def _texts(on: str, arrays: Sequence[Any]) -> Any:
        if any(one.null_count or not is_text(one.type) for one in arrays):
            raise Unsure(f"column '{on}' has keys that lack, or are of several types")
        return pa.chunked_array([one.cast(pa.string()) for one in arrays], pa.string()).combine_chunks()

    def found(self, array: Any) -> Integers:
        """The place of the row that each record of the next batch finds."""
        here = slice(self._at, self._at + len(array))
        self._at = here.stop
        return self._places[here]


class PartnerTable:
    """The rows of one table, each found by its key."""

    def __init__(
        self, partner: Partner, sources: Sequence[Any], coded: Sequence[CodedColumn], rows: Sequence[Any]
    ) -> None:
        self.on, keys = partner.on, list[Any]()
        columns = list(dict.fromkeys([partner.on, *(one.column for one in coded)]))
        for source in sources:
            for batch in batches(source, columns, [one.column for one in coded]):
                keys.append(batch[partner.on])
                for one in coded:
                    one.add(batch[one.column])
        self._codes = [np.concatenate([*one.parts, np.empty(0, one.meaning.dtype)]) for one in coded]
        texts = bool(keys) and is_text(keys[0].type)
        self._keys = TextKeys(self.on, keys, rows) if texts else NumberKeys(self.on, keys)

    def look_up(self, columns: Sequence[CodedColumn], array: Any) -> None:
        """Add to columns of the records what each finds here, in the order in which they are held."""
        places = self._keys.found(array)
        for one, codes in zip(columns, self._codes, strict=True):
            one.parts.append(np.take(codes, places))


Partners = dict[PartnerTable, list[CodedColumn]]
"""The tables that rows are looked up in, and the columns of the records that are found in each."""


def partners_of(
    tables: Mapping[str, Sequence[Any]], reading: Reading, coded: Sequence[CodedColumn], kernel: Any
) -> tuple[Partners, list[str]]:
    """The tables that rows are looked up in, with what is found in each; and the columns of the rows themselves."""
    schema, found = reading.schema, Partners()
    if not schema.joined:
        return found, reading.columns
    table, rows = _held_by(tables, reading), tables[schema.base]
    for partner in schema.joined:
        own = [one for one in coded if table[one.column] == partner.name]
        held = [CodedColumn(one.column, one.meaning, kernel) for one in own]
        found[PartnerTable(partner, tables[partner.name], held, rows)] = own
    columns = [column for column in reading.columns if table[column] == schema.base]
    if any(name not in columns for name in (*reading.names, *schema.key)):
        raise Unsure("units are named in another table")
    return found, list(dict.fromkeys([*columns, *(partner.on for partner in schema.joined)]))


def _held_by(tables: Mapping[str, Sequence[Any]], reading: Reading) -> dict[str, str]:
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

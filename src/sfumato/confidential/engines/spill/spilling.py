"""Spilling: all records read once and put into the parts of every parting that a reading takes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.confidential.engines.columns.scan import can_scan, rows_of
from sfumato.confidential.engines.engine import Engine, Sources
from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.request import Reading, TableRequest
from sfumato.confidential.engines.sources.files import file_of
from sfumato.confidential.engines.spill.alike import Hashes, alike, are_plain
from sfumato.confidential.engines.spill.folder import SpillFolder
from sfumato.confidential.engines.spill.parted import PartedRecords, parts_for
from sfumato.confidential.engines.spill.partings import Parting, of_spellings
from sfumato.confidential.engines.spill.stream import streamed
from sfumato.confidential.sealed import Sealed
from sfumato.errors import DataError
from sfumato.schema import Box, Table
from sfumato.schema.memory import PER_PARTED, available

OpenPart = Callable[[Sources, Reading], Engine]
"""Which engine reads the records of a part."""
A_LINE = 16
"""Bytes of a record in a text file, at least about, where it does not say how many it has."""
UNTOLD = 2**28
"""How many records are taken to be where nothing tells."""


@dataclass(frozen=True, eq=False, repr=False)
class SpilledParts(Sealed):
    """The parts of one parting."""

    parting: Parting
    records: PartedRecords

    def asked_of(self, reading: Reading) -> list[TableRequest]:
        """The tables of a reading as far as they are made of these parts; of a register, its reports."""
        tables = [TableRequest(Table(()), reading.aggregates, Box())] if reading.register else reading.tables
        asked = [self.parting.of_request(one) for one in tables]
        return [one for one in asked if one.aggregates]

    def engines(self, open_part: OpenPart) -> Iterator[Engine]:
        """An engine for every part, closed before the next is opened."""
        for tables in self.records:
            with closing(open_part(tables, self.parting.reading)) as engine:
                del tables  # the engine has of it what it needs
                yield engine


class Spilling(Sealed):
    """The records of a database in parts, how many there are, and how many every source has."""

    def __init__(self, database: Database, folder: SpillFolder, partings: Sequence[Parting]) -> None:
        self._database, self._folder, self._undone = database, folder, ExitStack()
        self._expected = sum(map(_expected, database.sources))
        self.by_source = np.zeros(len(database.sources), dtype=np.int64)
        self._unplain: set[str] = set()
        with ExitStack() as undone:
            undone.callback(self.close)
            self.parts = [self._new(one) for one in partings]
            self._spill()
            undone.pop_all()

    @property
    def rows(self) -> int:
        return int(self.by_source.sum())

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(one.records.size for one in self.parts)

    @property
    def parts_of_records(self) -> int:
        """In how many parts records are, at most."""
        return max((one.records.parts for one in self.parts), default=0)

    @property
    def empty(self) -> list[int]:
        """The numbers of those of several sources that hold no rows."""
        return [number for number, rows in enumerate(self.by_source) if not rows and len(self.by_source) > 1]

    def close(self) -> None:
        self._undone.close()

    def _new(self, parting: Parting) -> SpilledParts:
        records = PartedRecords(self._folder, parts_for(self._expected), _hashes_of(parting))
        return SpilledParts(parting, self._undone.enter_context(closing(records)))

    def _spill(self) -> None:
        names = [name for name in self._database.reading.schema.key if not self._is_alone(name)]
        columns = list(dict.fromkeys(column for one in self.parts for column in one.parting.columns))
        self._fill(self.parts, columns or self._database.reading.columns[:1], names)
        spelt = [self._new(of_spellings(self._database.reading, name)) for name in sorted(self._unplain)]
        if spelt:
            self._fill(spelt, [one.parting.by[0] for one in spelt], ())
        self.parts += spelt

    def _is_alone(self, name: str) -> bool:
        """Whether the parts of a parting hold all spellings of a name together."""
        return any(one.parting.by == (name,) for one in self.parts)

    def _fill(self, parts: Sequence[SpilledParts], columns: Sequence[str], names: Sequence[str]) -> None:
        self.by_source[:] = 0
        for source, batch in streamed(self._database, columns):
            self.by_source[source] += len(batch)
            self._unplain |= {name for name in names if name not in self._unplain and not are_plain(batch[name])}
            for one in parts:
                one.records.add(batch.select(one.parting.columns))
        for one in parts:
            one.records.flush()
            _refuse_crowded(one)


def _refuse_crowded(parts: SpilledParts) -> None:
    """Stop where the records of one unit, or of few, are more than memory holds."""
    if int(parts.records.rows.max(initial=0)) * PER_PARTED > available():
        raise DataError(
            f"So many records have the same {' and '.join(parts.parting.by)} that they do not fit in memory together, "
            "and those of one are not told apart; nothing was charged. Use a larger machine."
        )


def _hashes_of(parting: Parting) -> Callable[[Any], Hashes]:
    """The hashes by which records are put into parts: of their names, or by turns where none matters."""
    if parting.by:
        return lambda batch: alike([batch[name] for name in parting.by])
    return lambda batch: np.arange(len(batch), dtype=np.uint64) << np.uint64(20)


def _expected(source: Any) -> int:
    """How many records a source has, as it says, or as its size tells about."""
    if can_scan(source):
        return rows_of(source)
    path = file_of(source)
    if path is None:
        return UNTOLD
    packed = path.name.lower().endswith(".gz")
    return path.stat().st_size * (8 if packed else 1) // A_LINE

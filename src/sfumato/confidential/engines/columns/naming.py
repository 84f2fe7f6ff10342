"""Naming: what is asked of the names of units and records; all of them held, or read in turns where they are many."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.engines.columns.names import Content, Integers, Names, refuse_repeats
from sfumato.confidential.engines.columns.names_in_turns import NamesInTurns
from sfumato.confidential.engines.columns.sieve import FULL
from sfumato.confidential.engines.request import Reading
from sfumato.schema.memory import NAMES_AT_ONCE

Mask = NDArray[np.bool_]


class Naming(Protocol):
    """That a key stands once, and no unit in more records than are kept of it; who the unit of a record is."""

    columns: Sequence[str]
    """Those of a record that are read at first."""

    def add(self, batch: Mapping[str, Any]) -> None:
        """The next batch of records."""

    def kept(self, content: Content, salt: bytes) -> Mask | None:
        """Which records are kept, where some are not; a key that stands twice is left to DuckDB."""

    def units(self, per: str | None) -> Names:
        """The names of an aggregate's units, of the records that are kept."""


def naming(reading: Reading, sources: Sequence[Any], columns: Sequence[str], records: int) -> Naming:
    """How the names among the columns of records are held."""
    if records > NAMES_AT_ONCE and can_take_turns(reading, sources):
        return SiftedNames(reading, [column for column in columns if column in reading.said], sources)
    return HeldNames(reading, columns)


def can_take_turns(reading: Reading, sources: Sequence[Any]) -> bool:
    """Whether names need not all be held: they are of files, and it is only asked which of them stand too often."""
    named, cut = {*reading.names, *reading.schema.key}, reading.truncation
    told_apart = reading.register is not None or any(one.names for one in reading.aggregates)
    if not named or told_apart or (cut is not None and cut.at_most >= FULL):
        return False
    return bool(reading.said) and all(isinstance(one, (str, Path)) for one in sources)


class HeldNames:
    """All names, each known for every record."""

    def __init__(self, reading: Reading, columns: Sequence[str]) -> None:
        self._reading, self.columns = reading, columns
        self._names = {column: Names(column) for column in reading.names}
        self._key = [Names(column) for column in reading.schema.key]

    def add(self, batch: Mapping[str, Any]) -> None:
        for name in (*self._names.values(), *self._key):
            name.add(batch[name.column])

    def kept(self, content: Content, salt: bytes) -> Mask | None:
        refuse_repeats(self._key)
        mask, cut = None, self._reading.truncation
        if cut:
            others = [name for column, name in self._names.items() if column != cut.column]
            mask = self._names[cut.column].kept(cut.at_most, salt, content, others)
        for name in self._names.values():
            _ = name.codes  # names that may be spellings of one another are declined
            if mask is not None:
                name.keep(mask)
        return mask

    def units(self, per: str | None) -> Names:
        return self._names[self._reading.named(per)]


class SiftedNames:
    """Names of more records than are held at once, in files that are read again for them."""

    def __init__(self, reading: Reading, columns: Sequence[str], sources: Sequence[Any]) -> None:
        self._reading, self.columns, self._sources, self._records = reading, columns, sources, 0

    def add(self, batch: Mapping[str, Any]) -> None:
        self._records += len(next(iter(batch.values())))

    def kept(self, content: Content, salt: bytes) -> Mask | None:
        if key := self._reading.schema.key:
            for _, names in NamesInTurns(self._sources, key, self._records, 1):
                refuse_repeats(names)
        cut = self._reading.truncation
        return None if cut is None else self._of_units(cut.column, cut.at_most, content, salt)

    def _of_units(self, column: str, at_most: int, content: Content, salt: bytes) -> Mask | None:
        mask = np.ones(self._records, dtype=bool)
        for rows, (units,) in NamesInTurns(self._sources, [column], self._records, at_most):

            def said(some: Integers, rows: Integers = rows) -> Sequence[NDArray[Any]]:
                return content(rows[some])

            kept = units.kept(at_most, salt, said, ())
            mask[rows] = True if kept is None else kept
        return None if mask.all() else mask

    def units(self, per: str | None) -> Names:
        raise LookupError(f"Units of {per or 'the plan'} are told apart, and their names were not held.")

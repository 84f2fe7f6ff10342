"""Names in turns: what stands too often among names of more records than are held at once, read as often as it takes.

A first reading counts all names in a sieve, where few records are in most buckets. Those of crowded buckets are read
again, as many at once as are held, all records of a name together: what is found is what would be found among all.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.columns.names import Names, refuse_unplain
from sfumato.confidential.engines.columns.scan import batches
from sfumato.confidential.engines.columns.sieve import Sieve, hashed
from sfumato.schema.memory import NAMES_AT_ONCE

APART = np.uint64(40)
"""The bits of a hash by which names have their turns; buckets go by the others."""
Turn = tuple[NDArray[np.int64], list[Names]]
"""Some records by their number among all, and their names in each column."""


class NamesInTurns:
    """The names in some columns of files, taken together, that may stand in more records than so many."""

    def __init__(self, sources: Sequence[Any], columns: Sequence[str], records: int, at_most: int) -> None:
        self._sources, self._columns, self._at_most = sources, list(columns), at_most
        self._sieve = Sieve(records)
        for _, names in self._read():
            for one in names:
                refuse_unplain(one.column, one.written)
            self._sieve.add(hashed([one.written for one in names]))

    def __iter__(self) -> Iterator[Turn]:
        """The records of crowded names, a turn after another; those of a name are in one."""
        turns = -(-self._sieve.records(self._at_most) // NAMES_AT_ONCE)
        for turn in range(turns):
            yield self._turn(turn, turns)

    def _turn(self, turn: int, turns: int) -> Turn:
        rows, held = [np.empty(0, dtype=np.int64)], [Names(column) for column in self._columns]
        for start, names in self._read():
            hashes = hashed([one.written for one in names])
            chosen = self._sieve.crowded(hashes, self._at_most) & ((hashes >> APART) % np.uint64(turns) == turn)
            rows.append(start + np.flatnonzero(chosen))
            for one, all_ in zip(held, names, strict=True):
                one.add(all_.written.filter(chosen))
        return np.concatenate(rows), held

    def _read(self) -> Iterator[tuple[int, list[Names]]]:
        """The names of every batch, and how many records stand before it."""
        start, kinds = 0, [Names(column) for column in self._columns]
        for source in self._sources:
            for batch in batches(source, self._columns, ()):
                names = [Names(column) for column in self._columns]
                for one, kind in zip(names, kinds, strict=True):
                    one.add(batch[one.column])
                    # Declined where an earlier batch was of another type; a slice of it would hold all of it.
                    kind.add(pa.nulls(0, batch[one.column].type))
                yield start, names
                start += len(batch[self._columns[0]])

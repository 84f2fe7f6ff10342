"""Parted records: some columns of all records in parts by a hash, sealed on disk; those of one part fit in memory."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.spill.folder import SpillFolder
from sfumato.confidential.engines.spill.sealed_chunks import SealedChunks
from sfumato.confidential.sealed import Sealed
from sfumato.schema.memory import GATHERED, IN_A_PART, MOST_PARTS

Hashes = NDArray[np.uint64]
APART = np.uint64(20)
"""The bits of a hash that parts do not go by."""


def parts_for(records: int) -> int:
    """How many parts so many records are put in, about.

    >>> parts_for(10), parts_for(100_000_000)
    (1, 96)
    """
    return min(max(-(-records // IN_A_PART), 1), MOST_PARTS)


class PartedRecords(Sealed):
    """Records in parts, those of one hash together; each as its source has them, in Arrow's types."""

    def __init__(self, folder: SpillFolder, parts: int, hashes: Callable[[Any], Hashes]) -> None:
        self._chunks, self._hashes, self.parts = SealedChunks(folder), hashes, parts
        self._kinds: list[pa.Schema] = []
        self._of_chunk: dict[int, list[int]] = {}
        self.rows = np.zeros(parts, dtype=np.int64)
        self._waiting: list[Any] = []

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self._chunks.size

    def add(self, batch: Any) -> None:
        """The next batch; those that wait are written where they are many, or of another kind."""
        if self._waiting and (
            self._waiting[0].schema != batch.schema or sum(map(len, self._waiting)) + len(batch) > GATHERED
        ):
            self.flush()
        self._waiting.append(batch)

    def flush(self) -> None:
        """Write what waits, a chunk for every part that has some."""
        if not self._waiting:
            return
        batch = pa.concat_batches(self._waiting)
        self._waiting = []
        if batch.schema not in self._kinds:
            self._kinds.append(batch.schema)
        kind = self._kinds.index(batch.schema)
        part = ((self._hashes(batch) >> APART) % np.uint64(self.parts)).astype(np.uint16)
        order = np.argsort(part, kind="stable")
        lengths = np.bincount(part, minlength=self.parts)
        sorted_, starts = batch.take(pa.array(order)), np.cumsum(lengths) - lengths
        for place in np.flatnonzero(lengths).tolist():
            own = sorted_.slice(int(starts[place]), int(lengths[place]))
            self._chunks.add(place, own.serialize())
            self._of_chunk.setdefault(place, []).append(kind)
        self.rows += lengths

    def of(self, part: int) -> list[Any]:
        """The records of a part: a table for every kind of columns that sources have."""
        found: dict[int, list[Any]] = {}
        for kind, content in zip(self._of_chunk.get(part, ()), self._chunks.of(part), strict=True):
            batch = pa.ipc.read_record_batch(pa.py_buffer(content), self._kinds[kind])
            found.setdefault(kind, []).append(batch)
        return [pa.Table.from_batches(own) for _, own in sorted(found.items())]

    def __iter__(self) -> Iterator[list[Any]]:
        """The parts that hold records, one after another."""
        return (self.of(part) for part in np.flatnonzero(self.rows).tolist())

    def close(self) -> None:
        self._chunks.close()

"""Pieces of the stream, a batch at a time, in memory that stays in the cache: each is a lead and a position."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.draws.stream import Draws
from sfumato.kernels.choose import loops
from sfumato.kernels.draws import Leads, Levels, Opened, Rest

BATCH = 1 << 17


@dataclass(frozen=True)
class Desk:
    """Warm memory for a batch of pieces of so many bits, each in as few bytes as hold them, and for what they open."""

    piece_bits: int
    words: NDArray[np.uint64]
    further: NDArray[np.uint64]
    opened: Opened

    @classmethod
    def of(cls, piece_bits: int, most: int) -> "Desk":
        # A piece is read as eight bytes, the last one past the end of what was drawn.
        batch = min(BATCH, most)
        words = np.zeros(-(-batch * -(-piece_bits // 8) // 8) + 1, dtype=np.uint64)
        further, pieces = np.empty((2, batch), dtype=np.uint64)
        return cls(piece_bits, words, further, Opened(np.empty(batch, dtype=np.int32), pieces))

    def look_up(self, leads: Leads, levels: Levels, bits: int, noise: NDArray[np.int64], draws: Draws) -> Rest:
        """Put the number that each new piece says in its place, a batch at a time; return what is not taken."""
        batches = []
        for start in range(0, len(noise), BATCH):
            batch = noise[start : start + BATCH]
            count = loops("draws").look_up(self._read(len(batch), draws), leads, bits, batch, self.opened)
            opened, further = Opened(self.opened.places[:count], self.opened.pieces[:count]), self.further[:count]
            draws.fill(further)
            rest = loops("draws").weigh(opened, further, leads, levels, bits, batch)
            batches.append(rest._replace(places=rest.places + start))
        return Rest(*map(np.concatenate, zip(*batches, strict=True)))

    def _read(self, n: int, draws: Draws) -> NDArray[np.uint64]:
        """The next n pieces of the stream: each begins where the bytes of the one before end."""
        size = -(-self.piece_bits // 8)
        draws.fill(self.words[: -(-n * size // 8)])
        stream = self.words.astype("<u8", copy=False)
        return np.ndarray((n,), dtype="<u8", buffer=stream.data, strides=(size,))

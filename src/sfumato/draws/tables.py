"""Exact draws by table: one byte, or two, settles most numbers, and the thresholds settle the rest.

The proof is that of `sampler`, with U read in smaller pieces. A lead is the first 8 or 16 bits drawn for a number: its
lowest bit is the sign of a symmetric law, and its other b bits, the cell c, say that U lies in [c, c + 1) / 2^b.
The table holds the number of each cell in which every U gives the same count. Any other number draws a word of its own,
whose upper bits follow the cell as the next bits of U, up to a prefix of 63, and is settled by the thresholds or, where
these leave it open, in integers with further bits. So a number is again the count for the whole endless U. Bits that
are not used are dropped, never read for another number. Whether numbers are read by lead depends on the law and on how
many are asked for, never on what they come out as.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from sfumato.draws.sampler import Invertible, by_words, settle, signed, thresholds
from sfumato.draws.stream import Draws
from sfumato.kernels.draws import PREFIX_BITS, UNSETTLED, Grid

MANY = 1 << 16  # fewer draws do not pay for a table
WORTH_LOADING = 50_000_000  # fewer draws do not pay for loading numba, a second or more where the plain loops take half
_PER_SCALE = 8  # a law has some 7 to 25 thresholds for each unit of its scale
_WIDEST = 2.0**17
_MOST_CELL_BITS = 20
BATCH = 1 << 17  # leads that stay in the cache
_OPEN = {8: 1 / 16, 16: 1 / 2}  # how many of the leads may be open; then the next table is faster, or none at all


@dataclass(frozen=True, eq=False)
class Table:
    """The thresholds of a law, and the number that each lead settles."""

    law: Invertible
    cell_bits: int
    sign_bits: int
    grid: Grid
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, law: Invertible, bits: int, *, two_sided: bool) -> Table:
        edges, cell_bits = thresholds(law), bits - two_sided
        shift = PREFIX_BITS - cell_bits
        starts = np.arange(1 << cell_bits, dtype=np.int64) << shift
        first = np.searchsorted(edges, starts, side="right")
        last = np.searchsorted(edges, starts + ((1 << shift) - 1), side="right")
        counts = (len(edges) - last) // 2
        numbers = np.column_stack((counts, -counts)) if two_sided else counts[:, None]
        certain = (first == last) & (last % 2 == 0) & (last > 0)
        leads: NDArray[np.int32] = np.where(certain[:, None], numbers, UNSETTLED).ravel().astype(np.int32)
        return cls(law, cell_bits, int(two_sided), grid_of(edges), leads)

    @property
    def open(self) -> float:
        """The share of leads that leave the number open."""
        return float(np.mean(self.numbers == UNSETTLED))

    def fill(self, noise: NDArray[np.int64], draws: Draws) -> None:
        """Put an independent draw in every place."""
        places = np.empty(min(BATCH, len(noise)), dtype=np.int32)
        for start in range(0, len(noise), BATCH):
            self._fill(noise[start : start + BATCH], places, draws)

    def _fill(self, noise: NDArray[np.int64], places: NDArray[np.int32], draws: Draws) -> None:
        size = (self.cell_bits + self.sign_bits) // 8
        words = draws.words(-(-len(noise) * size // 8))
        leads = words.astype("<u8", copy=False).view(f"<u{size}")[: len(noise)]
        kernel = loops()
        unsettled = places[: kernel.look_up(leads, self.numbers, noise, places)]
        further = draws.words(len(unsettled))
        prefixes = kernel.extend(leads, unsettled, further, self.cell_bits, self.sign_bits)
        kernel.put(self.counted(prefixes, draws), leads, unsettled, self.sign_bits, noise)

    def counted(self, prefixes: NDArray[np.int64], draws: Draws) -> NDArray[np.int64]:
        """Return #{m >= 1: U < S(m)} for each U that begins so."""
        counts: NDArray[np.int64]
        counts, unsure = loops().search(prefixes, self.grid)
        settle(self.law, prefixes, counts, unsure, draws)
        return counts


def grid_of(edges: NDArray[np.int64]) -> Grid:
    """The edges with about a quarter as many thresholds as cells, so that most cells have one at most."""
    cell_bits = min(_MOST_CELL_BITS, max(8, (2 * len(edges) - 1).bit_length()))
    shift = PREFIX_BITS - cell_bits
    starts = np.arange(1 << cell_bits, dtype=np.int64) << shift
    first = np.append(np.searchsorted(edges, starts, side="right"), len(edges))
    return Grid(edges, first.astype(np.int32), shift)


def sample(law: Invertible, n: int, draws: Draws) -> NDArray[np.int64]:
    """Return n independent draws from the symmetric law, the fastest way there is for so many."""
    if n < max(MANY, _PER_SCALE * law.scale) or law.scale > _WIDEST:
        return by_words(law, n, draws)
    if n >= WORTH_LOADING:
        _compiled()
    noise, table = np.empty(n, dtype=np.int64), table_of(law, two_sided=True)
    if table.open <= _OPEN[16]:
        table.fill(noise, draws)
        return noise
    for start in range(0, n, BATCH):
        words = draws.words(min(BATCH, n - start))
        noise[start : start + BATCH] = signed(table.counted((words >> np.uint64(1)).view(np.int64), draws), words)
    return noise


@lru_cache(maxsize=8)
def table_of(law: Invertible, *, two_sided: bool) -> Table:
    """The table by bytes where few of them leave a number open, else the one by pairs of bytes."""
    by_bytes = Table.of(law, 8, two_sided=two_sided)
    return by_bytes if by_bytes.open <= _OPEN[8] else Table.of(law, 16, two_sided=two_sided)


def loops() -> ModuleType:
    """The compiled loops where numba is loaded already, else the plain ones, which give the same numbers."""
    return _compiled() if sys.modules.get("numba") else import_module("sfumato.kernels.draws")


@cache
def _compiled() -> ModuleType:
    """The compiled loops where numba is installed and finds a place to keep them, else the plain ones."""
    try:
        return import_module("sfumato.kernels.draws_compiled")
    except (ImportError, RuntimeError):
        return import_module("sfumato.kernels.draws")

"""Look up and scatter, in plain numpy: raw values become codes, codes become keys of cells, keys are counted."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer]
Cells = NDArray[np.int64]


def look(values: Integers, low: int, table: Integers, lacking: int, out: Integers) -> bool:
    """Put `table[value - low]` in `out`; whether every value is in the table and none of them lacks a meaning."""
    if not len(values):
        return True
    if int(values.min()) < low or int(values.max()) >= low + len(table):
        return False
    places = np.subtract(values, low, dtype=np.int64) if low else values
    np.take(table, places, out=out, mode="clip")
    return not bool((out == lacking).any())


def extend(keys: Integers, length: int, codes: Integers) -> None:
    """One attribute more: a key of mixed radix, the last attribute running fastest."""
    keys *= length
    keys += codes


def count(cells: Cells, keys: Integers) -> None:
    """Add 1 to the cell of every key."""
    if len(cells) > 4 * len(keys):
        np.add.at(cells, keys, 1)
    else:
        cells += np.bincount(keys, minlength=len(cells))


def total(cells: Cells, keys: Integers, values: Cells) -> None:
    """Add every value to the cell of its key."""
    np.add.at(cells, keys, values)

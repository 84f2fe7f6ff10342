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


def shift(values: Integers, low: int, high: int, by: int, out: Integers) -> bool:
    """Put `value + by` in `out`; whether every value is from `low` to `high`."""
    if not len(values):
        return True
    if int(values.min()) < low or int(values.max()) > high:
        return False
    np.add(values, by, out=out, dtype=np.int64, casting="unsafe")
    return True


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


def total(cells: Cells, keys: Integers, values: Integers) -> None:
    """Add every value to the cell of its key."""
    np.add.at(cells, keys, values.astype(np.int64, copy=False))


def ordered(keys: Integers, order: Integers, bits: int) -> tuple[Integers, Integers]:  # noqa: ARG001 - compiled loops need it
    """Keys of so many bits in rising order and, moved with them, what stands beside each; `keys` is no longer held."""
    if not len(order):
        keys.sort()
        return keys, order
    found = np.argsort(keys, kind="stable")
    return keys[found], order[found]


def runs(ordered: Integers) -> tuple[Integers, Cells, Cells]:
    """The different keys of a rising array, where each first stands, and how often."""
    new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    first = np.flatnonzero(new)
    return ordered[first], first, np.diff(first, append=len(ordered))

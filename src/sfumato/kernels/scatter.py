"""Look up and scatter, in plain numpy: raw values become codes, codes become keys of cells, keys are counted."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer]
Cells = NDArray[np.int64]
BUCKET = 2**16
"""The neighbouring cells that are counted together: 512 KB of counts, which a core's own cache holds."""


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


def part(keys: Integers, ends: NDArray[np.int32], low: NDArray[np.uint16]) -> None:
    """Put the low 16 bits of every key in `low`, bucket after bucket; bucket b is from `ends[b]` to `ends[b + 1]`."""
    bucket = (keys // BUCKET).astype(np.uint16)
    low[: len(keys)] = keys[np.argsort(bucket, kind="stable")] % BUCKET
    ends[1:] = np.cumsum(np.bincount(bucket, minlength=len(ends) - 1))


def fill(cells: Cells, starts: Cells, ends: NDArray[np.int32], low: NDArray[np.uint16]) -> None:
    """Add 1 to the cell of every key, bucket by bucket; batch j of the keys was parted to `low` from `starts[j]`."""
    for bucket in range(ends.shape[1] - 1):
        first, last = starts[: len(ends)] + ends[:, bucket], starts[: len(ends)] + ends[:, bucket + 1]
        places = np.concatenate([low[:0], *(low[one:other] for one, other in zip(first, last, strict=True))])
        here = cells[bucket * BUCKET : (bucket + 1) * BUCKET]
        here += np.bincount(places, minlength=len(here))


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

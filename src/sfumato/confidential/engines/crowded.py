"""Crowded: which rows of a unit with too many are kept; a keyed digest of what a row says, the same in every engine.

A row of a crowded unit is the text of the salt, the unit and the row's content, joined by a unit separator: the numbers
of its leaves in the order of the attributes that are read, those at a depth last, then values in steps, then the names
of other units. Of each unit the rows with the least SHA-256 of that text are kept, by its first 16 bytes. So what a
unit keeps depends on its own rows and the salt alone, in whatever order and files they stand, and rows of one digest
say the same, so that it does not matter which is kept.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

SEPARATOR = "\x1f"
CHUNK = 2**20
"""Rows whose texts are held at once; they take ten times what is kept of them."""


def kept(units: NDArray[np.int64], names: Any, content: Sequence[Any], at_most: int, salt: bytes) -> NDArray[np.bool_]:
    """Which rows of crowded units are kept: a number and a name for the unit of each, and columns of their content.

    >>> shops = np.array([0, 0, 0, 1])
    >>> kept(shops, pa.array(["a", "a", "a", "b"]), [pa.array([7, 8, 9, 7])], 2, b"salt").tolist()
    [False, True, True, True]
    """
    said = [pa.array(one) for one in (names, *content)]
    digests = [_digests([one[at : at + CHUNK] for one in said], salt) for at in range(0, len(units), CHUNK)]
    high, low = np.concatenate([np.empty((0, 2), dtype=np.uint64), *digests]).T
    order = np.lexsort((low, high, units))
    ordered = units[order]
    turn = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    mask = np.zeros(len(order), dtype=bool)
    mask[order[turn < at_most]] = True
    return mask


def _digests(said: Sequence[Any], salt: bytes) -> NDArray[np.uint64]:
    """The first 16 bytes of every row's digest, as two numbers."""
    import pyarrow.compute as pc

    columns = [salt.hex(), *(one.cast(pa.string()) for one in said)]
    texts = pc.binary_join_element_wise(*columns, SEPARATOR).cast(pa.binary()).to_pylist()
    return (
        np.frombuffer(b"".join([sha256(text).digest() for text in texts]), dtype=">u8")
        .reshape(-1, 4)[:, :2]
        .astype(np.uint64)
    )

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


def kept(units: NDArray[np.int64], names: Any, content: Sequence[Any], at_most: int, salt: bytes) -> NDArray[np.bool_]:
    """Which rows of crowded units are kept: a number and a name for the unit of each, and columns of their content.

    >>> shops = np.array([0, 0, 0, 1])
    >>> kept(shops, pa.array(["a", "a", "a", "b"]), [pa.array([7, 8, 9, 7])], 2, b"salt").tolist()
    [False, True, True, True]
    """
    import pyarrow.compute as pc

    columns = [pa.scalar(salt.hex()), *(pa.array(one).cast(pa.string()) for one in (names, *content))]
    texts = pc.binary_join_element_wise(*columns, SEPARATOR)
    digests = b"".join([sha256(text).digest() for text in texts.cast(pa.binary()).to_pylist()])
    high, low = np.frombuffer(digests, dtype=">u8").reshape(-1, 4)[:, :2].T
    order = np.lexsort((low, high, units))
    ordered = units[order]
    turn = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    mask = np.zeros(len(order), dtype=bool)
    mask[order[turn < at_most]] = True
    return mask

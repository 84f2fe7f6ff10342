"""Texts as Arrow holds them; its own `array` would load pandas first, which takes longer than a whole release."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa


def texts(values: Sequence[str | None]) -> pa.Array:
    """A column of texts, some of which may lack.

    >>> texts(["Zürich", None, ""]).to_pylist()
    ['Zürich', None, '']
    """
    written = [b"" if value is None else value.encode() for value in values]
    ends = np.cumsum([0, *map(len, written)], dtype=np.int32)
    there = np.packbits(np.array([value is not None for value in values], dtype=bool), bitorder="little")
    return pa.StringArray.from_buffers(len(written), *map(pa.py_buffer, (ends, b"".join(written), there)))

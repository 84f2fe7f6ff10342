"""Withheld cells: the file of linked tables, one row a cell that is withheld or not 0, and whether its totals agree."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sfumato.release.bounded_file import CODES, STEPS, bounded_file, whole
from sfumato.release.noisy import Integers
from sfumato.release.parquet import texts
from sfumato.schema import CellKeys
from sfumato.schema.cell_keys import Keys
from sfumato.schema.nodes import Nodes

Withheld = NDArray[np.bool_]
_PIECE = 1 << 20


def write_linked(path: Path, linked: CellKeys, keys: Keys, values: Integers, withheld: Withheld) -> None:
    """Write the code of every attribute, none where it is counted whole, and the number, none where it is withheld."""
    columns = {one.attribute.name: _coded(one, at) for one, at in zip(linked.nodes, linked.of(keys), strict=True)}
    columns["value"] = _masked(np.where(withheld, 0, values).astype(np.int64), ~withheld, pa.int64())
    pq.write_table(pa.table(columns), path, compression="zstd", write_statistics=False)


def _coded(nodes: Nodes, at: NDArray[np.intp]) -> pa.Array:
    codes = texts([code or "" for code in nodes.codes[1:]])
    return pa.DictionaryArray.from_arrays(_masked(np.maximum(at - 1, 0).astype(np.int32), at > 0, pa.int32()), codes)


def _masked(values: NDArray[np.integer], there: Withheld, kind: pa.DataType) -> pa.Array:
    """Numbers of which some are missing; `pa.array` would load pandas first, which takes longer than the writing."""
    held = np.packbits(there, bitorder="little")
    return pa.Array.from_buffers(kind, len(values), [pa.py_buffer(held), pa.py_buffer(values)])


def read_linked(path: Path, linked: CellKeys) -> tuple[Keys, Integers, Withheld]:
    """The keys of the cells that are listed, their numbers, 0 of those that are withheld, and which these are."""
    names = [one.attribute.name for one in linked.nodes]
    most = max((sum(4 + len((code or "").encode()) for code in one.codes) for one in linked.nodes), default=0)
    found: list[tuple[Keys, Integers, Withheld]] = []
    with bounded_file(path, {**dict.fromkeys(names, CODES), "value": STEPS}, dictionary=most) as file:
        for batch in file.iter_batches(_PIECE, columns=[*names, "value"]):
            nodes = [_nodes(batch.column(one.attribute.name), one) for one in linked.nodes]
            values, there = _filled(batch.column("value"))
            found.append((linked.keys(nodes), np.where(there, values, 0), ~there))
        whole(sum(len(keys) for keys, _, _ in found), file.metadata.num_rows)
    empty = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool))
    keys, values, withheld = (np.concatenate(parts) for parts in zip(*(found or [empty]), strict=True))
    return keys, values, withheld


def _nodes(column: pa.DictionaryArray, nodes: Nodes) -> NDArray[np.intp]:
    known = {code: place for place, code in enumerate(nodes.codes) if code is not None}
    listed = np.array([known[code] for code in column.dictionary.to_pylist()], dtype=np.intp)
    places, there = _filled(column.indices)
    return np.where(there, listed[places] if len(listed) else 0, 0)


def _filled(column: pa.Array) -> tuple[NDArray[np.int64], Withheld]:
    """The numbers of a column, 0 where one is missing, and which are there."""
    there = np.asarray(column.is_valid().to_numpy(zero_copy_only=False), dtype=bool)
    filled = column.fill_null(0) if column.null_count else column
    return np.asarray(np.from_dlpack(filled), dtype=np.int64), there


def agree(linked: CellKeys, keys: Keys, values: Integers, withheld: Withheld) -> bool:
    """Whether every published total whose parts are all published is the sum of them."""
    for axis in range(len(linked.nodes) if len(keys) else 0):
        above = linked.parents(keys, axis)
        parts = above >= 0
        divided = ~withheld & linked.divided(keys, axis)
        totals = np.unique(np.concatenate([above[parts], keys[divided]]))
        place = np.searchsorted(totals, above[parts])
        sums, hidden = np.zeros(len(totals), dtype=np.int64), np.zeros(len(totals), dtype=bool)
        np.add.at(sums, place, values[parts])
        np.logical_or.at(hidden, place, withheld[parts])
        at = np.minimum(np.searchsorted(keys, totals), len(keys) - 1)
        listed = keys[at] == totals
        hidden |= listed & withheld[at]
        if (np.where(listed, values[at], 0) != sums)[~hidden].any():
            return False
    return True

"""Alike: a hash of names that all spellings of a name share, whatever type it is stored as and whatever its case.

Names that engines take for one, for two spellings of one, or for one in two cases have one hash, so that parts by
hashes have them together. Which of these they are is told in their part, by the engine.
"""

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.confidential.engines.columns.names import PLAIN
from sfumato.confidential.engines.columns.scan import is_text
from sfumato.confidential.engines.columns.sieve import hashed
from sfumato.kernels.sieve import mixed
from sfumato.schema.spelling import spelled

Hashes = NDArray[np.uint64]
WORD = 2**64
NAMELESS = np.uint64(0x9E3779B97F4A7C15)
"""What stands for a name that lacks."""


def are_plain(column: Any) -> bool:
    """Whether no name of a column can be a spelling of another: whole numbers, or plain texts."""
    if not is_text(column.type):
        return True
    return bool(pc.all(pc.match_substring_regex(column, PLAIN), min_count=0, skip_nulls=True).as_py())


def alike(columns: Sequence[Any]) -> Hashes:
    """Of every row of some columns of names a number that is the same where all names are alike.

    >>> one, same, cased, other = alike([pa.array(["7", " 07.0", "A b", "a B"])])[[0, 1, 2, 3]]
    >>> bool(one == same), bool(cased == other), bool(one == other)
    (True, True, False)
    >>> bool(alike([pa.array([7])])[0] == alike([pa.array([7.0])])[0])
    True
    """
    found = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        found = mixed(found ^ _of_column(column))
    return found


def _of_column(column: Any) -> Hashes:
    numbers = _numbers(column)
    if numbers is not None:
        return numbers
    texts = column.cast(pa.string())
    plain = pc.fill_null(pc.match_substring_regex(texts, PLAIN), fill_value=True)
    lowered = pc.ascii_lower(pc.fill_null(texts, ""))
    if not pc.all(plain, min_count=0).as_py():
        odd = np.flatnonzero(~plain.to_numpy(zero_copy_only=False))
        alike_ = pa.array(_folded(texts.take(pa.array(odd))), pa.string())
        lowered = pc.replace_with_mask(lowered, pc.invert(plain), alike_)
    return _or_nameless(texts, hashed([lowered]))


def _numbers(column: Any) -> Hashes | None:
    """The hashes of names that are numbers, those that name nobody by any; none of texts and other types."""
    kind = column.type
    if pa.types.is_floating(kind):
        given = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        whole = np.isfinite(given) & (np.abs(given) < 2.0**53)
        return _or_nameless(column, mixed(np.where(whole, given, 0).astype(np.int64).view(np.uint64)))
    if pa.types.is_decimal(kind) or pa.types.is_uint64(kind):
        wide = [0 if one is None else int(one) % WORD for one in column.to_pylist()]
        return _or_nameless(column, mixed(np.array(wide, dtype=np.uint64)))
    if pa.types.is_integer(kind):
        given = pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        return _or_nameless(column, mixed(np.asarray(given, dtype=np.int64).view(np.uint64)))
    return None


def _or_nameless(column: Any, hashes: Hashes) -> Hashes:
    if not column.null_count:
        return hashes
    return np.where(column.is_null().to_numpy(zero_copy_only=False), NAMELESS, hashes)


def _folded(names: Any) -> list[str]:
    """Names in one spelling, without marks on their letters and in one case: coarser than any engine compares."""
    made = (unicodedata.normalize("NFKD", one) for one in spelled(names).to_pylist())
    return ["".join(letter for letter in one if not unicodedata.combining(letter)).casefold() for one in made]

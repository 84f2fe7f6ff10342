"""Names: the column that names records or units; what stands twice, and which rows of a crowded unit are kept."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.coded import Coded, Unsure, whole_numbers
from sfumato.confidential.engines.duckdb import MOST_KEPT, kept_of
from sfumato.confidential.engines.scan import is_text

Integers = NDArray[np.int64]
SPREAD = 8
"""How many places a row a range of names may have to be counted place by place; wider ranges are sorted."""
PLAIN = r"^([A-Za-z]([ -~]*[!-~])?|0|[1-9][0-9]{0,29})$"
"""Texts that no other text is a spelling of: in ASCII, without spaces around them or zeros before a number."""


class Names:
    """The names in one column, whole numbers or plain texts, never missing; of other names DuckDB knows the rules."""

    def __init__(self, column: str) -> None:
        self.column = column
        self._parts: list[Any] = []

    def add(self, array: Any) -> None:
        """The next batch."""
        kind = pa.string() if is_text(array.type) else pa.int64()
        if array.null_count or not (is_text(array.type) or pa.types.is_integer(array.type)):
            raise Unsure
        if self._parts and self._parts[0].type != kind:
            raise Unsure
        self._parts.append(array.cast(kind))

    @cached_property
    def _texts(self) -> Any:
        """The texts, each as its place in a list where it stands once; none where names are numbers."""
        if not self._parts or not is_text(self._parts[0].type):
            return None
        import pyarrow.compute as pc

        coded = pa.chunked_array(self._parts).combine_chunks().dictionary_encode()
        if not pc.all(pc.match_substring_regex(coded.dictionary, PLAIN)).as_py():
            raise Unsure
        return coded

    @cached_property
    def _numbers(self) -> Integers:
        if self._texts is not None:
            return np.asarray(self._texts.indices.to_numpy(), dtype=np.int64)
        return (
            np.concatenate([whole_numbers(part) for part in self._parts])
            if self._parts
            else np.empty(0, dtype=np.int64)
        )

    def refuse_repeats(self) -> None:
        """Leave the data to DuckDB where a name stands twice."""
        names = self._numbers
        if len(names) and _is_dense(names):
            seen = np.zeros(int(names.max()) - int(names.min()) + 1, dtype=bool)
            seen[names - names.min()] = True
            repeated = int(np.count_nonzero(seen)) < len(names)
        else:
            ordered = np.sort(names)
            repeated = bool((ordered[1:] == ordered[:-1]).any())
        if repeated:
            raise Unsure

    @property
    def codes(self) -> Integers:
        """A number for every record, the same where the name is."""
        return self._numbers

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Forget the names of all records but some."""
        self._numbers = self._numbers[mask]

    def texts_of(self, rows: Integers) -> Any:
        """The names of some records, as they are written."""
        if self._texts is None:
            return pa.array(self._numbers[rows])
        return self._texts.take(pa.array(rows)).cast(pa.string())

    def kept(
        self, at_most: int, salt: bytes, columns: Sequence[Coded], named: Sequence["Names"]
    ) -> list[NDArray[np.bool_]] | None:
        """Which records of each batch are kept; none is said where no unit has too many.

        The rows of crowded units alone go to DuckDB, which chooses among them by the keyed hash of their content.
        """
        most = min(at_most, MOST_KEPT)
        crowded = _in_crowds(self._numbers, most)
        rows = np.flatnonzero(crowded)
        if not len(rows):
            return None
        content = [pa.array(_plain(np.concatenate(one.parts)[rows])) for one in columns]
        kept = ~crowded
        kept[kept_of(self.texts_of(rows), [*content, *(one.texts_of(rows) for one in named)], rows, most, salt)] = True
        return np.split(kept, np.cumsum([len(part) for part in self._parts])[:-1])


def _plain(codes: NDArray[Any]) -> NDArray[Any]:
    """Leaves and values in the types that DuckDB has them in."""
    return codes if codes.dtype == np.int64 else codes.astype(np.int32)


def _is_dense(names: Integers) -> bool:
    return int(names.max()) - int(names.min()) < SPREAD * len(names) + 1000


def _in_crowds(names: Integers, most: int) -> NDArray[np.bool_]:
    """Which records belong to a unit with more than so many."""
    if not len(names):
        return np.zeros(0, dtype=bool)
    if _is_dense(names):
        places = names - names.min()
        return np.asarray((np.bincount(places) > most)[places])
    import pyarrow.compute as pc

    ordered = np.sort(names)
    # Of sorted names, one that stands again `most` places further on has too many.
    crowds = np.unique(ordered[most:][ordered[most:] == ordered[:-most]])
    return np.asarray(pc.is_in(pa.array(names), value_set=pa.array(crowds)).to_numpy(zero_copy_only=False))

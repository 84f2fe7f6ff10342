"""Names: a column that names records or units; what stands twice, and which units are crowded."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines import crowded
from sfumato.confidential.engines.columns.coded_column import whole_numbers
from sfumato.confidential.engines.columns.scan import is_text
from sfumato.confidential.engines.engine import Unsure
from sfumato.confidential.engines.row_aggregates import digests_of

Integers = NDArray[np.int64]
Content = Callable[[Integers], Sequence[NDArray[Any]]]
"""What some records say, column by column."""
AT_ONCE = 2**23
"""How many rows of crowded units are chosen from at once, about: what each says is held meanwhile."""
SPREAD = 2
"""How many places a row a range of names may have to be counted place by place; wider ranges are sorted."""
PLAIN = r"^([A-Za-z]( ?[!-~])*|0|[1-9][0-9]{0,29})$"
"""Texts that no other is a spelling of: in ASCII, without spaces around them or two in a row, or zeros of a number."""


class Names:
    """The names in one column, whole numbers or plain texts, never missing; of other names DuckDB knows the rules."""

    def __init__(self, column: str) -> None:
        self.column = column
        self._parts: list[Any] = []

    def add(self, array: Any) -> None:
        """The next batch."""
        kind = pa.string() if is_text(array.type) else pa.int64()
        if array.null_count or not (is_text(array.type) or pa.types.is_integer(array.type)):
            raise Unsure(f"column '{self.column}' lacks names, or has some that are neither whole numbers nor texts")
        if self._parts and self._parts[0].type != kind:
            raise Unsure(f"column '{self.column}' is of several types")
        self._parts.append(array.cast(kind))

    @cached_property
    def _texts(self) -> Any:
        """The texts, each as its place in a list where it stands once; none where names are numbers."""
        if not is_text(self.written.type):
            return None
        coded = self.written.dictionary_encode()
        refuse_unplain(self.column, coded.dictionary)
        return coded

    @cached_property
    def codes(self) -> Integers:
        """A number for every record, the same where the name is."""
        numbers = self.written if self._texts is None else self._texts.indices.cast(pa.int64())
        return np.asarray(whole_numbers(numbers), dtype=np.int64)

    @cached_property
    def written(self) -> Any:
        """All names as they are written; the batches are let go, as they would be held twice."""
        parts, self._parts = self._parts, []
        return pa.chunked_array(parts, None if parts else pa.string()).combine_chunks()

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Forget the names of all records but some."""
        self.codes = self.codes[mask]

    def texts_of(self, rows: Integers) -> Any:
        """The names of some records, as they are written."""
        if self._texts is None:
            return pa.array(self.codes[rows])
        return self._texts.take(pa.array(rows)).cast(pa.string())

    @cached_property
    def digests(self) -> Integers:
        """Of every record the digest of its name, each name's computed once."""
        codes, back = np.unique(self.codes, return_inverse=True)
        named = pa.array(codes) if self._texts is None else self._texts.dictionary.take(pa.array(codes))
        return digests_of(named.cast(pa.string()).to_pylist())[back]

    def kept(self, at_most: int, salt: bytes, content: Content, named: Sequence["Names"]) -> Any:
        """Which records are kept where no unit has more than so many; nothing is said where none has too many."""
        places, _ = _places(self.codes)
        crowds = np.asarray(np.bincount(places) > at_most)[places]
        crowd = np.flatnonzero(crowds)
        if not len(crowd):
            return None
        kept = ~crowds
        for rows in _apart(crowd, self.codes):
            said = [*map(pa.array, content(rows)), *(other.texts_of(rows) for other in named)]
            kept[rows] = crowded.kept(self.codes[rows], self.texts_of(rows), said, at_most, salt)
        return kept

    def crowds(self, at_most: int) -> tuple[int, Integers, Integers]:
        """How many records are of names that stand in more than so many; one of each such name, and in how many."""
        _, first, rows = np.unique(self.codes, return_index=True, return_counts=True)
        many = rows > at_most
        return int(rows[many].sum()), first[many], rows[many]

    def places_in(self, names: Any) -> Integers:
        """The place of every record's name in a list of names; each is there, once."""
        import pyarrow.compute as pc

        places = pc.index_in(self.written.cast(pa.string()), value_set=names)
        if places.null_count:
            raise Unsure(f"column '{self.column}' has names that are not in the register")
        return np.asarray(places.to_numpy(), dtype=np.int64)


def refuse_unplain(column: str, names: Any) -> None:
    """Leave to DuckDB texts that may be spellings of one another."""
    import pyarrow.compute as pc

    if is_text(names.type) and not pc.all(pc.match_substring_regex(names, PLAIN), min_count=0).as_py():
        raise Unsure(f"column '{column}' has names that may be spellings of one another")


def _apart(rows: Integers, units: Integers) -> Iterator[Integers]:
    """Rows a few at a time, those of one unit together."""
    groups = -(-len(rows) // AT_ONCE)
    of = units[rows] % groups
    return (rows[of == group] for group in range(groups))


def refuse_repeats(names: Sequence[Names]) -> None:
    """Leave the data to DuckDB where a name stands twice, or several together do; of none nothing is asked."""
    if not names:
        return
    codes = names[0].codes
    for other in names[1:]:
        (first, _), (second, most) = _places(codes), _places(other.codes)
        codes = np.unique(first * most + second, return_inverse=True)[1] if len(first) else first
    places, most = _places(codes)
    seen = np.zeros(most, dtype=bool)
    seen[places] = True
    if np.count_nonzero(seen) < len(places):
        columns = " and ".join(f"'{one.column}'" for one in names)
        raise Unsure(f"column {columns} has a name twice")


def _places(names: Integers) -> tuple[Integers, int]:
    """The place of each record's name among all that there are, or may be, and how many these are."""
    least, most = (int(names.min()), int(names.max())) if len(names) else (0, 0)
    if most - least >= SPREAD * len(names) + 1000:
        found, places = np.unique(names, return_inverse=True)
        return places, len(found)
    return names - least, most - least + 1

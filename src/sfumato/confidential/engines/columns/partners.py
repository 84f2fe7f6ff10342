"""Partners: a table that rows are looked up in, held whole; each batch of rows takes its columns from there."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.columns.names import Names
from sfumato.confidential.engines.columns.scan import batches, is_text
from sfumato.confidential.engines.engine import Unsure


class HeldPartner:
    """The rows of a joined table by their keys, of which each stands once."""

    def __init__(self, on: str, sources: Sequence[Any], columns: Sequence[str]) -> None:
        self.on, keys = on, Names(on)
        parts: dict[str, list[Any]] = {column: [] for column in columns}
        for source in sources:
            for batch in batches(source, columns):
                keys.add(batch[on])
                for column, array in batch.items():
                    parts[column].append(array)
        keys.refuse_repeats()
        self._keys = keys.written
        self._columns = {column: _whole(own) for column, own in parts.items() if column != on}

    def columns(self, keys: Any) -> dict[str, Any]:
        """The columns of the rows that a batch of keys finds, in the order of the keys."""
        import pyarrow.compute as pc

        names = Names(self.on)
        names.add(keys)
        if names.written.type != self._keys.type:
            raise Unsure(f"column '{self.on}' is of several types")
        places = pc.index_in(names.written, value_set=self._keys)
        if places.null_count:
            raise Unsure(f"some records find no row by '{self.on}'")
        return {column: array.take(places) for column, array in self._columns.items()}


def _whole(parts: Sequence[Any]) -> Any:
    """All batches of a column as one array, texts as few and the place of each."""
    together = pa.chunked_array(parts)
    if not is_text(together.type):
        return together.combine_chunks()
    return together.cast(pa.string()).combine_chunks().dictionary_encode()

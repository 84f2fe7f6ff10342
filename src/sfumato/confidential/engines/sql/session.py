"""Session: the one way that DuckDB is opened, closed to the disk, to extensions and to this program's variables."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.engines.encodings import refuse_foreign
from sfumato.confidential.sealed import Sealed
from sfumato.errors import DataError
from sfumato.schema.spelling import spelled

CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,  # a name in a query is never taken for a variable of this program
    "preserve_insertion_order": False,
    "temp_directory": "",  # what does not fit in memory is refused, not written down
}
TRUSTED = ("unused_columns", "column_lifetime", "common_subexpressions", "expression_rewriter", "build_side_probe_side")
"""The optimizers that keep a query's meaning whatever a source says of itself.

Others believe the statistics in Parquet files, which leave NaN out, so that isnan is false (duckdb#25521), or push
TRY_CAST into the reader of text files, where it fails (duckdb#23818).
"""


class Session(Sealed):
    """One private in-memory database that writes nothing to disk and loads no extension."""

    def __init__(self) -> None:
        import duckdb
        from duckdb.func import ARROW

        self._connection, self.texts = duckdb.connect(config=CLOSED), dict[Path, str]()
        self._connection.create_function("spelled", spelled, ["varchar"], "varchar", type=ARROW)
        named = [name for (name,) in self.ask("SELECT name FROM duckdb_optimizers()") if name not in TRUSTED]
        self.run(f"SET disabled_optimizers = '{','.join(named)}'")

    def run(self, query: str) -> Any:
        """Carry out a query."""
        with self._named():
            return self._connection.execute(query)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """A text file that cannot be taken apart is named, with its line, and nothing it holds."""
        try:
            yield
        except Exception as error:
            torn = [path.name for path in self.texts if f"\n  file = {path}\n" in str(error)]
            line = re.match(r"Invalid Input Error: CSV Error on Line: (\d+)\n", str(error))
            foreign = "encoded" in str(error)
            if not torn and not foreign:
                raise
            at = f"line {line[1]}: a field too few or too many, a quote left open" if line else "line ends of two kinds"
        else:
            return
        if foreign:
            refuse_foreign(self.texts)
        raise DataError(f"{(torn or ['A text file'])[0]} could not be read; look at {at}.")

    def ask(self, query: str) -> list[Any]:
        """The rows that answer a query."""
        return list(self.run(query).fetchall())

    def columns(self, query: str) -> list[NDArray[Any]]:
        """The columns that answer a query, as arrays."""
        return [np.asarray(column) for column in self.run(query).fetchnumpy().values()]

    def batches(self, query: str, rows: int) -> Iterator[Any]:
        """The answer to a query in Arrow's batches of so many rows, none of them held."""
        with self._named():
            reader = self._connection.sql(query).to_arrow_reader(rows)
        while True:
            with self._named():
                batch = next(reader, None)
            if batch is None:
                return
            yield batch

    def register(self, name: str, table: Any) -> None:
        """Let queries read an Arrow table under a name."""
        self._connection.register(name, table)

    def kinds(self, relation: str) -> dict[str, str]:
        """The columns of a relation and the type of each."""
        return {name: kind for name, kind, *_ in self.ask(f"DESCRIBE {relation}")}

    def close(self) -> None:
        self._connection.close()

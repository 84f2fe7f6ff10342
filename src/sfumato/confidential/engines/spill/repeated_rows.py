"""Repeated rows: rows that stand in two sources, looked for among all texts of records that are spilled by these."""
# ruff: noqa: S608 - columns are numbered; no name or value of the data stands in a query

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.confidential.engines.columns.scan import BATCH
from sfumato.confidential.engines.columns.sieve import hashed
from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.queries.rules import REPEATED
from sfumato.confidential.engines.request import Fault
from sfumato.confidential.engines.spill.folder import SpillFolder
from sfumato.confidential.engines.spill.judges import AT_ONCE, Offending, commonest
from sfumato.confidential.engines.spill.parted import PartedRecords, parts_for
from sfumato.confidential.engines.sql.session import Session
from sfumato.confidential.sealed import Sealed


class RepeatedRows(Sealed):
    """The texts of all records with the number of their source, rows that say the same in one part."""

    def __init__(self, database: Database, folder: SpillFolder, records: int) -> None:
        self._columns = database.reading.columns
        self._texts = [database.text(column) for column in self._columns]
        self._records = PartedRecords(folder, parts_for(records), lambda batch: hashed(batch.columns[1:]))
        with ExitStack() as undone:
            undone.callback(self.close)
            self._spill(database)
            undone.pop_all()

    def _spill(self, database: Database) -> None:
        for batch in database.session.batches(f"SELECT source, {', '.join(self._texts)} FROM records", BATCH):
            plain = [column.cast(pa.string()) for column in batch.columns[1:]]
            self._records.add(pa.RecordBatch.from_arrays([batch.column(0), *plain], ["source", *self._texts]))
        self._records.flush()

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self._records.size

    def faults(self) -> list[Fault]:
        """The rule that a record stands once in all sources, where it is broken."""
        if any(rows for rows in self._standing("SELECT count(*) FROM repeated")):
            return [Fault(", ".join(self._columns), REPEATED, "repeated")]
        return []

    def broken(self, fault: Fault) -> int:  # noqa: ARG002 - there is one
        return sum(rows for ((rows,),) in self._standing("SELECT count(*) FROM repeated"))

    def examples(self, fault: Fault) -> Offending:
        turns, listed = 1 + self.broken(fault) // AT_ONCE, Offending()
        value = f"nullif(concat_ws(', ', {', '.join(self._texts)}), '')"
        for turn in range(turns):
            own = f"SELECT {value} AS value FROM repeated"
            chosen = f"SELECT value, count(*) FROM ({own}) WHERE hash(value) % {turns} = {turn} GROUP BY value"
            counted = Counter[str | None]()
            for rows in self._standing(chosen):
                counted.update(dict(rows))
            listed = commonest([*listed, *counted.items()])
        return listed

    def _standing(self, query: str) -> Iterator[list[Any]]:
        """What a query finds among the rows of every part that stand in two sources, where there are any."""
        texts = ", ".join(self._texts)
        for (table,) in self._records:
            suspects = _suspects(table)
            if not len(suspects):
                continue
            with closing(Session()) as session:
                session.register("suspects", suspects)
                groups = f"SELECT {texts} FROM suspects GROUP BY {texts} HAVING min(source) < max(source)"
                session.run(f"CREATE TABLE repeated AS SELECT * FROM suspects SEMI JOIN ({groups}) USING ({texts})")
                found = session.ask(query)
                if session.ask("SELECT 1 FROM repeated LIMIT 1"):
                    yield found

    def close(self) -> None:
        self._records.close()


def _suspects(table: Any) -> Any:
    """The rows whose hash stands in two sources: all that say the same, and hardly any other."""
    hashes = np.concatenate([hashed(batch.columns[1:]) for batch in table.to_batches()])
    sources = table.column(0).to_numpy()
    order = np.argsort(hashes, kind="stable")
    ordered, own = hashes[order], sources[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    apart = np.minimum.reduceat(own, first) < np.maximum.reduceat(own, first)
    lengths = np.diff(np.concatenate([first, [len(own)]]))
    return table.take(pa.array(np.sort(order[np.repeat(apart, lengths)])))

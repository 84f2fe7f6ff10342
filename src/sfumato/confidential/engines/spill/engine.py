"""Spilled: an engine over records that are spilled in parts, each of which another engine reads; parts are merged."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.engines.columns.grounds import compares_rows
from sfumato.confidential.engines.engine import MOST_LISTED, Columns, Engine, Sources
from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.queries.rules import Rules
from sfumato.confidential.engines.request import Fault, Reading, TableRequest
from sfumato.confidential.engines.row_aggregates import laid_out
from sfumato.confidential.engines.spill.folder import SpillFolder
from sfumato.confidential.engines.spill.judges import PartsJudge, QueryJudge, RuleJudge
from sfumato.confidential.engines.spill.merged import MergedCells
from sfumato.confidential.engines.spill.partings import Parting, of_weighed, partings, unkeyed
from sfumato.confidential.engines.spill.repeated_rows import RepeatedRows
from sfumato.confidential.engines.spill.spilling import OpenPart, SpilledParts, Spilling
from sfumato.confidential.sealed import Sealed, without_values
from sfumato.errors import DataError, how_many
from sfumato.schema import Aggregate, Box, Ragged, Rows, Table

Integers = NDArray[np.int64]


class Spilled(Sealed, Engine):
    """The records of one reading, on disk in parts that hold units whole; there they cannot be read.

    All tables that the reading names are made while its rules are looked at, in one passage over the parts.
    """

    name: ClassVar[str] = "spilled"
    turn: ClassVar[int] = 0
    knows: ClassVar[frozenset[type[Aggregate]]] = frozenset()
    ahead: ClassVar[bool] = True

    def __init__(self, sources: Sources, reading: Reading, folder: SpillFolder, open_part: OpenPart) -> None:
        self.reading, self._open, self._undone = reading, open_part, ExitStack()
        self._judges: dict[Fault, RuleJudge] = {}
        self._made: dict[SpilledParts, list[tuple[TableRequest, MergedCells]]] = {}
        self._by = "none"
        self._weighed: Engine | None = None
        self._size = 0
        with ExitStack() as undone:
            undone.callback(self.close)
            with without_values("The data could not be read"):
                self._read(sources, folder)
            undone.pop_all()

    def _read(self, sources: Sources, folder: SpillFolder) -> None:
        database = Database(sources, self.reading)
        session = self._undone.enter_context(closing(database.session))
        rules = Rules(database)
        if joins := rules.of_joins():
            self._judges = dict.fromkeys(joins, QueryJudge(session))
            return
        self._spilling = self._undone.enter_context(closing(Spilling(database, folder, _partings(self.reading))))
        self.rows, self._size = self._spilling.rows, self._spilling.size
        judged = self._repeated(database, folder)
        session.close()  # whatever it held of the sources stands in the parts
        judged |= self._weighed_by(sources)
        empty = rules.of_empty(self._spilling.empty)
        for parts in self._spilling.parts:
            judged |= self._passed_through(parts, fits=not judged and not empty)
        self._judges = dict.fromkeys(empty, QueryJudge(session)) | in_order(judged, rules)

    def _repeated(self, database: Database, folder: SpillFolder) -> dict[Fault, RuleJudge]:
        """That no row stands in two sources, where nothing else tells records apart."""
        if not compares_rows(database.sources, self.reading):
            return {}
        repeated = self._undone.enter_context(closing(RepeatedRows(database, folder, self._spilling.rows)))
        self._size += repeated.size
        return dict.fromkeys(repeated.faults(), repeated)

    def _weighed_by(self, sources: Sources) -> dict[Fault, RuleJudge]:
        """The engine that sums weights, where some are asked: as records are read, of which leaves are held."""
        if not self.reading.weighted:
            return {}
        self._weighed = self._undone.enter_context(closing(self._open(sources, unkeyed(self.reading))))
        return dict.fromkeys(self._weighed.faults(), self._weighed)

    @property
    def described(self) -> str:
        """By which engine parts were read, and how many they are."""
        parts = max(self._spilling.parts_of_records, 1)
        return (
            f"{self._by} from {how_many(parts, 'encrypted part')}, {self._size / 1e9:.1f} GB in the folder of --spill"
        )

    def _passed_through(self, parts: SpilledParts, *, fits: bool) -> dict[Fault, RuleJudge]:
        """The rules that records of some parts break; where none does, what is asked of them is made at once."""
        judge, asked = PartsJudge(parts, self._open), parts.asked_of(self.reading)
        made = [(one, MergedCells()) for one in asked]
        for engine in judge.engines():
            self._by = engine.name
            for one, cells in made if fits and not judge.faults else ():
                _add(engine, one, cells)
        self._made[parts] = made
        return dict.fromkeys(judge.faults, judge)

    def faults(self) -> list[Fault]:
        return list(self._judges)

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:
        with without_values("The offending values could not be listed"):
            return self._judges[fault].examples(fault)

    def broken(self, fault: Fault) -> int | None:
        with without_values("The offending records could not be counted"):
            return self._judges[fault].broken(fault)

    def crowds(self, column: str, at_most: int, most: int = MOST_LISTED) -> tuple[int, list[tuple[str, int]]]:
        (parts,) = [one for one in self._spilling.parts if one.parting.by == (column,)]
        rows, listed = 0, list[tuple[str, int]]()
        with without_values("Those in too many records could not be listed"):
            for engine in parts.engines(self._open):
                more, few = engine.crowds(column, at_most, most)
                rows, listed = rows + more, sorted([*listed, *few], key=lambda one: (-one[1], one[0]))[:most]
        return rows, listed

    def aggregate(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> Columns:
        self._refuse_broken()
        if self._weighed is not None:
            return self._weighed.aggregate(table, aggregates, universe)
        return laid_out(table.shape, *self.occupied(table, aggregates, universe))

    def occupied(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> tuple[Integers, Columns]:
        self._refuse_broken()
        if self._weighed is not None:
            return self._weighed.occupied(table, aggregates, universe)
        return self._of_all(TableRequest(table, tuple(aggregates), universe))

    def reports(self, aggregates: Sequence[Aggregate]) -> Columns:
        self._refuse_broken()
        register = self.reading.register
        assert register is not None  # noqa: S101 - asked of readings over a register
        asked = TableRequest(Table(()), tuple(aggregates), Box())
        return laid_out((register.size,), *self._of_all(asked))

    def _of_all(self, asked: TableRequest) -> tuple[Integers, Columns]:
        """The cells of a table of all records, each aggregate from the parts that make it."""
        places, found = np.empty(0, dtype=np.int64), dict[Aggregate, Any]()
        for parts in self._spilling.parts:
            own = parts.parting.of_request(asked)
            if own.aggregates or (parts.parting.main and not asked.aggregates):
                places, columns = self._cells(parts, own).listed(own.aggregates)
                found |= columns
        return places.copy(), {one: found[one] for one in asked.aggregates}

    def _cells(self, parts: SpilledParts, asked: TableRequest) -> MergedCells:
        """The cells that were made before, or are made now."""
        for made, cells in self._made[parts]:
            if made.answers(asked):
                return cells
        cells = MergedCells()
        with without_values("The data could not be summed in whole steps of 64 bits"):
            for engine in parts.engines(self._open):
                _add(engine, asked, cells)
        return cells

    def _refuse_broken(self) -> None:
        if self._judges:
            raise DataError(
                f"{next(iter(self._judges))} No cells are made of such data, as their bounds are not enforced."
            )

    def close(self) -> None:
        self._made.clear()
        self._undone.close()


def _partings(reading: Reading) -> list[Parting]:
    return of_weighed(reading) if reading.weighted else partings(reading)


def _add(engine: Engine, asked: TableRequest, cells: MergedCells) -> None:
    """What one part adds to the cells of a table, or of a register."""
    if engine.reading.register is None:
        cells.add(*engine.occupied(asked.table, asked.aggregates, asked.universe))
        return
    columns = engine.reports(tuple(dict.fromkeys((*asked.aggregates, Rows()))))
    places = np.flatnonzero(columns[Rows()])
    cells.add(places, {one: _at(columns[one], places) for one in asked.aggregates})


def _at(column: Any, places: Integers) -> Any:
    return column.take(places) if isinstance(column, Ragged) else column[places]


def in_order(judged: dict[Fault, RuleJudge], rules: Rules) -> dict[Fault, RuleJudge]:
    """Broken rules as one reading of all records tells them: those of weights last."""
    told = {rule: place for place, rule in enumerate(rules.in_order())}
    return {one: judged[one] for one in sorted(judged, key=lambda one: told.get((one.column, one.rule), len(told)))}

"""Tabulate: microdata, a measure's domain and its statistic become Cells, empty cells included, bounds enforced."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from sfumato.confidential.engines.choose import opened
from sfumato.confidential.engines.engine import Columns
from sfumato.confidential.engines.request import Fault, Reading, TableRequest
from sfumato.confidential.engines.row_aggregates import digests_of
from sfumato.confidential.linked_system import LinkedSystem
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.row_rules import aggregates_of, broken_rules, crowds_of, requests_of
from sfumato.confidential.sealed import Sealed, scrubbed
from sfumato.confidential.suppress import Contributions
from sfumato.draws import Draws
from sfumato.errors import DataError
from sfumato.mechanisms import Cells
from sfumato.mechanisms.cells import Integers
from sfumato.plan import Measure, Plan
from sfumato.plan.suppress import Suppress
from sfumato.plan.weighed import Weighed
from sfumato.privacy import DataRule, FewRows, OneLevel, plain
from sfumato.schema import Aggregate, Box, Domain, Extremes, Frame, Ragged, Rows, Sorted, Table, UnitSums

EMPTY = "The data hold no rows, and nothing is made or charged of none; check the files and their filters."
LARGEST_SUM = 2**62
"""What all values of a measure may sum to, in steps: half of what 64 bits hold."""
TOO_LARGE = "all values together are too large to be summed in 64 bits; use a coarser step."


MOST_LISTED = 10
"""How many of the reports that are too large, each or together, are named."""


class Tabulation(Sealed):
    """The microdata of one plan, read once; every measure is tabulated from the same rows."""

    def __init__(
        self,
        plan: Plan,
        microdata: Microdata,
        draws: Draws,
        *,
        truncated: bool = True,
        also: tuple[Aggregate, ...] = (),
    ) -> None:
        self._plan, self._need = plan, reading(plan, truncated=truncated, also=also)
        self._fetched: dict[str, Cells] = {}
        salt = b"" if self._need.register else draws.words(4).tobytes()
        self._engine, self._declined = scrubbed(
            opened, microdata.sources, self._need, salt, microdata.engine, microdata.spill
        )

    @property
    def read_by(self) -> str:
        """Which engine read the data, and why those that were asked before it declined."""
        declined = f"; {'; '.join(self._declined)}. All engines give the same numbers" if self._declined else ""
        told = f". Of the cluster: {'; '.join(self._engine.stated)}" if self._engine.stated else ""
        return f"read by the engine {self._engine.described}{declined}{told}"

    def close(self) -> None:
        """Forget all that was read."""
        self._engine.close()

    def faults(self) -> list[Fault]:
        """What in the data does not fit the plan: the columns and the rules, or that there are no rows."""
        empty = [Fault("", EMPTY)] if self._engine.rows == 0 else []
        return self._engine.faults() or empty or list(self._of_rows) or self._unfit

    @cached_property
    def _of_rows(self) -> dict[Fault, DataRule]:
        """What the neighbours ask of rows taken together, and these do not keep."""
        return broken_rules(self._engine, rules_of(self._plan), self._plan.hidden.unit)

    @cached_property
    def _unfit(self) -> list[Fault]:
        """What sums or a mechanism cannot carry of a register, whose reports are read once for all measures.

        Tables are looked at only where so many rows, each at the end of its bounds, would be too much.
        """
        return list(self._uncarried)

    @cached_property
    def _uncarried(self) -> dict[Fault, Measure]:
        measures = [one for one in self._plan.measures if self._need.register or self._may_overflow(one)]
        told = [(one, self._carried(one)) for one in measures]
        return {Fault(one.of.contribution.column or one.name, rule): one for one, rule in told if rule}

    def _may_overflow(self, measure: Measure) -> bool:
        row, rows = measure.of.contribution, self._engine.rows or 0
        if measure.with_.suppresses and row.high is None:
            return True
        # Of what lies above a clip the values themselves are summed first.
        stretched = row.largest * measure.with_.stretch(self._plan.move(measure))
        return measure.of.additive and stretched * rows >= LARGEST_SUM

    def _carried(self, measure: Measure) -> str:
        """Why the sums of a measure cannot be carried; nothing where they can."""
        try:
            cells = self._cells(measure)
        except DataError:
            if self._need.register is not None:
                raise
            return TOO_LARGE  # the engine itself could not sum them
        return TOO_LARGE if _overflows(cells) else measure.with_.unfit(cells)

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:
        """Offending values and how often they stand, each with its unit over a register: confidential."""
        if not fault.query and fault in self._uncarried and self._need.register is not None:
            return self._largest(self._uncarried[fault], self._need.register)
        if not fault.query:
            return [*self._crowds(fault)[1]]
        return self._engine.examples(fault)

    def broken(self, fault: Fault) -> int | None:
        """How many rows break a rule, where that can be told: confidential."""
        if not fault.query and fault in self._uncarried and self._need.register is not None:
            return self._too_large(self._uncarried[fault], self._need.register) or None
        return self._engine.broken(fault) if fault.query else self._crowds(fault)[0] or None

    def _crowds(self, fault: Fault) -> tuple[int, list[tuple[str, int]]]:
        return crowds_of(self._engine, self._of_rows.get(fault) if self._engine.rows else None)

    def _too_large(self, measure: Measure, register: Frame) -> int:
        """How many reports cannot be carried each by itself; whatever is larger than one that cannot cannot either."""
        cells = replace(self._reported(measure, register), grouping=None)
        ordered = np.sort(cells.values).tolist()
        unfit = lambda value: measure.with_.unfit(replace(cells, values=np.array([value]))) != ""  # noqa: E731
        return len(ordered) - bisect_left(ordered, True, key=unfit)

    def _largest(self, measure: Measure, register: Frame) -> list[tuple[str | None, int]]:
        """The reports that are too large, or the largest of those that are so together."""
        cells = self._reported(measure, register)
        rows = np.argsort(-cells.values, kind="stable")[: self._too_large(measure, register) or len(cells.values)]
        rows = rows[:MOST_LISTED]
        return [(f"{register.ids[int(row)]}, {plain(int(cells.values[row]) * cells.step)}", 1) for row in rows]

    def refuse_faults(self) -> None:
        """Stop at the first rule that is broken, naming the column and the rule and no value."""
        for fault in self.faults():
            told = fault.query or self._crowds(fault)[0]
            listed = " `sfumato check` lists the values, in a confidential report." if told else ""
            raise DataError(f"{fault}{listed}")

    def fetch(self, measures: Sequence[Measure]) -> None:
        """Have these cells here where reading may fail, as of a cluster or a disk: what fails then costs no budget."""
        if self._engine.ahead:
            self._fetched = {measure.name: self.cells(measure) for measure in measures}
            self._engine.close()

    def cells(self, measure: Measure) -> Cells:
        """The true cells of a measure; none of data that break a rule, as their bounds are not enforced."""
        if measure.name in self._fetched:
            return self._fetched.pop(measure.name)  # held no longer than it is needed
        if self._engine.rows != 0:  # an audit may take the last record away
            self.refuse_faults()
        return self._cells(measure)

    def _cells(self, measure: Measure) -> Cells:
        if self._need.register is not None:
            return self._reported(measure, self._need.register)
        table = self._plan.over.table(measure)
        return self._of_several(measure) if table is None else self._of_one(measure, table)

    def _of_one(self, measure: Measure, table: Table) -> Cells:
        """The cells of one table, laid out or listed."""
        universe, places, wanted = self._plan.universe(measure), None, measure.aggregates
        if table.dense:
            columns = self._engine.aggregate(table, wanted, universe)
        else:
            places, columns = self._engine.occupied(table, wanted, universe)
        values = measure.of.value(columns).reshape(table.shape if places is None else places.shape)
        step, move, how = measure.of.step, self._plan.move(measure), self._plan.schema.replication
        return Cells(table, values, step, move, places=places, columns=columns, replication=how)

    def _of_several(self, measure: Measure) -> Cells:
        """The cells of several tables, one table after the other."""
        universe, wanted = self._plan.universe(measure), measure.aggregates
        columns = (self._engine.aggregate(one, wanted, universe) for one in self._plan.over.tables(measure))
        values = np.concatenate([measure.of.value(column).ravel() for column in columns])
        return Cells(self._plan.over.domain(measure), values, measure.of.step, self._plan.move(measure))

    def truth(self, measure: Measure) -> tuple[Domain, Integers, Integers]:
        """The true values of what a measure is of, in steps, and how many units or rows each is of."""
        if self._need.register is not None:
            values = measure.of.value({one: self._reports[one] for one in measure.of.aggregates})
            values = values * self._need.register.rows(self._plan.universe(measure))
            return self._need.register, values, (values != 0).astype(np.int64)
        table = self._plan.schema.table([str(level) for level in self._plan.over.by(measure)])
        table.refuse_if_too_large()
        wanted = (*measure.of.aggregates, Rows())
        columns = self._engine.aggregate(table, wanted, self._plan.universe(measure))
        values, rows = (np.asarray(one).reshape(table.shape) for one in (measure.of.value(columns), columns[Rows()]))
        return table, values, rows

    def of_rows(self, table: Table, of: Sorted, universe: Box) -> Ragged:
        """What the rows of each cell of a table have, which was asked for as the data were opened."""
        rows: Ragged = self._engine.aggregate(table, (of,), universe)[of]
        return rows

    def contributions(self, measure: Measure, system: LinkedSystem, suppress: Suppress) -> Contributions:
        """What every holding adds to each cell of linked tables, their margins among them."""
        if self._engine.rows != 0:
            self.refuse_faults()
        if self._need.register is not None:
            return self._of_holdings(measure, system, suppress, self._need.register)
        universe, wanted = self._plan.universe(measure), measure.aggregates
        (sums,) = (one for one in wanted if isinstance(one, UnitSums))
        weighed, of = [], measure.of if isinstance(measure.of, Weighed) else None
        tables, parts = [], of.parts if of else 1
        for place, table in enumerate(self._plan.over.tables(measure)):
            columns = self._engine.aggregate(table, wanted if of else (sums,), universe)
            tables.append(system.of_table(place, columns[sums], parts))
            if of:
                _refuse_light(
                    columns[Extremes(of.weights)][..., 0].ravel()[columns[sums].lengths > 0], parts, of.weight
                )
                weighed.append(system.of_cells(place, of.value(columns)))
        return system.contributions(tables, digests_of(suppress.decided().waived).tolist(), weighed)

    def _of_holdings(
        self, measure: Measure, system: LinkedSystem, suppress: Suppress, register: Frame
    ) -> Contributions:
        """Those of a register's rows, of which one that did not report has no part."""
        names = self._plan.over.holdings(suppress.holding)
        known, holdings = np.unique(np.array(names), return_inverse=True)
        there = self._reports[Rows()] > 0
        if measure.where:
            there &= register.rows(self._plan.universe(measure))
        values = measure.of.value({one: self._reports[one] for one in measure.of.aggregates})
        waived = np.flatnonzero(np.isin(known, suppress.decided().waived)).tolist()
        return system.contributions([system.of_register(register, np.flatnonzero(there), holdings, values)], waived)

    @cached_property
    def _reports(self) -> Columns:
        """What every unit of a register reports, for all measures."""
        return self._engine.reports(self._need.aggregates)

    def _reported(self, measure: Measure, register: Frame) -> Cells:
        """The values of a register's units, one a row, with the groups that a measure is by; 0 outside its universe."""
        columns = {one: self._reports[one] for one in measure.aggregates}
        values, domain = measure.of.value(columns), self._plan.over.domain(measure)
        grouping = None if domain is register else register.grouped(domain.by)
        if measure.where:
            values = values * register.rows(self._plan.universe(measure))
        return Cells(domain, values, measure.of.step, self._plan.move(measure), grouping, columns=columns)


def _refuse_light(least: Integers, parts: int, column: str) -> None:
    """Rows that stand for less than themselves would leave a cell less than what holdings know of it."""
    if (least < parts).any():
        raise DataError(
            f"Column '{column}' has weights below 1; in suppression a row stands for itself and for others, so weigh "
            "from 1 on."
        )


def _overflows(cells: Cells) -> bool:
    return bool(np.abs(cells.values).sum(dtype=np.float64) >= LARGEST_SUM)


def reading(plan: Plan, *, truncated: bool = True, also: tuple[Aggregate, ...] = ()) -> Reading:
    """What the plan needs of the microdata, and `also`; which rows of a unit count where that is asked for."""
    for measure in plan.measures:
        plan.move(measure)  # what cannot be promised is not read
    asked = [
        TableRequest(table, one.aggregates, plan.universe(one))
        for one in plan.measures
        for table in plan.over.tables(one)
    ]
    rules = rules_of(plan)
    kept = aggregates_of(rules)
    return Reading(
        schema=plan.schema,
        attributes=plan.over.read(plan.measures),
        aggregates=tuple(dict.fromkeys((*(one for each in plan.measures for one in each.aggregates), *kept, *also))),
        id=plan.over.id,
        truncation=plan.over.truncation if truncated and plan.suppress is None else None,
        only=asked[0] if len(asked) == 1 and not kept and not also else None,
        register=plan.over.register,
        owned=tuple(rule.attribute for rule in rules if isinstance(rule, OneLevel)),
        others=tuple(rule.column for rule in rules if isinstance(rule, FewRows)),
        tables=(*asked, *requests_of(rules)),
    )


def rules_of(plan: Plan) -> tuple[DataRule, ...]:
    """What the plan's neighbours ask of rows taken together."""
    return plan.hidden.rules(plan.over.read(plan.measures))

"""Framed: what the units of a frame reported, one whole number a row, in the order of the frame."""
# ruff: noqa: S608 - tables and columns are numbered; no name or value of the data stands in a query

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.reading import Fault
from sfumato.confidential.engines.sources import attach
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed, scrubbed, without_values
from sfumato.errors import DataError
from sfumato.mechanisms import Cells
from sfumato.plan import Measure, Plan
from sfumato.schema import Clipped, Frame, Sum
from sfumato.statistics import Total

LARGEST_VALUE = 2**53
"""The largest value in steps: every whole number up to it is exact as a double, which is how engines read values."""


class FrameTabulation(Sealed):
    """The reports on the units of a frame, read once; a unit that did not report, born later or dead, counts as 0."""

    def __init__(self, plan: Plan, microdata: Microdata) -> None:
        assert plan.framed is not None  # noqa: S101 - the gate asks only for plans over a frame
        self._plan, self._framed = plan, plan.framed
        totals = [measure.of for measure in plan.measures if isinstance(measure.of, Total)]
        self._steps = {total.column: total.step for total in totals}
        self._values, self._faults = scrubbed(_read, plan.framed.frame, microdata, plan, self._steps)

    def faults(self) -> list[Fault]:
        """What in the data does not fit the plan: the columns and the rules."""
        return self._faults

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:  # noqa: ARG002 - nothing is kept of what is wrong
        return []

    def refuse_faults(self) -> None:
        for fault in self.faults():
            raise DataError(f"{fault}")

    def cells(self, measure: Measure) -> Cells:
        """The true values of a measure, one a row, with the groups that it is by; 0 outside its universe."""
        self.refuse_faults()
        grouping = self._framed.grouping(measure)
        table = self._framed.frame if grouping is None else grouping.groups
        (aggregate,) = framed_aggregates(measure)
        values = self._values[aggregate.of.column]
        if measure.where:
            values = values * self._framed.frame.rows(self._plan.universe(measure))
        return Cells(table, values, measure.of.step, self._plan.move(measure), grouping)


def framed_aggregates(measure: Measure) -> tuple[Sum, ...]:
    """What is read for a measure over a frame: a column, unclipped, as noise on roots needs no bound."""
    if not isinstance(measure.of, Total) or measure.of.power != 1:
        raise DataError(f"Measure '{measure.name}' is not a total; over a frame totals of a column are measured.")
    of = measure.of
    return (Sum(Clipped(of.column, Fraction(0), Fraction(LARGEST_VALUE), of.step, of.missing)),)


def framed_columns(plan: Plan) -> list[str]:
    """The columns of the microdata that a plan over a frame reads."""
    assert plan.frame is not None  # noqa: S101 - asked of plans over a frame
    return list(dict.fromkeys([plan.hidden.id or plan.frame.id, *(_column(measure) for measure in plan.measures)]))


def _column(measure: Measure) -> str:
    return framed_aggregates(measure)[0].of.column


def _read(
    frame: Frame, microdata: Microdata, plan: Plan, steps: dict[str, Fraction]
) -> tuple[dict[str, NDArray[np.int64]], list[Fault]]:
    import pyarrow.compute as pc

    columns = framed_columns(plan)
    with without_values("The data could not be read"):
        table = _table(microdata, columns)
        where = pc.index_in(table.column("c0").combine_chunks(), value_set=frame.ids)
    found: list[Fault] = []
    if where.null_count:
        found.append(Fault(columns[0], "some units are not in the frame, which lists every unit there is."))
    elif _twice(where, frame.size):
        found.append(Fault(columns[0], "some units report twice; one row a unit."))
    values = {}
    for place, column in enumerate(columns[1:], start=1):
        numbers = table.column(f"c{place}").combine_chunks()
        wrong = _wrong(numbers, steps[column])
        found += [Fault(column, wrong)] if wrong else []
        values[column] = np.zeros(frame.size, dtype=np.int64)
        if not found:
            whole = np.rint(numbers.to_numpy(zero_copy_only=False) / float(steps[column])).astype(np.int64)
            values[column][where.to_numpy(zero_copy_only=False)] = whole
    return ({} if found else values), found


def _twice(where: pa.Array, size: int) -> bool:
    seen = np.zeros(size, dtype=bool)
    seen[where.to_numpy(zero_copy_only=False)] = True
    return int(seen.sum()) < len(where)


def _table(microdata: Microdata, columns: list[str]) -> Any:
    import duckdb

    connection = duckdb.connect()
    parts = []
    for place, source in enumerate(microdata.sources):
        attach(connection, f"source{place}", source, columns)
        numbers = ", ".join(f"try_cast(c{number} AS DOUBLE) AS c{number}" for number in range(1, len(columns)))
        parts.append(f"SELECT CAST(c0 AS VARCHAR) AS c0, {numbers} FROM source{place}")
    return connection.sql(" UNION ALL ".join(parts)).to_arrow_table()


def _wrong(numbers: pa.Array, step: Fraction) -> str:
    """The rule that some values of a column break, or nothing."""
    if numbers.null_count:
        return "some values are missing or no numbers; a unit that has none is left out or reports 0."
    values = numbers.to_numpy(zero_copy_only=False)
    if (values < 0).any() or not np.isfinite(values).all():
        return "some values are below 0; square roots are of amounts that are 0 or more."
    steps = values / float(step)
    if (steps != np.rint(steps)).any():
        return (
            f"some values are no whole multiples of the step, {float(step):g}; round them before, or use a finer step."
        )
    if (steps >= LARGEST_VALUE).any():
        return "some values are too large to be exact; use a coarser step."
    return ""

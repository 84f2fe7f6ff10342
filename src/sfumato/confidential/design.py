"""Design: estimates over domains by survey weights, and their variance by replication."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.engines.choose import opened
from sfumato.confidential.engines.engine import Engine
from sfumato.confidential.engines.request import Reading, TableRequest
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed, scrubbed
from sfumato.confidential.tabulate import EMPTY
from sfumato.errors import DataError, PlanError, QueryError
from sfumato.plan import Plan
from sfumato.plan.weights import sums_weight
from sfumato.query.estimate import Variance
from sfumato.release import Withheld
from sfumato.schema import LARGEST, Aggregate, Box, Grid, Rows, Table, Weighted
from sfumato.schema.totals import totals_over
from sfumato.statistics import Statistic, Total

Floats = NDArray[np.float64]
LARGEST_CUBE = 30_000_000
"""The most numbers, cells times weights, that are held at once: 240 MB."""


@dataclass(frozen=True, eq=False, repr=False)
class Replicated(Sealed):
    """An estimate in every cell, and on the last axis the same from the full sample and then from every replicate."""

    values: NDArray[Any]

    @property
    def full(self) -> NDArray[Any]:
        """The estimates from the full sample."""
        return self.values[..., 0]

    @property
    def replicates(self) -> int:
        return int(self.values.shape[-1]) - 1

    def over(self, under: "Replicated") -> "Replicated":
        """The ratio to another estimate, replicate by replicate; not a number where its denominator is 0."""
        one, other = np.broadcast_arrays(self.values, under.values)
        ratios = np.full(one.shape, np.nan)
        return Replicated(np.divide(one, other, out=ratios, where=other != 0))


class Survey(Sealed):
    """The microdata of a plan as its design sees them, read for some attributes and columns; no row is left out."""

    def __init__(
        self,
        plan: Plan,
        microdata: Microdata,
        names: Sequence[str],
        columns: Sequence[str] = (),
        squares: Sequence[str] = (),
        clipped: Sequence[Total] = (),
    ) -> None:
        self.plan = plan
        summed = [*((column, 1) for column in columns), *((column, 2) for column in squares)]
        read = [_weighted(plan, column, power) for column, power in summed]
        read += [Weighted(one.column, one.missing, one.power, one.held, one.codes) for one in clipped]
        self._columns = {(one.column, one.power, one.clip): one for one in read}
        attributes = tuple(plan.schema.attribute(name) for name in dict.fromkeys(names))
        self._cells = Table(attributes)
        self._holds_cube = bool(plan.schema.replicates) and (
            self._cells.size * (1 + len(plan.schema.replicates)) <= LARGEST_CUBE
        )
        only = TableRequest(self._cells, (Weighted(),), Box()) if self._holds_cube and not summed else None
        # At_most bounds what is released; the truth has every record.
        self._need = Reading(plan.schema, attributes, (Weighted(), *self._columns.values()), only=only)
        self._microdata = microdata
        self._engine = self._opened(self._need)

    def _opened(self, need: Reading) -> Engine:
        """The engine that read the records; it stops at the first rule that is broken."""
        engine, _ = scrubbed(opened, self._microdata.sources, need, b"", self._microdata.engine, self._microdata.spill)
        for fault in engine.faults():
            engine.close()
            raise DataError(f"{fault} `sfumato check` lists the values, in a confidential report.")
        if engine.rows == 0:
            engine.close()
            raise DataError(EMPTY)
        return engine

    def close(self) -> None:
        """Forget all that was read."""
        self._engine.close()

    def total(
        self, grid: Grid, column: str | None = None, power: int = 1, clip: tuple[Fraction, Fraction] | None = None
    ) -> Replicated:
        """The weighted number of records, or the weighted total of a column or its square, in every box of a grid."""
        wanted = Weighted() if column is None else self._columns[column, power, clip]
        if column is None and self._cube is not None:
            return Replicated(totals_over(self._cube, self._cells.attributes, grid))
        return Replicated(self._summed(wanted, grid))

    def weighted(self, of: Statistic, grid: Grid) -> Replicated:
        """A weighted statistic in every box of a grid by each weight as it is, values within their bounds."""
        if isinstance(of, Total) and of.weighted:
            return self.total(grid, of.column, of.power, of.held)
        return self.total(grid)

    def _summed(self, wanted: Aggregate, grid: Grid) -> NDArray[Any]:
        """An aggregate of the records in every box of a grid, always summed in the order of the levels."""
        table = self.plan.schema.table([name for name, _ in grid.axes])
        sums = self._engine.aggregate(table, (wanted,), grid.within)[wanted]
        return totals_over(sums, table.attributes, Grid(grid.axes))

    def each(self, of: Statistic, grid: Grid) -> Replicated:
        """A statistic of the records in every box of a grid, each counted once, whether or not boxes may be summed."""
        with closing(self._opened(replace(self._need, aggregates=of.aggregates, only=None))) as engine:
            columns = (engine.aggregate(Table(()), of.aggregates, box) for box in grid.boxes())
            values = [float(of.value(column).item() * of.step) for column in columns]
        return Replicated(np.array(values).reshape(*grid.shape, 1))

    @cached_property
    def _cube(self) -> NDArray[np.int64] | None:
        """The weights and replicates over all attributes that are read, a cell's side by side, where they fit.

        Only whole ones: their sums are the same in any order, so a table from the cube is the table from the records.
        """
        if not self._holds_cube:
            return None
        sums = self._engine.aggregate(self._cells, (Weighted(),), Box())[Weighted()]
        return sums if np.issubdtype(sums.dtype, np.integer) else None

    def records(self, grid: Grid) -> NDArray[np.int64]:
        """How many records of the sample are in every box of a grid."""
        return self._summed(Rows(), grid)

    def variances(self, estimates: Replicated) -> Floats | Withheld:
        """The sampling variances: none in a census, by replication where there are replicates."""
        if self.plan.schema.weight is None:
            unknown = Withheld("the plan is of a sample and names no weight in [data]")
            return np.zeros(estimates.full.shape) if self.plan.sampling == "census" else unknown
        if estimates.replicates == 0:
            if self.plan.schema.replicates or self.plan.schema.order:
                return Withheld("every record counts once, so that replicate weights say nothing of it")
            return Withheld("the plan has a weight and neither replicates nor an order of selection in [data]")
        return self.plan.schema.replication.variance(estimates.full, estimates.values[..., 1:])

    @property
    def method(self) -> str:
        """How the errors are found, in words."""
        schema, census = self.plan.schema, self.plan.sampling == "census"
        if schema.weight is None:
            return "A census: no weights." if census else "No standard errors: [data] names no weight."
        if not (schema.order or schema.replicates):
            return f"Weight {schema.weight}; no standard errors: name [data] replicates, or an order of selection."
        given = f"{len(schema.replicates)} replicate weights"
        built = f"{schema.replicate_count} replicates built from the order of {schema.order}"
        if schema.order:
            return f"Weight {schema.weight}; successive difference replication, {built}."
        return f"Weight {schema.weight}; {given}, {schema.replication.words()}."


def has_replicates(plan: Plan, of: Statistic) -> bool:
    """Whether replicate weights tell the error of a statistic: of the total of the weight, and of weighted totals."""
    return sums_weight(plan.schema, of) or (isinstance(of, Total) and bool(of.weighted))


def clipped_of(of: Statistic) -> tuple[Total, ...]:
    """The weighted total of values within bounds that a statistic is, if it is one."""
    return (of,) if isinstance(of, Total) and of.weighted else ()


def refuse_if_too_large(table: Table, plan: Plan) -> None:
    """Say so before anything is opened when the cells and their replicates would not fit."""
    table.refuse_if_too_large()
    schema = plan.schema
    columns = 1 + (schema.replicate_count if schema.order else len(schema.replicates))
    if table.size * columns > LARGEST:
        raise PlanError(
            f"A table of {table.size:,} cells with {columns} weights each does not fit; leave out an attribute."
        )


def _weighted(plan: Plan, column: str, power: int) -> Weighted:
    """The weighted sums of a column, with what the plan declares of a missing value where it measures the column."""
    measured = [one.of for one in plan.measures if isinstance(one.of, Total) and one.of.column == column]
    declared = {(one.missing, one.codes) for one in measured}
    if len(declared) > 1:
        raise QueryError(f"The plan gives a missing {column} several values; a table can use only one.")
    missing, codes = declared.pop() if declared else (None, ())
    return Weighted(column, missing, power, codes=codes)


def variance_at(variances: Floats | Withheld, place: tuple[int, ...]) -> Variance:
    """The variance of one estimate, or why it has none."""
    if isinstance(variances, Withheld):
        return variances
    found = float(variances[place])
    return Withheld("a replicate has nothing to divide by") if np.isnan(found) else found

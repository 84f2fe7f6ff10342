"""Truth: what the microdata say of each measure, as they are and as the plan's bounds leave them."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.calibrate import Diverged, Step
from sfumato.confidential.assessment.comparisons import Floats, Integers, margin
from sfumato.confidential.assessment.laid_out import LaidOut
from sfumato.confidential.design import Replicated, Survey, clipped_of, has_replicates
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed
from sfumato.confidential.tabulate import Tabulation
from sfumato.draws import SystemDraws
from sfumato.mechanisms import Cells, Geometric
from sfumato.plan import Measure, Plan
from sfumato.release import Cube, Independent, Subject, stated
from sfumato.schema import Box, Clipped, Grid, LeafGroups, Replication, Sorted, Table
from sfumato.statistics import Count, Total
from sfumato.statistics.quantile import at_share

MOST_REPLICATED = 30_000_000
"""The most numbers, cells times weights, for which the replicates of a whole table are held at once."""


@dataclass(frozen=True, eq=False, repr=False)
class Truth(Sealed):
    """The cells of one measure: records, values as they are, held within the clip, and with the rows that were kept."""

    measure: Measure
    laid_out: LaidOut
    records: Integers
    as_is: Floats
    clipped: Floats
    kept: Floats
    kept_rows: int
    weight: Floats | None = None
    made: Step | None = None
    """The step that makes another statistic of the cells, where these are of that."""
    of_rows: bool = False
    """Whether they are of what rows have, as the percentile of rows that a step comes near by counts of them."""

    @property
    def additive(self) -> bool:
        """Whether cells may be summed."""
        return self.measure.of.additive and (self.made is None or self.made.additive)

    @property
    def worth(self) -> float:
        """What one record adds on average, 1 in a count."""
        rows = float(self.laid_out.first(self.records).sum())
        value = float(np.abs(self.laid_out.first(self.as_is)).sum())
        adds_one = not isinstance(self.measure.of, Total) and not self.measure.of.weighted
        return value / rows if rows and value and not adds_one else 1.0


class Truths(Sealed):
    """The microdata of a plan read for assessment: without bounds, with the clip, and with at_most as well.

    Which rows of a unit are kept was drawn by the run and cannot be known again; another draw stands for it here.
    """

    def __init__(
        self, plan: Plan, microdata: Microdata, *, weighted: bool = False, wanted: Sequence[tuple[str, ...]] = ()
    ) -> None:
        self._wanted = wanted
        self.plan, self._microdata, self._weight = plan, microdata, plan.schema.weight if weighted else None
        self._open = ExitStack()
        self._as_is = self._open.enter_context(closing(as_they_are(plan, microdata, self._weight)))
        self._weighed = self._as_is
        if any(measure.of.weighted for measure in plan.measures):
            self._weighed = self._open.enter_context(closing(as_they_are(plan, microdata, weighted=True)))
        steps = [(step, plan.table(plan.began(step.name))) for step in plan.then if not step.additive]
        also = tuple(of for step, table in steps if (of := step.of_rows(table)))
        kept = Tabulation(plan, microdata, SystemDraws(), also=() if plan.hidden.truncation else also)
        self._kept = self._all = self._open.enter_context(closing(kept))
        if plan.hidden.truncation:
            whole = Tabulation(plan, microdata, SystemDraws(), truncated=False, also=also)
            self._all = self._open.enter_context(closing(whole))

    def close(self) -> None:
        """Forget all that was read."""
        self._open.close()

    def cells(self, measure: Measure) -> Cells:
        """The cells that noise is added to."""
        return self._kept.cells(measure)

    def of(self, measure: Measure) -> Truth:
        """The truth of one measure."""
        laid_out, step = self._laid_out(measure), float(measure.of.step)
        grids = [leaves(table, self.plan, measure) for table in laid_out.tables]
        records = joined([self._as_is.records(grid) for grid in grids])
        clipped = np.asarray(laid_out.taken(self._all.cells(measure).values) * step, dtype=np.float64)
        as_is = clipped  # whatever is no total knows of no clip
        if isinstance(measure.of, Total):
            as_is = self._whole(grids, measure.of.column, measure.of.power, weighted=bool(measure.of.weighted))
        elif isinstance(measure.of, Count) and measure.of.weighted:
            as_is = self._whole(grids, weighted=True)
        counted = replace(measure, of=Count(), with_=Geometric(1))
        return Truth(
            measure=measure,
            laid_out=laid_out,
            records=records,
            as_is=as_is,
            clipped=clipped,
            kept=np.asarray(laid_out.taken(self._kept.cells(measure).values) * step, dtype=np.float64),
            kept_rows=int(laid_out.first(laid_out.taken(self._kept.cells(counted).values)).sum()),
            weight=self._whole(grids, self._weight) if self._weight else None,
        )

    def made_of(self, measure: Measure, step: Step) -> Truth:
        """The truth of what a step makes of one measure: that of the rows themselves, where it tells of rows.

        Beside it, as what noise was added to, stands what the step would make of the counts without noise.
        """
        before = self.of(measure)
        table = self.plan.table(measure)
        laid_out = LaidOut.of((step.makes(table),))
        parts = [ideal(step, table, part, measure) for part in (before.as_is, before.clipped, before.kept)]
        if of := step.of_rows(table):
            parts[:2] = [self._of_rows(measure, step, of)] * 2
        records = margin(before.records, table.names, laid_out.names)
        made = replace(before, laid_out=laid_out, records=records, made=step, of_rows=of is not None)
        return replace(made, as_is=parts[0], clipped=parts[1], kept=parts[2])

    def _of_rows(self, measure: Measure, step: Step, of: Sorted) -> Floats:
        """The share of the rows of every cell that a step tells of; not a number where there are none.

        A row without a value is in no band, and is not counted.
        """
        table, universe = self.plan.table(measure), self.plan.universe(measure)
        made, (value,) = step.makes(table), of.values
        (banded,) = (one for one in table.attributes if one.name not in made.names)
        inside = np.zeros(len(banded.levels.leaves), dtype=bool)
        inside[banded.banded] = True
        rows = self._all.of_rows(made, of, universe.within(Box({banded.name: inside})))
        assert isinstance(value, Clipped)  # noqa: S101 - shares are of values within bounds
        assert of.at is not None  # noqa: S101 - and at a share
        found = at_share(rows, of.at, 0) * float(value.step)
        return np.where(rows.lengths > 0, found, np.nan).reshape(made.shape)

    def _whole(
        self, grids: Sequence[Grid], column: str | None = None, power: int = 1, *, weighted: bool = False
    ) -> Floats:
        """The totals of a column as it is, or of the weights, table after table."""
        survey = self._weighed if weighted else self._as_is
        found = [survey.total(grid, column, power).full for grid in grids]
        return np.asarray(joined(found), dtype=np.float64)

    def sampling(self, measure: Measure) -> "SamplingVariances":
        laid_out = self._laid_out(measure)
        return self._open.enter_context(closing(SamplingVariances(self.plan, self._microdata, measure, laid_out)))

    def _laid_out(self, measure: Measure) -> LaidOut:
        return LaidOut.of(self.plan.over.tables(measure), self._wanted)


def ideal(step: Step, table: Table, values: Floats, measure: Measure) -> Floats:
    """What a step makes of true values, in the unit of what it makes; not a number where it makes none."""
    steps = np.rint(values / float(measure.of.step)).astype(np.int64).reshape(table.shape)
    about = Subject(measure.name, measure.of.name, measure.name, measure.of.unit, measure.of.step)
    made = step.ideal(Cube(about, table, steps, Independent(0.0)))
    if isinstance(made, Diverged):
        return np.full(step.makes(table).shape, np.nan)
    grid = Grid(tuple((one.name, LeafGroups.each(len(one.levels.leaves))) for one in made.attributes))
    statuses = made.missing(grid)
    missing = statuses.missing.reshape(made.values.shape) if statuses else np.zeros(made.values.shape, dtype=bool)
    return np.where(missing, np.nan, made.values * float(made.subject.step))


def as_they_are(plan: Plan, microdata: Microdata, weight: str | None = None, *, weighted: bool = False) -> Survey:
    """The microdata of a plan without clip and step, every record counted once; a weight is a column like others.

    Weighted, records count by their weights.
    """
    names = [name for measure in plan.measures for name in (*measure.names, *measure.where)]
    summed = [(one.of.column, one.of.power) for one in plan.measures if isinstance(one.of, Total)]
    summed += [(weight, 1)] if weight else []
    columns, squares = ([column for column, power in dict.fromkeys(summed) if power == of] for of in (1, 2))
    counted = _unreplicated(plan) if weighted else _unweighted(plan)
    return Survey(counted, microdata, names, columns, squares)


def _unweighted(plan: Plan) -> Plan:
    """The plan as if every record counted once."""
    unweighted = _unreplicated(plan)
    schema = replace(unweighted.schema, weight=None, weight_kind="", weight_clip=None)
    return replace(unweighted, schema=schema, publish=replace(plan.publish, least_weighted=None))


def _unreplicated(plan: Plan) -> Plan:
    """The plan without replicates; its measures are as they were decided."""
    schema = replace(plan.schema, replicates=(), order=None, replication=Replication())
    return replace(plan, schema=schema, released=True)


def joined(tables: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The cells of one table in its shape, of several one after the other."""
    return tables[0] if len(tables) == 1 else np.concatenate([table.ravel() for table in tables])


def leaves(table: Table, plan: Plan, measure: Measure) -> Grid:
    """Every cell of a table, within the universe of a measure."""
    axes = tuple((attribute.name, attribute.levels.under) for attribute in table.attributes)
    return Grid(axes, plan.universe(measure))


class SamplingVariances(Sealed):
    """The sampling variances of one measure's margins: none in a census, by replicates where weights are summed."""

    def __init__(self, plan: Plan, microdata: Microdata, measure: Measure, laid_out: LaidOut) -> None:
        self._plan, self._measure, self._laid_out = plan, measure, laid_out
        self._held: dict[int, NDArray[Any]] = {}
        self._survey: Survey | None = None
        self.why = self._why_not()
        if self.why or plan.schema.weight is None:
            return
        self._survey = Survey(plan, microdata, (*measure.names, *measure.where), clipped=clipped_of(measure.of))
        columns = 1 + (plan.schema.replicate_count if plan.schema.order else len(plan.schema.replicates))
        self._holds = self._laid_out.size * columns <= MOST_REPLICATED

    def close(self) -> None:
        if self._survey is not None:
            self._survey.close()

    def _why_not(self) -> str:
        """Why the released numbers have no sampling error that can be computed, or nothing."""
        schema = self._plan.schema
        if schema.weight is None:
            return "" if self._plan.sampling == "census" else "the plan names no weight"
        if not (schema.replicates or schema.order):
            return "the plan names neither replicate weights nor an order of selection"
        if not has_replicates(self._plan, self._measure.of):
            return f"it does not sum the weight '{schema.weight}', so it speaks of the sample itself"
        return ""

    def _table(self, names: Sequence[str]) -> Table:
        return self._laid_out.table(names)

    def _weighed(self, names: Sequence[str]) -> Replicated:
        assert self._survey is not None  # noqa: S101 - read in the constructor
        return self._survey.weighted(self._measure.of, leaves(self._table(names), self._plan, self._measure))

    def variances(self, names: Sequence[str]) -> Floats | None:
        """The variances of the table by some attributes; nothing where there are none."""
        if self.why:
            return None
        if self._survey is None:
            return np.zeros(self._table(names).shape)
        at = self._laid_out.holder(names)
        if not self._holds or at is None:
            return stated(self._survey.variances(self._weighed(names)))
        whole = self._laid_out.tables[at].names
        if at not in self._held:
            self._held[at] = self._weighed(whole).values
        return stated(self._survey.variances(Replicated(margin(self._held[at], whole, names))))

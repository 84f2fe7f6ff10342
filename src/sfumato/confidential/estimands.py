"""Estimands: what is estimated in every cell of a true table, by the weights of the plan's design."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sfumato.confidential.design import Replicated, Survey, clipped_of, has_replicates
from sfumato.errors import QueryError
from sfumato.plan import Measure, Plan
from sfumato.plan.weights import is_weighted
from sfumato.schema import Grid, LeafGroups, Where
from sfumato.statistics import Total


class Estimand(ABC):
    """Whatever can be estimated over the boxes of a grid; it names what must be read for it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that it reads beside those of the grid."""
        return ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it sums."""
        return ()

    @property
    def clipped(self) -> tuple[Total, ...]:
        """The weighted totals of values within bounds that it sums."""
        return ()

    @abstractmethod
    def title(self, plan: Plan) -> str: ...

    @abstractmethod
    def estimate(self, survey: Survey, grid: Grid) -> Replicated: ...

    def method(self, survey: Survey) -> str:
        """How the errors are found, in words."""
        return survey.method


@dataclass(frozen=True)
class TotalOf(Estimand):
    """The number of units, or the total of a column over them."""

    column: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return () if self.column is None else (self.column,)

    def title(self, plan: Plan) -> str:
        number = f"{'Weighted number' if plan.schema.weight else 'Number'} of {plan.schema.unit}s"
        if self.column is None or self.column != plan.schema.weight:
            return number if self.column is None else f"Total {self.column}"
        return f"Total {self.column}: {number.lower()}"

    def estimate(self, survey: Survey, grid: Grid) -> Replicated:
        # The weight is not weighted by itself: its total is what all records stand for.
        return survey.total(grid, None if self.column == survey.plan.schema.weight else self.column)


@dataclass(frozen=True)
class RatioOf(Estimand):
    """The total of one column over the total of another."""

    over: str
    under: str

    @property
    def columns(self) -> tuple[str, ...]:
        return self.over, self.under

    def title(self, plan: Plan) -> str:
        _refuse_weight(plan, self.over, self.under)
        return f"{self.over} per {self.under}"

    def estimate(self, survey: Survey, grid: Grid) -> Replicated:
        return survey.total(grid, self.over).over(survey.total(grid, self.under))


@dataclass(frozen=True)
class MeanOf(TotalOf):
    """The mean of a column over the units."""

    column: str

    def title(self, plan: Plan) -> str:
        _refuse_weight(plan, self.column)
        return f"Mean {self.column} of {plan.schema.unit}s"

    def estimate(self, survey: Survey, grid: Grid) -> Replicated:
        return super().estimate(survey, grid).over(survey.total(grid))


def _refuse_weight(plan: Plan, *columns: str) -> None:
    """A mean or ratio by the weight of the weight itself means nothing."""
    if plan.schema.weight in columns:
        raise QueryError(
            f"'{plan.schema.weight}' is the weight, which says how many {plan.schema.unit}s a record stands for, "
            f"and is no value of one; its total is their number: --total {plan.schema.weight}."
        )


@dataclass(frozen=True)
class MeasureOf(Estimand):
    """What a measure of the plan is of, in every cell, over its universe, as in a release.

    Where it is weighted, replicate weights tell its error, as they are, whatever the clip of the weight.
    """

    measure: Measure

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.measure.where)

    @property
    def clipped(self) -> tuple[Total, ...]:
        return clipped_of(self.measure.of)

    def title(self, plan: Plan) -> str:
        title = self.measure.titled(plan.schema.unit, plan.language)
        return f"{title}, every {plan.schema.unit} counted once" if self._of_sample(plan) else title

    def estimate(self, survey: Survey, grid: Grid) -> Replicated:
        within = Grid(grid.axes, grid.within.within(survey.plan.universe(self.measure)))
        found = survey.each(self.measure.of, within)
        if not has_replicates(survey.plan, self.measure.of):
            return found
        weighed = survey.weighted(self.measure.of, within).values
        return Replicated(np.concatenate([found.values, found.values + weighed[..., 1:] - weighed[..., :1]], axis=-1))

    def method(self, survey: Survey) -> str:
        plan = survey.plan
        if has_replicates(plan, self.measure.of) or plan.schema.weight is None:
            return survey.method
        if not self._of_sample(plan):
            return "No standard errors: replicates are for weighted counts and totals."
        unit = plan.schema.unit
        return f"No standard errors: every {unit} of the sample counts once, so this is about the sample itself."

    def _of_sample(self, plan: Plan) -> bool:
        """Whether it is about the records of a sample and not about those whom they stand for."""
        return plan.schema.weight is not None and not is_weighted(plan.schema, self.measure.of)


@dataclass(frozen=True)
class ShareOf(Estimand):
    """The share of a cell's units that are in some levels: a rate."""

    part: Where

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.part)

    def title(self, plan: Plan) -> str:
        said = []
        for name, wanted in self.part.items():
            levels, listed = plan.schema.attribute(name).levels, [wanted] if isinstance(wanted, (str, int)) else wanted
            try:
                said.append(f"{name} {' or '.join(levels.label(levels.find(one)) for one in listed)}")
            except KeyError as error:
                raise QueryError(f"{name}: {error.args[0]}") from None
        return f"Share of {plan.schema.unit}s with {' and '.join(said)}"

    def estimate(self, survey: Survey, grid: Grid) -> Replicated:
        part = survey.plan.schema.table(self.names).box(self.part)
        return survey.total(Grid(grid.axes, grid.within.within(part))).over(survey.total(grid))


@dataclass(frozen=True)
class ShareOfRow(Estimand):
    """The share that a cell has in all units of its row; the last axis is shared out, levels not shown included."""

    def title(self, plan: Plan) -> str:
        return f"Share of the {plan.schema.unit}s of each row"

    def estimate(self, survey: Survey, grid: Grid) -> Replicated:
        if not grid.axes:
            raise QueryError("Shares of a row need a variable to be shared out over; name one in the rows or columns.")
        *rows, (name, groups) = grid.axes
        whole = Grid((*rows, (name, LeafGroups.parted(np.zeros(groups.width, dtype=np.intp), 1))), grid.within)
        return survey.total(grid).over(survey.total(whole))

"""TrueTable: the table as the microdata say it, with design-based standard errors; confidential."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import product as combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.design import Replicated, Survey, refuse_if_too_large, variance_at
from sfumato.confidential.estimands import Estimand
from sfumato.confidential.frame_survey import FrameSurvey
from sfumato.confidential.labels import labelled
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed
from sfumato.errors import QueryError
from sfumato.plan import Plan
from sfumato.query import Axis, Choice, Estimate
from sfumato.query.axis import axis
from sfumato.query.figures import codes_of, only
from sfumato.release import Withheld
from sfumato.schema import Box, Grid, Where


@dataclass(frozen=True)
class TableLayout:
    """How a table is laid out: its rows, its column, the universe, and the levels shown."""

    rows: Sequence[str]
    cols: str | None = None
    where: Where = field(default_factory=dict)
    at: Mapping[str, Choice] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[str, ...]:
        return (*self.rows, self.cols) if self.cols else tuple(self.rows)

    def axes(self, plan: Plan) -> tuple[Axis, ...]:
        for name in self.at:
            if name not in self.shown:
                raise QueryError(f"--at names '{name}', which is neither in the rows nor in the columns of the table.")
        within = self._within(plan)
        whole = (axis(plan.schema.attribute(name), self.at.get(name)) for name in self.shown)
        return tuple(one.inside(within.mask(one.attribute)) for one in whole)

    def only(self, plan: Plan) -> str:
        """What the table is only about, in labels."""
        return only({name: codes_of(levels) for name, levels in self.where.items()}, plan.schema.attributes)

    def _within(self, plan: Plan) -> Box:
        try:
            return plan.schema.table(tuple(self.where)).box(self.where)
        except KeyError as error:
            raise QueryError(error.args[0]) from None

    def grid(self, plan: Plan) -> Grid:
        return Grid(tuple((one.attribute.name, one.groups) for one in self.axes(plan)), self._within(plan))


@dataclass(frozen=True, eq=False, repr=False)
class TrueTable(Sealed):
    """Estimates over the axes of a table, and how many records of the sample each rests on."""

    title: str
    axes: tuple[Axis, ...]
    estimates: Replicated
    variances: NDArray[np.float64] | Withheld
    sample: NDArray[np.int64]
    method: str
    has_columns: bool

    def at(self, place: tuple[int, ...]) -> Estimate | None:
        """The estimate at a place counted from 0 on each axis; none where there is nothing to divide by."""
        value = self.estimates.full[place].item()
        if value != value:  # noqa: PLR0124 - not a number
            return None
        return Estimate(value, 0.0, variance_at(self.variances, place))

    def items(self) -> Iterator[tuple[tuple[int, ...], Estimate | None]]:
        """Every cell, the last axis running fastest."""
        for place in combinations(*(range(len(one.codes)) for one in self.axes)):
            yield place, self.at(place)

    def records(self) -> list[dict[str, Any]]:
        """One record a cell: codes, labels, estimate, errors, and records in the sample."""
        return [self._record(place, estimate) for place, estimate in self.items()]

    def _record(self, place: tuple[int, ...], estimate: Estimate | None) -> dict[str, Any]:
        record: dict[str, Any] = {}
        for one, index in zip(self.axes, place, strict=True):
            record |= {one.attribute.name: one.codes[index], f"{one.attribute.name}_label": one.labels[index]}
        errors = (estimate.se, estimate.cv, estimate.moe()) if estimate else (None, None, None)
        stated = {name: _stated(error) for name, error in zip(("se", "cv", "moe90"), errors, strict=True)}
        return record | {"estimate": estimate and estimate.value} | stated | {"records": int(self.sample[place])}


def _stated(error: float | Withheld | None) -> float | None:
    """An error as a number; none where it is withheld or infinite, as a CV of 0 is."""
    return None if error is None or isinstance(error, Withheld) or error == float("inf") else error


def true_table(plan: Plan, microdata: Microdata, layout: TableLayout, of: Estimand) -> TrueTable:
    """The true table of a layout; its size, and what the plan does not know, is refused before the data are opened."""
    refuse_if_too_large(plan.schema.table(layout.shown), plan)
    _, grid, _ = layout.axes(plan), layout.grid(plan), of.title(plan)
    plan = labelled(plan, microdata)
    axes = layout.axes(plan)
    by = f" by {', '.join(one.attribute.label for one in axes)}" if axes else ""
    title = of.title(plan) + by
    survey: Any
    if (register := plan.over.register) is not None:
        survey = FrameSurvey(plan, microdata, register)
    else:
        survey = Survey(plan, microdata, (*layout.shown, *layout.where, *of.names), of.columns, clipped=of.clipped)
    with closing(survey):
        estimates = of.estimate(survey, grid)
        variances, sample = survey.variances(estimates), survey.records(grid)
    return TrueTable(title, axes, estimates, variances, sample, of.method(survey), layout.cols is not None)

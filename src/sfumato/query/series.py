"""Series: releases of several periods asked as one, the period a column like any other, with years added up.

Each release has noise of its own, drawn anew, so the noise variances of periods add up. Sampling errors do not where
the samples share units, which they may; then the error of a year is withheld.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError
from sfumato.query.axis import Axis, Choice
from sfumato.query.columns import Columns, Floats, emptied
from sfumato.query.crosstab import Crosstab
from sfumato.query.engine import QueryEngine, open_folder
from sfumato.query.estimate import Estimate, Figure
from sfumato.query.figures import LARGEST_PAGE
from sfumato.query.periods import AtPeriod, by_period, over_periods
from sfumato.query.portable import Portable
from sfumato.release import NoNumber, Statuses, Withheld, withheld
from sfumato.schema import Attribute, Levels, Where

PERIOD = "period"
TOGETHER = ("sum", "mean")
SHARED = Withheld("the samples of the periods may share units, so their errors do not simply add up")


@dataclass(frozen=True, eq=False)
class Series:
    """Releases in the order of their periods; each question is asked of all of them."""

    engines: tuple[QueryEngine, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "engines", by_period(self.engines))
        if not self.engines:
            raise QueryError("A series has no releases; name the folder of each.")
        if not all(self.periods):
            raise QueryError(
                "A release of the series has no period; its plan gives one, for example period = '2026-Q1'."
            )

    @property
    def periods(self) -> tuple[str, ...]:
        return tuple(engine.release.manifest.period for engine in self.engines)

    def total(self, where: Where | None = None, of: str | None = None) -> tuple[AtPeriod, ...]:
        """The total of the same levels in each release; a release that cannot answer says why."""
        return over_periods(self.engines, where, of)

    def table(
        self,
        rows: str | Sequence[str] = (),
        where: Where | None = None,
        of: str | None = None,
        at: Mapping[str, Choice] | None = None,
        together: str | None = None,
    ) -> "SeriesTable":
        """The same table in each release side by side; `together` adds a "sum" or "mean" of each year."""
        if together is not None and together not in TOGETHER:
            raise QueryError(f"Periods are taken together as their {' or '.join(TOGETHER)}; got '{together}'.")
        tables = []
        for engine, period in zip(self.engines, self.periods, strict=True):
            try:
                tables.append(engine.table(rows, None, where, of, at))
            except QueryError as error:
                raise QueryError(f"{period}: {error}") from None
        _refuse_other_levels(tables, self.periods)
        cells = len(tables) * tables[0].size
        if cells > LARGEST_PAGE:
            raise QueryError(
                f"The table has {cells:,} cells over {len(tables)} periods, more than {LARGEST_PAGE:,}; show a higher "
                "level, fewer variables, or filter."
            )
        return SeriesTable(tuple(tables), self.periods, together)

    def warnings(self) -> list[str]:
        """What a reader must be told of any of the releases."""
        pairs = zip(self.periods, self.engines, strict=True)
        return [f"{period}: {warning}" for period, engine in pairs for warning in engine.warnings()]


def series(releases: Iterable[QueryEngine | Path | str]) -> Series:
    """The series of some releases, each opened or given by its folder."""
    return Series(tuple(one if isinstance(one, QueryEngine) else open_folder(one) for one in releases))


@dataclass(frozen=True, eq=False)
class PeriodColumns(Columns):
    """The columns of several periods side by side, the period running fastest, each with the law of its own noise."""

    every: tuple[Columns, ...] = ()

    @property
    def lopsided(self) -> bool:
        return any(one.lopsided for one in self.every)

    def reach(self, level: float) -> tuple[Floats, Floats]:
        below, above = zip(*(one.reach(level) for one in self.every), strict=True)
        return _beside(below), _beside(above)


class SeriesTable(Portable):
    """One table in several periods: the axes of the table, then the periods, then what they are together."""

    has_columns = True
    note = "Each release has noise of its own, so the noise of periods adds up as if independent, which it is."
    """What the errors of a year rest on."""

    def __init__(self, tables: tuple[Crosstab, ...], periods: tuple[str, ...], together: str | None) -> None:
        self.tables, self.periods, self.together = tables, periods, together
        self.product, self.where = tables[0].product, tables[0].where
        self.releases = tuple(release for table in tables for release in table.releases)
        self.years = years(periods) if together else {}
        names = [f"{year}, {together} of {len(places)}" for year, places in self.years.items()]
        levels = Levels.of([*periods, *names])
        self.axes = (*tables[0].axes, Axis(Attribute(PERIOD, levels, label="Period"), levels.codes))

    @property
    def title(self) -> str:
        return f"{self.tables[0].title}, {self.periods[0]} to {self.periods[-1]}"

    @cached_property
    def _columns(self) -> "PeriodColumns":
        each = [table.columns() for table in self.tables]
        every = [
            *each,
            *(together_of([each[place] for place in places], self.together) for places in self.years.values()),
        ]
        estimates = _beside(one.estimate for one in every)
        return PeriodColumns(
            estimates.astype(np.float64) if self.together == "mean" else estimates,
            _beside(one.noise_variance for one in every),
            _beside(one.sampling_variance for one in every),
            _beside(one.cells for one in every),
            each[-1].grades,
            statuses=_statuses([one.statuses for one in every], len(each[0])),
            every=tuple(every),
        )

    def figure(self, flat: int) -> Figure:
        cell, column = divmod(flat, len(self.axes[-1].codes))
        if column < len(self.periods):
            return self.tables[column].figure(cell)
        columns, used = self._columns, list(self.years.values())[column - len(self.periods)]
        parts = [self.tables[place].figure(cell) for place in used]
        noises = (part.noise_variance for part in parts if isinstance(part, Estimate))
        unsaid = withheld(*noises)
        sampled = SHARED if np.isnan(columns.sampling_variance[flat]) else None
        return columns.every[column].figure(cell, unsaid, sampled, self.product.subject)


def _statuses(each: Sequence[Statuses | None], size: int) -> Statuses | None:
    """The statuses of columns of cells side by side, the period running fastest."""
    kinds: list[NoNumber] = []
    found = np.zeros((size, len(each)), dtype=int)
    for column, statuses in enumerate(each):
        if statuses:
            found[:, column] = np.where(statuses.missing, statuses.which.ravel() + len(kinds), 0)
            kinds += statuses.kinds
    return Statuses(tuple(kinds), found) if kinds else None


def _first_missing(parts: Sequence[Columns]) -> Statuses | None:
    """Why cells of several periods together hold no number: one of the periods holds none."""
    beside = _statuses([one.statuses for one in parts], len(parts[0]))
    if beside is None:
        return None
    first = (beside.which > 0).argmax(axis=1)
    return Statuses(beside.kinds, beside.which[np.arange(len(first)), first])


def _beside(columns: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Columns of cells side by side, the period running fastest."""
    return np.stack(list(columns), axis=1).ravel()


def together_of(parts: Sequence[Columns], together: str | None) -> Columns:
    """Periods together: values and noise variances add up, sampling errors only where there are none."""
    scale = 1 / len(parts) if together == "mean" else 1
    statuses = _first_missing(parts)
    empty = statuses.missing if statuses else np.zeros(len(parts[0]), dtype=bool)
    # Whole estimates in 64 bits are below 2^53 (`in_units`), and larger ones integers of Python: no year wraps.
    value = np.sum([np.where(empty, 0, one.estimate) for one in parts], axis=0) * scale
    noise = np.sum([one.noise_variance for one in parts], axis=0)
    sampled = np.sum([one.sampling_variance for one in parts], axis=0)
    cells = np.sum([one.cells for one in parts], axis=0)
    unsampled = np.where(sampled == 0, 0.0, np.nan)
    law = reduce(lambda one, other: one.plus(other), [one.law for one in parts]).times(scale)
    return Columns(emptied(value, empty), noise * scale**2, unsampled, cells, parts[-1].grades, law, statuses)


def years(periods: Sequence[str]) -> dict[str, list[int]]:
    """The places of the periods of each year that has several; of all of them where years cannot be told.

    >>> years(["2025-Q4", "2026-Q1", "2026-Q2"])
    {'2026': [1, 2]}
    >>> years(["spring", "summer"])
    {'all': [0, 1]}
    """
    found: dict[str, list[int]] = {}
    for place, period in enumerate(periods):
        year = re.match(r"\d{4}(?!\d)", period)
        found.setdefault(year[0] if year else "", []).append(place)
    several = {year: places for year, places in found.items() if len(places) > 1}
    return several if several and "" not in found else {"all": list(range(len(periods)))}


def _refuse_other_levels(tables: Sequence[Crosstab], periods: Sequence[str]) -> None:
    """The rows of all periods must be the same ones."""
    if PERIOD in {axis.attribute.name for axis in tables[0].axes}:
        raise QueryError("A variable of the table is named 'period' itself; ask each release apart.")
    for table, period in zip(tables[1:], periods[1:], strict=True):
        for one, other in zip(tables[0].axes, table.axes, strict=True):
            only = set(one.codes) ^ set(other.codes)
            if one.codes != other.codes:
                which = f" ('{min(only)}' stands in one of them only)" if only else ""
                raise QueryError(
                    f"{one.attribute.label} has other levels in {period} than in {periods[0]}{which}; name codes that "
                    "all releases have, or groups of them."
                )
        if table.product.subject.unit != tables[0].product.subject.unit:
            raise QueryError(f"{period} is in {table.product.subject.unit}, {periods[0]} is not; choose with `of`.")

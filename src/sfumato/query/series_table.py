"""SeriesTable: one table in several periods, the period an axis like any other, at the end or wherever it is wanted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError
from sfumato.pictures import KINDS, Picture
from sfumato.query.answer import time_name
from sfumato.query.axis import Axis
from sfumato.query.caveats import Caveats, joint
from sfumato.query.change import Change
from sfumato.query.changed_table import ChangedTable, other_bounds
from sfumato.query.columns import Floats
from sfumato.query.crosstab import Crosstab
from sfumato.query.estimate import Estimate, Figure
from sfumato.query.headline import TableFinding
from sfumato.query.movement import movement_of
from sfumato.query.moves import changes_between, move_of
from sfumato.query.period_columns import PeriodColumns, together_of
from sfumato.query.plot import caption_of, in_language, plot_of
from sfumato.query.portable import Portable
from sfumato.query.shared_noise import in_common
from sfumato.query.wording import Sentence, words
from sfumato.release import NoNumber, Withheld, withheld
from sfumato.schema import Attribute, Levels

TOGETHER = ("sum", "mean")
SHARED = Withheld("the samples of the periods may share units, so their errors do not simply add up")


@dataclass(frozen=True)
class ReleasePeriod:
    """A period as it stands on an axis: its code, its label where that says more, and what is noted of it."""

    code: str
    label: str = ""
    note: str = ""


def period_attribute(periods: Sequence[ReleasePeriod], name: str, label: str = "Period") -> Attribute:
    """The variable whose levels are periods."""
    return Attribute(
        name, Levels.of({"code": one.code, "label": one.label, "note": one.note} for one in periods), label=label
    )


class SeriesTable(Portable):
    """One table in several periods, or its changes between them: its own axes, and the periods at a place among them.

    What several periods of a year are together follows the periods.
    """

    def __init__(
        self,
        tables: Sequence[Portable],
        periods: Sequence[ReleasePeriod],
        together: str | None = None,
        place: int | None = None,
        *,
        has_columns: bool = True,
    ) -> None:
        self.tables, self.periods, self.together = tuple(tables), tuple(periods), together
        self.product, self.where, self.has_columns = tables[-1].product, tables[-1].where, has_columns
        releases = {id(release): release for table in tables for release in table.releases}
        self.releases = tuple(releases.values())
        self.years = years([one.code for one in periods]) if together else {}
        names = (ReleasePeriod(f"{year}, {together} of {len(places)}") for year, places in self.years.items())
        own, listed = tables[-1].axes, (*periods, *names)
        self.period_place = len(own) if place is None else place
        self.time = time_name([one.name for one in self.product.attributes])
        attribute = period_attribute(listed, self.time, words(tables[0].language)("about.period"))
        axis = Axis(attribute, attribute.levels.codes)
        self.axes = (*own[: self.period_place], axis, *own[self.period_place :])

    @property
    def has_changes(self) -> bool:
        return any(table.has_changes for table in self.tables)

    @property
    def title(self) -> str:
        first, last, one = self.periods[0].code, self.periods[-1].code, self.tables[-1]
        if isinstance(one, ChangedTable):
            return (
                one.title
                if len(self.periods) == 1
                else words(self.language)("title.changes", title=one.after.title, first=first, last=last)
            )
        span = words(self.language)("sheet.between", low=first, high=last) if len(self.periods) > 1 else first
        return f"{one.title}, {span}"

    @property
    def caveats(self) -> Caveats:
        return joint(one.caveats for one in self.tables)

    @property
    def note(self) -> str:
        """What the errors of a year rest on."""
        shared = any(one.any() for one in self._in_common.values())
        return words(self.language)("text.shared_noise" if shared else "text.own_noise")

    @cached_property
    def _in_common(self) -> dict[str, Floats]:
        """What noise gives the periods of each year in common, twice for each pair, or the most that it may."""
        return {year: sum_shared([self.tables[place] for place in places]) for year, places in self.years.items()}

    @property
    def statistic(self) -> str:
        return self.tables[-1].statistic

    @property
    def unit(self) -> str:
        return self.tables[-1].unit

    @property
    def shares_of(self) -> tuple[str, ...] | None:
        return self.tables[-1].shares_of

    @property
    def changes(self) -> bool:
        """Whether its numbers are changes."""
        return isinstance(self.tables[-1], ChangedTable)

    @property
    def remarks(self) -> tuple[Sentence, ...]:
        own = {one.key: one for table in self.tables for one in table.remarks}
        bounds = other_bounds(self.tables, [one.label or one.code for one in self.periods], self.language)
        return (*own.values(), *([Sentence("other_bounds", {"bounds": bounds})] if bounds else []))

    def covers(self, axis: Axis) -> bool:
        return axis is self.axes[self.period_place] or self.tables[-1].covers(axis)

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """For each cell its place where the periods stand one after the other."""
        own = self.tables[-1].shape
        each = np.arange(len(self.axes[self.period_place].codes) * self.tables[-1].size).reshape(-1, *own)
        return np.moveaxis(each, 0, self.period_place).ravel()

    @cached_property
    def _columns(self) -> PeriodColumns:
        each = [table.columns() for table in self.tables]
        added = (
            together_of([each[place] for place in places], self.together, self._in_common[year])
            for year, places in self.years.items()
        )
        return PeriodColumns.of([*each, *added], self._order, exact=self.together != "mean")

    def figure(self, flat: int) -> Figure:
        column, cell = divmod(int(self._order[flat]), self.tables[-1].size)
        if column < len(self.periods):
            return self.tables[column].figure(cell)
        columns, used = self._columns, list(self.years.values())[column - len(self.periods)]
        parts = [self.tables[place].figure(cell) for place in used]
        noises = (part.noise_variance for part in parts if isinstance(part, Estimate))
        unsaid = withheld(*noises)
        sampled = SHARED if np.isnan(columns.sampling_variance[flat]) else None
        return columns.every[column].figure(cell, unsaid, sampled, self.product.subject)

    def shares(self, of: str | Sequence[str] = "whole") -> "SeriesTable":
        """Each cell as a share within its own period."""
        if self.together or self.changes:
            raise QueryError("Shares are of the numbers of one period; ask for them without years and changes.")
        every = [table.shares(of) for table in self.tables]
        return SeriesTable(every, self.periods, None, self.period_place, has_columns=self.has_columns)

    def headline(self, column: str | None = None) -> TableFinding | None:
        """The largest row by one period; else how the whole changed between the last two periods that stand."""
        if column is not None or self.together:
            return super().headline(column)
        stand = [place for place, one in enumerate(self.periods) if one.label in {"", one.code}]
        return movement_of([self.tables[place] for place in stand], [self.periods[place].code for place in stand])

    def plot(self, kind: str = "", level: float = 0.90, width: float = 720) -> Picture:
        """Lines over the periods, one a row; or "dot" or "bar", which changes are drawn as unless told."""
        if (kind or ("dot" if self.changes else "line")) != "line":
            return super().plot(kind or "dot", level, width)
        lined = SeriesTable(self.tables, self.periods, self.together)
        plot = plot_of(lined, level, language=self.language)
        told = (in_language(mark, words(self.language).figure) for mark in plot.marks)
        marks = [
            replace(mark, label=mark.series, series=mark.label, code="", moved=moved)
            for mark, moved in zip(told, lined.moves, strict=True)
        ]
        return KINDS["line"](marks, caption_of(self, plot, level), width)

    @property
    def moves(self) -> list[str]:
        """Of each cell with a number whether it moved since the period before; '' where that cannot be said."""
        codes = [one.code for one in self.periods]
        pairs = () if self.changes else zip(pairwise(self.tables), pairwise(codes), strict=True)
        changes = [None, *(changes_between(*tables, *named) for tables, named in pairs)]
        told = []
        for flat, (_, number) in enumerate(self.items()):
            column, cell = divmod(int(self._order[flat]), self.tables[-1].size)
            change = changes[column] if column < len(changes) else None
            if not isinstance(number, NoNumber):
                told.append(move_of(change.figure(cell)) if change else "")
        return told

    def margin(self, names: Sequence[str]) -> "SeriesTable | None":
        """The same with other variables summed over in each period; none over periods, which are not added up."""
        if self.time not in names:
            return None
        every = [table.margin([name for name in names if name != self.time]) for table in self.tables]
        told = [one for one in every if isinstance(one, Portable)]
        place = list(names).index(self.time)
        return SeriesTable(told, self.periods, self.together, place) if len(told) == len(every) else None

    def in_order(self, name: str, codes: Sequence[str]) -> "SeriesTable":
        every = [table.in_order(name, codes) for table in self.tables]
        return SeriesTable(every, self.periods, self.together, self.period_place, has_columns=self.has_columns)

    def sentences(self) -> tuple[Sentence, ...]:
        """What is said of each change, cell by cell."""
        return tuple(one.sentence() for _, one in self.items() if isinstance(one, Change))


def sum_shared(tables: Sequence[Portable]) -> Floats:
    """Twice the covariances of all pairs of some tables by noise, cell by cell; where none can be told, the most."""
    found = np.zeros(tables[0].size)
    for one, other in combinations(tables, 2):
        if isinstance(one, Crosstab) and isinstance(other, Crosstab):
            shared = in_common(one, other)
            found += 2 * (one.columns().se_noise * other.columns().se_noise if shared is None else shared)
    return found


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

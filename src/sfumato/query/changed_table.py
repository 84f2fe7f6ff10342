"""ChangedTable: a table of one period minus that of an earlier one, each cell with its error and a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError
from sfumato.query.axis import Axis
from sfumato.query.caveats import Caveats
from sfumato.query.change import LEAST, LEVEL, NONE, REAL, UNSAID, change_of, with_the_verdict
from sfumato.query.columns import Columns, Floats, emptied
from sfumato.query.crosstab import Crosstab
from sfumato.query.estimate import Figure
from sfumato.query.figures import Figures
from sfumato.query.period_columns import first_missing
from sfumato.query.portable import Portable
from sfumato.query.ratio_columns import RatioColumns, total_sides
from sfumato.query.reaching import compared_excess
from sfumato.query.shared_noise import in_common
from sfumato.query.sides import apart, by_sides
from sfumato.query.value_notes import bounds_by_period
from sfumato.query.wording import Sentence, words
from sfumato.release import NoNumber
from sfumato.release.error_law import NORMAL
from sfumato.release.moved_error import moved_together

NO_SHARES = "Changes are of numbers, not of percentages; ask for one of the two at a time."


@dataclass(frozen=True, eq=False)
class ChangeColumns(Columns):
    """Changes as arrays; a verdict stands for the grade."""

    @cached_property
    def grade(self) -> NDArray[np.str_]:
        return np.where(self.empty, "-", "")


class ChangedTable(Portable):
    """The cells of a table, each less what it was in an earlier period."""

    def __init__(self, before: Portable, after: Portable, since: str, until: str) -> None:
        if "share" in {before.unit, after.unit}:
            raise QueryError(NO_SHARES)
        refuse_other_levels([before, after], [since, until])
        refuse_other_bounds(before, after, [since, until])
        self.before, self.after, self.since, self.until = before, after, since, until
        self.axes, self.where, self.product = after.axes, after.where, after.product
        self.has_columns, self.releases = after.has_columns, (*before.releases, *after.releases)

    @property
    def has_changes(self) -> bool:
        return True

    def shares(self, of: str | Sequence[str] = "whole") -> Portable:  # noqa: ARG002 - refused of whatever
        raise QueryError(NO_SHARES)

    @property
    def title(self) -> str:
        told = {"title": self.after.title, "since": self.since, "until": self.until}
        return words(self.language)("title.change", **told)

    @property
    def caveats(self) -> Caveats:
        return (self.before.caveats + self.after.caveats).compared

    def covers(self, axis: Axis) -> bool:
        return self.after.covers(axis)

    def margin(self, names: Sequence[str]) -> "ChangedTable | None":
        before, after = self.before.margin(names), self.after.margin(names)
        if not isinstance(before, Portable) or not isinstance(after, Portable):
            return None
        return ChangedTable(before, after, self.since, self.until)

    def in_order(self, name: str, codes: Sequence[str]) -> "ChangedTable":
        return ChangedTable(self.before.in_order(name, codes), self.after.in_order(name, codes), self.since, self.until)

    @cached_property
    def in_common(self) -> Floats | None:
        """What noise gives each pair of numbers in common; None where that cannot be told, and the worst is taken."""
        if not isinstance(self.before, Crosstab) or not isinstance(self.after, Crosstab):
            return None
        return in_common(self.before, self.after)

    @property
    def remarks(self) -> tuple[Sentence, ...]:
        """At which level verdicts hold, and what the errors take for granted."""
        found = [Sentence("verdict_level", {"percent": 100 * LEVEL, "alarms": round(100 - 100 * LEVEL)})]
        if (np.nan_to_num(self.columns().sampling_variance) > 0).any():
            found.append(Sentence("change_samples"))
        if self.in_common is None:
            found.append(Sentence("change_worst"))
        elif self.in_common.any():
            found.append(Sentence("change_shared"))
        return tuple(found)

    def figure(self, flat: int) -> Figure:
        before, after = self.before.figure(flat), self.after.figure(flat)
        for one in (after, before):
            if isinstance(one, NoNumber):
                return one
        assert not isinstance(before, NoNumber)  # noqa: S101 - it was just asked
        assert not isinstance(after, NoNumber)  # noqa: S101 - it was just asked
        shared = None if self.in_common is None else float(self.in_common[flat])
        return change_of(before, after, self.since, shared)

    @cached_property
    def _columns(self) -> ChangeColumns:
        before, after = self.before.columns().told, self.after.columns().told
        statuses = first_missing([after, before])
        empty = statuses.missing if statuses else np.zeros(len(after), dtype=bool)
        values = [np.where(empty, 0, one.estimate) for one in (after, before)]
        shared = self._covariance(before, after)
        noise = after.noise_variance + before.noise_variance - 2 * shared
        found = ChangeColumns(
            emptied(values[0] - values[1], empty),
            noise,
            after.sampling_variance + before.sampling_variance,
            after.cells + before.cells,
            after.grades,
            apart(total_sides(after), total_sides(before), shared),
            statuses,
            caveats=self.caveats,
            bought=compared_excess(after, before),
        )
        return replace(found, more=_told(found, before, after, shared))

    def _covariance(self, before: Columns, after: Columns) -> Floats:
        moved = moved_together(before.law, after.law)
        if self.in_common is not None and moved is not None:
            return self.in_common + moved
        variances = (np.maximum(one.noise_variance, 0.0) for one in (before, after))
        return np.asarray(-np.sqrt(np.multiply(*variances)), dtype=np.float64)


def _told(found: Columns, before: Columns, after: Columns, shared: Floats) -> Mapping[str, NDArray[Any]]:
    """What is told of changes besides: both numbers, the percentage with its interval, and the verdict."""
    least, most = found.ends(LEVEL)
    relative, lower, upper = _relative(found, before, after, shared)
    ends = with_the_verdict(lower, upper, least, most)
    percent, low, high = (100 * np.where(np.isnan(relative), np.nan, one) for one in (relative, *ends))
    stated = np.isfinite(found.variance) & np.isfinite(least) & np.isfinite(most) & ~found.empty
    real = (least > 0) | (most < 0)
    return {
        "before": _plain(before.estimate),
        "after": _plain(after.estimate),
        "percent": percent,
        "percent_moe90": np.maximum(percent - low, high - percent),
        "percent_low90": low,
        "percent_high90": high,
        "verdict": np.where(found.empty, "", np.where(stated, np.where(real, REAL, NONE), UNSAID)),
    }


def _relative(found: Columns, before: Columns, after: Columns, shared: Floats) -> tuple[Floats, Floats, Floats]:
    """The changes as shares of what was before, and both ends of their intervals; NaN where that is not above 0."""
    over, under = _floats(after.estimate), _floats(before.estimate)
    sides = total_sides(after), total_sides(before)
    of_later, of_earlier = (one.law for one in sides) if by_sides(*sides) else (found.law, NORMAL)
    later = Columns(over, *_errors(after), after.cells, after.grades, of_later, found.statuses, bought=after.bought)
    earlier = Columns(under, *_errors(before), before.cells, law=of_earlier, bought=before.bought)
    with np.errstate(invalid="ignore", divide="ignore"):
        sampled = (after.sampling_variance + (over / under) ** 2 * before.sampling_variance) / under**2
        ratios = RatioColumns.of(later, earlier, shared, sampled, apart=False, nonnegative=True)
    low, high = ratios.ends(LEVEL)
    return np.where(over < 0, np.nan, ratios.estimate - 1), np.maximum(low - 1, LEAST), high - 1


def _errors(columns: Columns) -> tuple[Floats, Floats]:
    return columns.noise_variance, columns.sampling_variance


def _floats(numbers: NDArray[Any]) -> Floats:
    """Numbers as floats, NaN where there is none."""
    return np.array([np.nan if one is None else one for one in numbers.tolist()], dtype=np.float64)


def _plain(numbers: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as they are, where all are there."""
    return _floats(numbers) if numbers.dtype == object else numbers


def refuse_other_levels(tables: Sequence[Figures], periods: Sequence[str]) -> None:
    """The rows of all periods must be the same ones, and what is counted in them too."""
    for table, period in zip(tables[1:], periods[1:], strict=True):
        for one, other in zip(tables[0].axes, table.axes, strict=True):
            only = set(one.codes) ^ set(other.codes)
            if one.codes != other.codes:
                which = f" ('{min(only)}' stands in one of them only)" if only else ""
                raise QueryError(
                    f"{one.attribute.label} has other levels in {period} than in {periods[0]}{which}; name codes that "
                    "all releases have, or groups of them."
                )
        _refuse_other_subjects(tables[0], table, [periods[0], period])


def _refuse_other_subjects(one: Figures, other: Figures, periods: Sequence[str]) -> None:
    """Both must be the same statistic of the same records; what they are called in a language is not asked."""
    first, second = one.product.own.subject, other.product.own.subject
    if first.unit != second.unit:
        raise QueryError(f"{periods[1]} is in {second.unit}, {periods[0]} is not; choose with `of`.")
    if not first.counts_as(second):
        raise QueryError(
            f"{other.product.subject.title} counts something else in {periods[1]} than in {periods[0]}: another "
            "statistic, or other records; ask for each by itself."
        )


def refuse_other_bounds(before: Figures, after: Figures, periods: Sequence[str]) -> None:
    """The difference of totals whose values are held within other bounds is no change of what is counted."""
    if said := other_bounds([before, after], periods):
        raise QueryError(
            f"{after.product.subject.title} counts values within other bounds ({said}), so that the difference is not "
            "what changed; show the periods beside each other."
        )


def other_bounds(tables: Sequence[Figures], periods: Sequence[str], language: str = "en") -> str:
    """Within which bounds values count in each period, where they are not the same in all; else ''."""
    subjects = [one.product.own.subject for one in tables]
    if all(one.held_as(other) for one, other in combinations(subjects, 2)):
        return ""
    return bounds_by_period(dict(zip(periods, subjects, strict=True)), language)

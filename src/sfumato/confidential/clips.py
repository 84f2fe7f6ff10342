"""Clips: how the bounds of values sit on the data, for the agency alone: what they cut, and where they are too wide.

A bound is a public decision. What is told here stays inside: a bound that is read off the data gives a value away.
"""

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sfumato.confidential.engines.choose import opened
from sfumato.confidential.engines.engine import Columns
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.far_values import FarValues, aggregates_of, ends_of, find_far_values
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed, scrubbed
from sfumato.plan import Measure, Plan
from sfumato.schema import Aggregate, Box, Clipped, Extremes, Rows, Sum, Table

FAR = 2
"""From which factor on a bound is far above what the data need."""
BEYOND = 1000
"""Values are looked at up to so many times the bound."""
MOST_SUMMED = 2**31
"""How many steps a value may have to be summed: those of 2³¹ rows fit 64 bits."""
ADVICE = "Choose a bound that is public knowledge: one read off the data gives a value away."


@dataclass(frozen=True, eq=False, repr=False)
class ClipFit(Sealed):
    """The bounds of one measure beside the least and the largest value that the data have, and how many lie beyond."""

    measure: str
    column: str
    bounds: tuple[float, float]
    least: float
    largest: float
    rows: int
    cut: int
    buys: tuple[str, float] | None = None
    """The measure that buys what the clip takes, and up to where; none where the plan has none."""
    summed: bool = True
    """Whether values are summed, so that what lies beyond is lost, and noise is as wide as the clip."""
    looked_to: float = math.inf
    """How far from 0 values were looked at: one that is as far may lie farther."""
    money: tuple[float, float] | None = None
    """What all values sum to, and what they do within the bounds; None where they are not summed."""
    unit: str = ""
    far: tuple[FarValues, ...] = ()
    """The values that lie far outside all others, which may be codes for none."""

    @property
    def ratio(self) -> float | None:
        """How many times as wide as it need be noise is; none where all values are 0.

        A value beyond one bound says nothing of the other, so values count as they are held.
        """
        widest = max(map(abs, self.bounds))
        held = max(abs(min(max(value, self.bounds[0]), self.bounds[1])) for value in (self.least, self.largest))
        farthest = held if held < widest else max(abs(self.least), abs(self.largest))
        return widest / farthest if farthest else None

    @property
    def fits(self) -> bool:
        """Whether nothing is cut and the bound is not far above what the data need."""
        return not self.cut and (not self.summed or (self.ratio is not None and self.ratio < FAR))

    @property
    def went_beyond(self) -> bool:
        """Whether a value lies at the end of what was looked at, or farther."""
        return max(abs(self.least), abs(self.largest)) >= self.looked_to

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        told = {"measure": self.measure, "column": self.column, "clip": list(self.bounds), "least": self.least}
        told |= {"largest": self.largest, "rows": self.rows, "rows_cut": self.cut, "noise_too_wide_by": self.ratio}
        told |= {"total": self.money and self.money[0], "total_within_clip": self.money and self.money[1]}
        told |= {"far_values": [values.words for values in self.far]}
        told |= {"excess_bought_by": self.buys and self.buys[0], "or_farther": self.went_beyond}
        return told | {"words": self.words}

    @property
    def words(self) -> str:
        """What is wrong with the bounds, after what may be wrong with the values; nothing where they fit."""
        return " ".join(filter(None, [*(values.words for values in self.far), self._fit_words]))

    @property
    def _fit_words(self) -> str:
        low, high = map(_said, self.bounds)
        held = f"the clip of '{self.measure}' holds {self.column} from {low} to {high}"
        reach = f"the data go from {self._end(self.least)} to {self._end(self.largest)}"
        if self.cut:
            part = f"{self.cut:,} of {self.rows:,} rows, {self.cut / self.rows:.2g} of them"
            lost = "what lies beyond is not in the totals" if self.summed else "the value counts as the bound"
            return f"A clip cuts: {held}, and {reach}. In {part}, {lost}{self._loss}.{self._too_wide} {self._remedy}"
        if self.fits:
            return ""
        times = "and all are 0" if self.ratio is None else f"so noise is {self.ratio:,.3g} times as wide as it need be"
        return f"A clip is far above what the data need: {held}, {reach}, {times}. {ADVICE}"

    @property
    def _too_wide(self) -> str:
        """That the clip cuts at one end, and is far above what the data need at the other."""
        if not self.summed or self.ratio is None or self.ratio < FAR:
            return ""
        return (
            f" Its other bound is far above what the data need: noise is {self.ratio:,.3g} times as wide as it need be."
        )

    @property
    def _loss(self) -> str:
        """How much of the total the clip takes; what it adds, where it cuts more from below."""
        if self.money is None:
            return ""
        total, kept = self.money
        verb, share = (
            "takes" if total >= kept else "adds",
            f", {abs(total - kept) / abs(total):.2g} of it" if total else "",
        )
        return f"; it {verb} {_said(abs(total - kept))} of {_said(total)} {self.unit}{share}"

    def _end(self, value: float) -> str:
        """The least or the largest value, or that it lies at least so far."""
        return _said(value) + (" or farther" if abs(value) >= self.looked_to else "")

    @property
    def _remedy(self) -> str:
        """What there is to do about a clip that cuts, or what the plan has done."""
        if self.buys is None:
            return f"{'Widen it, or buy the excess' if self.summed else 'Widen it'}. {ADVICE}"
        name, up_to = self.buys
        beyond = ", and what lies above that is in no number" if self.largest > up_to else ""
        below = "; what lies below the clip is not bought" if self.least < self.bounds[0] else ""
        return f"The plan buys the excess as '{name}', up to {up_to:,.6g} in each record{beyond}{below}."


@dataclass(frozen=True)
class Looked(Sealed):
    """What is asked of the data to tell how a clip sits on them: extremes far beyond it, and the rows that it cuts."""

    measure: Measure
    clipped: Clipped

    @property
    def farthest(self) -> Fraction:
        """How far from 0 values are looked at."""
        return BEYOND * max(abs(self.clipped.low), abs(self.clipped.high))

    @property
    def extremes(self) -> Extremes:
        return Extremes(replace(self.clipped, low=-self.farthest, high=self.farthest))

    @property
    def above(self) -> Sum:
        """A step for every row at least half a step above the clip."""
        high, step = self.clipped.high, self.clipped.step
        return Sum(replace(self.clipped, low=high, high=high + step))

    @property
    def below(self) -> Sum:
        low, step = self.clipped.low, self.clipped.step
        return Sum(replace(self.clipped, low=low - step, high=low))

    @property
    def within(self) -> Sum:
        return Sum(self.clipped)

    @property
    def whole(self) -> Sum:
        """The sum of all values, those farther than can be summed as the farthest that can."""
        farthest = min(
            self.farthest, max(MOST_SUMMED * self.clipped.step, abs(self.clipped.low), abs(self.clipped.high))
        )
        return Sum(replace(self.clipped, low=-farthest, high=farthest))

    @property
    def _is_summed(self) -> bool:
        """Whether values are summed, and those of 2³¹ rows fit 64 bits."""
        widest = max(abs(self.clipped.low), abs(self.clipped.high))
        return self.measure.of.additive and widest <= MOST_SUMMED * self.clipped.step

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return Rows(), self.extremes, self.above, self.below, *((self.within, self.whole) if self._is_summed else ())

    def fit(self, columns: Columns, buys: tuple[str, float] | None) -> ClipFit | None:
        """How the clip sits, from what an engine computed over all rows; nothing where there are none."""
        rows = int(columns[Rows()].item())
        low, high = self.clipped.ends
        cut = int(columns[self.above].item()) - rows * high + rows * low - int(columns[self.below].item())
        least, largest = (float(end * self.clipped.step) for end in columns[self.extremes].ravel().tolist())
        bounds = (float(self.clipped.low), float(self.clipped.high))
        about = self.measure.name, self.clipped.column, bounds, least, largest, rows, cut, buys
        sums = [columns[asked] for asked in (self.whole, self.within)] if self._is_summed else []
        totals = [float(int(column.item()) * self.clipped.step) for column in sums]
        money = (totals[0], totals[1]) if totals else None
        return ClipFit(*about, self.measure.of.additive, float(self.farthest), money, self._unit) if rows else None

    @property
    def _unit(self) -> str:
        """What the values are counted in; they are summed here without their weights."""
        of = self.measure.of
        if self.clipped == of.weighting:
            return "in weights"
        unit = of.unit if self.clipped.column == of.contribution.column else ""
        return f"{unit} (not weighted)".strip() if of.weighted else unit


def _once(looked: list[Looked]) -> list[Looked]:
    """The same with the clip of the weight once for all measures of the same records."""
    of_weight: dict[str, Looked] = {}
    for one in looked:
        if one.clipped == one.measure.of.weighting:
            of_weight.setdefault(repr(sorted(one.measure.where.items())), one)
    return [one for one in looked if one.clipped != one.measure.of.weighting or one in of_weight.values()]


def clip_fits(plan: Plan, microdata: Microdata) -> list[ClipFit]:
    """The clip of every value on the records as they are, whichever rows of a unit count; squares are left out."""
    looked = _once([Looked(one, value) for one in plan.measures for value in _clipped(one)])
    if not looked:
        return []
    asked = tuple(dict.fromkeys(wanted for one in looked for wanted in one.aggregates))
    names = dict.fromkeys(name for one in looked for name in universe_box(plan, one.measure).masks)
    need = Reading(plan.schema, tuple(plan.schema.attribute(name) for name in names), asked)
    engine, _ = scrubbed(opened, microdata.sources, need, b"", microdata.engine, microdata.spill)
    with closing(engine):
        columns = [engine.aggregate(Table(()), asked, universe_box(plan, one.measure)) for one in looked]
    fits = [one.fit(each, _buys(plan, one.measure)) for one, each in zip(looked, columns, strict=True)]
    pairs = [(one, fit) for one, fit in zip(looked, fits, strict=True) if fit is not None]
    return _with_far_values(pairs, plan, microdata, need)


def _with_far_values(
    pairs: Sequence[tuple[Looked, ClipFit]], plan: Plan, microdata: Microdata, need: Reading
) -> list[ClipFit]:
    """The fits with the values that lie far outside, for which the data are read again."""
    ends = [ends_of(looked.clipped, fit.least, fit.largest) for looked, fit in pairs]
    if not any(ends):
        return [fit for _, fit in pairs]
    asked = aggregates_of([end for each in ends for end in each])
    engine, _ = scrubbed(
        opened, microdata.sources, replace(need, aggregates=asked), b"", microdata.engine, microdata.spill
    )
    with closing(engine):
        columns = [engine.aggregate(Table(()), asked, universe_box(plan, looked.measure)) for looked, _ in pairs]
    return [
        replace(fit, far=find_far_values(each, counts, fit.looked_to))
        for (_, fit), each, counts in zip(pairs, ends, columns, strict=True)
    ]


def _said(value: float) -> str:
    """A number with all of its digits."""
    return f"{value:,.12g}"


def _buys(plan: Plan, measure: Measure) -> tuple[str, float] | None:
    """The measure of the plan that buys what the clip of a total takes, in all or by parts; and up to where."""
    for one in plan.measures:
        if one.of.above is not None and dict(one.where) == dict(measure.where):
            bounds, up_to = one.of.above
            if bounds.alike(measure.of.value_bounds):
                return one.name, float(up_to)
    return None


def _clipped(measure: Measure) -> list[Clipped]:
    """The values that a statistic is of within bounds, if it is one of values."""
    bounds = measure.of.value_bounds
    if measure.of.additive and (bounds is None or bounds.power != 1):
        return []
    values = (value for one in measure.of.aggregates for value in one.values)
    return list(dict.fromkeys(value for value in values if isinstance(value, Clipped)))


def universe_box(plan: Plan, measure: Measure) -> Box:
    """The universe of a measure, by the attributes that are read of the data: not by those that a register says."""
    read = {attribute.name for attribute in plan.over.read([measure])}
    return Box({name: mask for name, mask in plan.universe(measure).masks.items() if name in read})

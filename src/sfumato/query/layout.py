"""Layout: a table as people lay it out, some variables at the side and some above: for texts, notebooks and sheets."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product as combinations

import numpy as np

from sfumato.foreign_text import joined
from sfumato.query.answer import Answer, Placement
from sfumato.query.axis import Axis
from sfumato.query.change import REAL, WIDEST, Change
from sfumato.query.digits import Digits
from sfumato.query.estimate import Estimate, Figure
from sfumato.query.figures import Figures
from sfumato.query.wording import SCALES, Words, words
from sfumato.release import NoNumber, Withheld
from sfumato.release.figures import Rounding, aligned, beside, in_full, like, number, on_digit

ERROR_PARTS: Mapping[str, Callable[[Estimate], Sequence[float | Withheld]]] = {
    "moe90": lambda one: (one.moe(),),
    "se": lambda one: (one.se,),
    "cv": lambda one: (one.cv,),
    "interval95": lambda one: one.interval(),
}
"""The kinds of error that can stand beside a number in a text."""
ENGLISH = words("en")
_WIDEST = 5_000
"""The most columns that a sheet takes, at three a column of the table; a wider table stands on its side."""


@dataclass(frozen=True)
class ShownColumn:
    """One column: its heads, and down its rows the figures."""

    heads: tuple[str, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Shown:
    """The variables at the side, the labels of each row, and the columns."""

    stub: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[ShownColumn, ...]


def shown(table: Figures, placement: Placement | None = None, total: str = "", total_all: str = "") -> Shown:
    """The table as placed, with totals where there are any: asked for, never added up from cells.

    They have this name, or another one where they hold more than is shown.
    """
    stub, heading = _placed(table, placement)
    body = _columns(table, stub, heading)
    ends = [table.margin(_names(axes)) for axes in (stub, heading, ())] if total and table.axes else [None]
    beside, across, whole = ends if None not in ends else (None, None, None)
    if table.time and table.time in _names(heading) and total and stub:
        return _over_periods(table, (stub, heading), body, (total, total_all))
    if beside is None or across is None or whole is None:
        return Shown(_labels(stub), _rows(stub), body)
    if heading:
        named = total if all(map(table.covers, heading)) else total_all
        body = (replace(_columns(beside, stub, ())[0], heads=(named,)), *body)
    if not stub:
        return Shown((), _rows(stub), body)
    foot = [*(_columns(whole, (), ()) if heading else ()), *_columns(across, (), heading)]
    columns = (replace(up, figures=up.figures + down.figures) for up, down in zip(body, foot, strict=True))
    named = total if all(map(table.covers, stub)) else total_all
    return Shown(_labels(stub), (*_rows(stub), (named, *("" for _ in stub[1:]))), tuple(columns))


def _over_periods(
    table: Figures, laid: tuple[Sequence[Axis], Sequence[Axis]], body: tuple[ShownColumn, ...], named: tuple[str, str]
) -> Shown:
    """A table with periods above: rows have a total in each period, and periods are not added up."""
    stub, heading = laid
    across = table.margin(_names(heading))
    if across is None:
        return Shown(_labels(stub), _rows(stub), body)
    foot = _columns(across, (), heading)
    columns = (replace(up, figures=up.figures + down.figures) for up, down in zip(body, foot, strict=True))
    last = named[0] if all(map(table.covers, stub)) else named[1]
    return Shown(_labels(stub), (*_rows(stub), (last, *("" for _ in stub[1:]))), tuple(columns))


def _placed(table: Figures, placement: Placement | None) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
    """The axes at the side and those above; unless told, the last one stands above where the table has columns."""
    if placement is None:
        return table.row_axes, table.axes[len(table.row_axes) :]
    axes = {axis.attribute.name: axis for axis in table.axes}
    above = [name for name in placement.heading if name in axes]
    if math.prod(len(axes[name].codes) for name in above) > _WIDEST:
        above = []
    side = [name for name in (*placement.stub, *axes) if name in axes and name not in above]
    return tuple(axes[name] for name in dict.fromkeys(side)), tuple(axes[name] for name in above)


def _columns(table: Figures, stub: Sequence[Axis], heading: Sequence[Axis]) -> tuple[ShownColumn, ...]:
    """The columns of figures, turned from the order of the table into the order of the layout."""
    order = _names(table.axes)
    turned = [order.index(name) for name in _names((*stub, *heading))]
    flat = np.arange(table.size).reshape(table.shape).transpose(turned).reshape(-1, len(_rows(heading)))
    pairs = zip(_rows(heading), flat.T.tolist(), strict=True)
    return tuple(ShownColumn(heads, tuple(table.figure(place) for place in down)) for heads, down in pairs)


def _names(axes: Sequence[Axis]) -> list[str]:
    return [axis.attribute.name for axis in axes]


def _labels(axes: Sequence[Axis]) -> tuple[str, ...]:
    return tuple(axis.attribute.label for axis in axes)


def _rows(axes: Sequence[Axis]) -> tuple[tuple[str, ...], ...]:
    return tuple(combinations(*(axis.labels for axis in axes)))


def figure(one: Figure, level: float = 0.90, said: Words = ENGLISH) -> tuple[str, str]:
    """The number and its margin as they are read; a share in percent, and a mark where there is no number."""
    if isinstance(one, NoNumber):
        return one.code, ""
    margin = one.moe(level)
    untold = said("text.withheld") if isinstance(margin, Withheld) else ""
    if one.unit == "share":
        return said.figure(_percent(one.value)), untold or said.figure(_percent(margin, math.ceil)[:-1])  # type: ignore[arg-type]
    if isinstance(margin, Withheld):
        return said.figure(number(one.value)), untold
    return said.figure(beside(one.value, margin)), said.figure(like(margin, one.value))


def as_seen(one: Figure, said: Words = ENGLISH, digits: Digits | None = None) -> tuple[str, str]:
    """The number and its margin with the digits that pages and pictures give them: those that the margin leaves."""
    if isinstance(one, NoNumber):
        return one.code, ""
    digits, margin = digits or Digits.of(one), one.moe(0.90)
    value = f"{digits.number(one.value)}{'%' if digits.percent else ''}"
    told = said("text.withheld") if isinstance(margin, Withheld) else said.figure(digits.margin(margin))
    return said.figure(value) + counted_in(digits, said), told


def counted_in(digits: Digits, said: Words) -> str:
    """What a number is counted in, beside it: thousands or millions; nothing where it is written as it is."""
    return "\u00a0" + said(SCALES[digits.scale]) if digits.scale else ""


def text(one: Figure, error: str = "moe90", *, zero: bool = False, said: Words = ENGLISH) -> str:
    """The number, its error and its grade in one line; a negative number as 0 where that is wanted."""
    value, margin = figure(one, said=said)
    if isinstance(one, NoNumber) or not margin:
        return value
    if isinstance(one, Change):
        verdict = said(f"text.{one.verdict()}")
        return f"{signed(value, one)} {_error(one, margin, error, said)}{in_percent(one, said)} {verdict}"
    value = number(0) if zero and below_0(one) else value
    return f"{value} {_error(one, margin, error, said)} {one.grade}"


def signed(written: str, one: Estimate) -> str:
    """A change as it is written, with its sign; what is written as 0 has none."""
    return f"+{written}" if one.value > 0 and re.search("[1-9]", written) else written


def percent_seen(one: Change, said: Words, space: str = " ") -> tuple[str, str]:
    """A change in percent and its error with the digits that this leaves; nothing where the number before may be 0.

    The error is a margin; of a real change whose interval is so much longer to one side that the margin would reach
    beyond 0, which the interval does not, its ends.
    """
    if isinstance(one.percent, NoNumber) or _says_nothing(one, one.percent):
        return "", ""
    value, margin = as_seen(one.percent, said)
    if isinstance(one.percent.moe(0.90), Withheld):
        return signed(value, one.percent), ""
    digits = Digits.of(one.percent)
    if one.verdict() != REAL or digits.beyond(one.percent.value, max(one.percent.reach(0.90))):
        return signed(value, one.percent), f"±{space}{margin}"
    low, high = (said.figure(end) for end in digits.ends(*one.percent.interval(0.90)))
    return signed(value, one.percent), said("sheet.between", low=low, high=f"{high}%")


def _says_nothing(one: Change, percent: Estimate) -> bool:
    """Whether a change shows no sign and is so uncertain in percent that the percentage would only mislead."""
    margin = percent.moe(0.90)
    return not isinstance(margin, Withheld) and margin > WIDEST and one.verdict() != REAL


def in_percent(one: Change, said: Words) -> str:
    """A change in percent with its error, in brackets; nothing where the number before may be 0."""
    if isinstance(one.percent, NoNumber) or _says_nothing(one, one.percent):
        return ""
    (value, margin), (_, error) = figure(one.percent, said=said), percent_seen(one, said)
    told = f" ± {margin}" if not error or "±" in error else f", {error}"
    return f" ({signed(value, one.percent)}{told})"


def _error(one: Estimate, margin: str, kind: str, said: Words) -> str:
    """The error of a number, of the kind that is asked for."""
    sign = said(f"text.{kind}")
    if kind == "moe90" or isinstance(one.moe(), Withheld):
        return f"{sign} {margin}"
    parts = ERROR_PARTS[kind](one)
    told = [
        said("text.withheld") if isinstance(part, Withheld) else said.figure(_part(part, one, kind, low=not place))
        for place, part in enumerate(parts)
    ]
    return said("text.ends", low=told[0], high=told[1]) if kind == "interval95" else f"{sign} {told[0]}"


def _part(part: float, one: Estimate, kind: str, *, low: bool) -> str:
    """An error, or an end of an interval, beside its number: CVs and all of shares in percent, ends outwards."""
    outward = math.floor if low else math.ceil
    way: Rounding = outward if kind == "interval95" else round
    if kind == "cv" or one.unit == "share":
        return _percent(part, way)
    if not one.variance:
        return in_full(part)
    if one.value != round(one.value) or abs(part) < 10:
        return number(part, way)
    return number((outward if kind == "interval95" else math.ceil)(part))


def _percent(part: float, way: Rounding = round) -> str:
    """A part of 1 in percent, to a tenth.

    >>> _percent(-0.18149), _percent(0.06541, math.ceil), _percent(0.06541, math.floor)
    ('−18.1%', '6.6%', '6.5%')
    """
    return f"{on_digit(100 * part, -1, way):.1f}%".replace("-", "−") if math.isfinite(part) else f"{part}%"


def laid_out(table: Figures) -> tuple[list[str], list[tuple[Sequence[str], list[Figure]]]]:
    """The heads of all columns and, row by row, its labels and its figures."""
    laid = shown(table)
    heads = [*laid.stub, *(joined(" · ", column.heads) or table.statistic for column in laid.columns)]
    return heads, [(labels, [column.figures[row] for column in laid.columns]) for row, labels in enumerate(laid.rows)]


def below_0(one: Figure) -> bool:
    """Whether a figure is a number below 0 and no share, which is what a reader may want to see as 0."""
    return isinstance(one, Estimate) and one.unit != "share" and one.value < 0


def as_text(table: Figures, error: str = "moe90", *, zero: bool = False) -> str:
    """The table in columns that line up, and below it why cells hold no number and what negative ones are shown as."""
    (heads, rows), said = laid_out(table), words(table.language)
    lines = [[*labels, *(text(one, error, zero=zero, said=said) for one in figures)] for labels, figures in rows]
    laid = aligned(heads, lines, numbers=len(rows[0][1]) if rows else 0)
    answer = Answer(table)
    missing = (f"{one.code}  {one.reason}" for one in table.missing)
    legend = [*filter(None, [answer.caveat]), *missing, *answer.unsaid, *answer.remarks]
    legend += [said("text.zeroed")] if zero and any(below_0(one) for _, figures in rows for one in figures) else []
    return "\n".join([table.title, "", laid, *(["", *legend] if legend else [])])

"""What a page shows of a table: every number with its error, its grade and how wide it is smeared."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product as combinations

from sfumato.query import Axis, Crosstab, Estimate, number
from sfumato.query.estimate import like
from sfumato.release import Withheld
from sfumato.serve.catalogue import Sheet
from sfumato.serve.layout import Layout
from sfumato.serve.question import Question

_WIDEST = 10


@dataclass(frozen=True)
class Cell:
    """One number as it is seen and as it is read aloud."""

    number: str
    error: str
    grade: str
    smear: int
    spoken: str
    negative: bool = False


@dataclass(frozen=True)
class Head:
    """One head of a row or column."""

    label: str
    code: str
    depth: int = 0
    span: int = 1
    outermost: bool = True


@dataclass(frozen=True)
class Row:
    heads: tuple[Head, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class TableView:
    """The table of a page: heads, rows, the row of totals, and the estimates behind them."""

    corner: tuple[str, ...]
    columns: tuple[Head, ...]
    rows: tuple[Row, ...]
    totals: Row | None
    estimates: tuple[Estimate, ...]

    @property
    def negative(self) -> bool:
        return any(cell.negative for row in self.rows for cell in row.cells)

    @property
    def grades(self) -> set[str]:
        return {estimate.grade for estimate in self.estimates}


def table_view(layout: Layout) -> TableView:
    """Ask for the table and, where it may be summed, for its totals; sums are never rounded, only their display is."""
    question, subject = layout.question, layout.sheet.product.subject
    body = question.table(layout.rows, layout.column)
    row_axes = body.axes[:-1] if layout.column else body.axes
    columns = _heads(body.axes[-1]) if layout.column else [Head(subject.title, "")]
    estimates = _estimates(body)
    beside = _estimates(question.table(layout.rows)) if layout.column and subject.additive else []
    rows = []
    for place, heads in enumerate(_row_heads(row_axes)):
        here = beside[place : place + 1] + estimates[place * len(columns) : (place + 1) * len(columns)]
        rows.append(Row(heads, tuple(cell(one, layout.error) for one in here)))
    return TableView(
        corner=tuple(axis.attribute.label for axis in row_axes),
        columns=(*([Head("Total", "")] if beside else []), *columns),
        rows=tuple(rows),
        totals=_totals(layout, question, len(row_axes)) if subject.additive else None,
        estimates=tuple(estimates),
    )


def _estimates(table: Crosstab) -> list[Estimate]:
    return [estimate for _, estimate in table.items()]


def _totals(layout: Layout, question: Question, span: int) -> Row:
    """The row of totals: the same table with the row variables left out."""
    across = _estimates(question.table([], layout.column)) if layout.column else []
    whole = _estimates(question.table([]))
    return Row((Head("Total", "", span=span),), tuple(cell(one, layout.error) for one in whole + across))


def total_view(sheet: Sheet) -> Cell | None:
    """The one number over everything, where the table may be summed."""
    if not sheet.product.subject.additive:
        return None
    return cell(sheet.edition.engine.total(of=sheet.product.subject.name), "moe90")


def _row_heads(axes: Sequence[Axis]) -> list[tuple[Head, ...]]:
    """For each row the heads that start there; an outer head spans the rows it is the head of."""
    heads = [_heads(axis) for axis in axes]
    lengths = [len(one) for one in heads]
    found = []
    for place in combinations(*(range(length) for length in lengths)):
        starting = []
        for depth, index in enumerate(place):
            if all(later == 0 for later in place[depth + 1 :]):
                head = heads[depth][index]
                starting.append(Head(head.label, head.code, head.depth, math.prod(lengths[depth + 1 :]), depth == 0))
        found.append(tuple(starting))
    return found


def _heads(axis: Axis) -> list[Head]:
    levels = axis.attribute.levels
    least = min(levels.depths[code] for code in axis.codes)
    return [
        Head(label, "" if code.lower() == label.lower() else code, min(levels.depths[code] - least, 5))
        for code, label in zip(axis.codes, axis.labels, strict=True)
    ]


def cell(estimate: Estimate, error: str) -> Cell:
    """A number as `310 ± 76 B`, or with the error a reader chose."""
    value, unit = number(estimate.value), estimate.unit
    if estimate.cells == 0:
        return Cell("–", "", "", 0, "no such combination")
    shown, said = _error(estimate, error)
    return Cell(
        number=value,
        error=shown,
        grade=estimate.grade,
        smear=_smear(estimate),
        spoken=f"{value} {unit}, {said}, grade {estimate.grade if estimate.grade != '-' else 'not stated'}",
        negative=estimate.value < 0,
    )


def _error(estimate: Estimate, error: str) -> tuple[str, str]:
    """The error in signs and in words."""
    se = estimate.se
    if isinstance(se, Withheld):
        return "± withheld", "error withheld"
    if error == "se":
        return f"SE {like(se, estimate.value)}", f"standard error {like(se, estimate.value)}"
    if error == "cv":
        share = "over 999%" if float(estimate.cv) > 9.99 else f"{100 * float(estimate.cv):.2g}%"  # type: ignore[arg-type]
        return f"CV {share}", f"coefficient of variation {share}"
    if error == "interval95":
        low, high = (like_whole(end, estimate.value) for end in estimate.interval(0.95))
        return f"{low} to {high}", f"between {low} and {high} at 95 percent"
    margin = like(float(estimate.moe(0.90)), estimate.value)  # type: ignore[arg-type]
    return f"±\u2009{margin}", f"plus or minus {margin}"


def like_whole(end: float, value: float) -> str:
    """The end of an interval to the precision of its number."""
    return number(round(end)) if value == round(value) else number(end)


def _smear(estimate: Estimate) -> int:
    """How wide the smear under a number is, 0 to 10: the wider, the less the number says."""
    margin = estimate.moe(0.90)
    if isinstance(margin, Withheld):
        return _WIDEST
    if margin == 0:
        return 0
    return _WIDEST if not estimate.value else max(1, min(_WIDEST, math.ceil(_WIDEST * margin / abs(estimate.value))))

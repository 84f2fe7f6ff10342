"""What a page shows of a table: one block for each level it is wrapped by, each with heads, rows and totals."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product as combinations

from sfumato.errors import QueryError
from sfumato.foreign_text import without_stop
from sfumato.query import LARGEST_PAGE, Axis, Change, Estimate, Figure
from sfumato.query.answer import Answer
from sfumato.query.caveats import Caveats, joint
from sfumato.query.change import UNSAID
from sfumato.query.digits import common_scale
from sfumato.query.portable import Portable
from sfumato.query.wording import Words
from sfumato.release import NoNumber
from sfumato.serve.pages.cell import Cell, address, cell
from sfumato.serve.pages.layout import Layout
from sfumato.serve.pages.order import Order, asked, order_of
from sfumato.serve.pages.room import beside
from sfumato.serve.question import Question

Name = Callable[[tuple[str, ...]], str]
"""From the codes of a cell to the name that it has in an address."""


@dataclass(frozen=True)
class Head:
    """One head of a row or column."""

    label: str
    code: str
    depth: int = 0
    span: int = 1
    outermost: bool = True
    key: str = ""
    """What the head is called in an address."""


@dataclass(frozen=True)
class Row:
    heads: tuple[Head, ...]
    cells: tuple[Cell, ...]
    rank: str = ""


@dataclass(frozen=True)
class PageTable:
    """One table of the page: its figures, also as they are shown, heads, rows, the row of totals."""

    head: Head | None
    figures: Portable
    shown: Portable
    columns: tuple[Head, ...]
    rows: tuple[Row, ...]
    totals: Row | None

    @property
    def all_rows(self) -> tuple[Row, ...]:
        """The rows and, where there is one, the row of totals."""
        return (*self.rows, *([self.totals] if self.totals else []))

    @property
    def beside(self) -> int:
        """About how many rem the columns of numbers take."""
        across = zip(*(row.cells for row in self.all_rows), strict=True)
        return beside(zip((one.label for one in self.columns), across, strict=False))


@dataclass(frozen=True)
class TableView:
    """All tables of a page."""

    blocks: tuple[PageTable, ...]

    @property
    def tables(self) -> tuple[Portable, ...]:
        return tuple(block.figures for block in self.blocks)

    @cached_property
    def ranked(self) -> bool:
        return any(row.rank for block in self.blocks for row in block.rows)

    @property
    def size(self) -> int:
        return sum(table.size for table in self.tables)

    @cached_property
    def estimates(self) -> tuple[Estimate, ...]:
        figures = (figure for table in self.tables for _, figure in table.items())
        return tuple(one for one in figures if isinstance(one, Estimate))

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The verdict of every change that is shown, totals among them."""
        return tuple(one.verdict for block in self.blocks for row in block.all_rows for one in row.cells if one.verdict)

    def unsaid(self, language: str) -> tuple[str, ...]:
        """What is not stated of the errors, and why, each reason once."""
        said = (without_stop(one) for block in self.blocks for one in Answer(block.shown, language=language).unsaid)
        return tuple(dict.fromkeys(said))

    def caveat(self, language: str) -> str:
        """What the numbers leave out, as a sentence; '' where they leave out nothing."""
        return self.caveats.sentence(language)

    @property
    def caveats(self) -> Caveats:
        """What the numbers of any of its tables leave out."""
        return joint(block.shown.caveats for block in self.blocks)

    def remarks(self, words: Words) -> tuple[str, ...]:
        """What is to be said of the numbers as such, each sentence once."""
        return tuple(dict.fromkeys(one.said(words) for table in self.tables for one in table.remarks))

    @property
    def missing(self) -> tuple[NoNumber, ...]:
        """Why cells hold no number, each reason once."""
        return tuple(dict.fromkeys(one for table in self.tables for one in table.missing))

    @property
    def negative(self) -> bool:
        return any(one.value < 0 for one in self.estimates if not isinstance(one, Change))

    @property
    def scaled(self) -> bool:
        """Whether some numbers are counted in thousands or millions."""
        return any(one.scaled for block in self.blocks for row in block.all_rows for one in row.cells)

    @property
    def unjudged(self) -> bool:
        """Whether some changes have no verdict."""
        return any(one.verdict() == UNSAID for one in self.estimates if isinstance(one, Change))

    @property
    def grades(self) -> set[str]:
        return {estimate.grade for estimate in self.estimates}


def table_view(layout: Layout) -> TableView:
    """Ask for the tables and, where they may be summed, for their totals; sums are never rounded, only displays are."""
    _refuse_too_large(layout)
    return TableView(tuple(_block(layout, question, head) for question, head in questions_of(layout)))


def _refuse_too_large(layout: Layout) -> None:
    """All tables of a page together are one page."""
    question = layout.question
    lengths = [len(codes) + len(question.groups.get(name, ())) for name, codes in question.shown.items()]
    if math.prod(lengths) > LARGEST_PAGE:
        raise QueryError(
            f"The page has {math.prod(lengths):,} cells, more than {LARGEST_PAGE:,}; show a higher level, fewer "
            "variables, or filter; larger tables can be downloaded."
        )


def questions_of(layout: Layout) -> list[tuple[Question, Head | None]]:
    """The question of each block: the same table within one level of the variable that it is wrapped by."""
    whole, name = layout.question, layout.wrap
    if name is None:
        return [(whole, None)]
    if name == layout.sheet.time:
        return _by_period(whole)
    axis = wrapped_axis(layout, whole, name)
    found: list[tuple[Question, Head | None]] = []
    levels, shown = axis.attribute.levels, {one: codes for one, codes in whole.shown.items() if one != name}
    inside = levels.mask(whole.within.get(name, levels.leaves))
    groups = axis.groups.within(inside)
    for place, head in enumerate(_heads(axis)):
        held = tuple(levels.leaves[leaf] for leaf in groups.leaves(place))
        found.append((replace(whole, shown=shown, within={**whole.within, name: held}), head))
    return found


def wrapped_axis(layout: Layout, whole: Question, name: str) -> Axis:
    """The axis of the variable that tables are told apart by; where no sums may be, of a table by all that is shown."""
    alone = layout.sheet.product.subject.additive or name == layout.sheet.time
    axes = whole.table([name] if alone else [one for one in whole.shown if one != layout.sheet.time]).axes
    return next(axis for axis in axes if axis.attribute.name == name)


def _by_period(whole: Question) -> list[tuple[Question, Head | None]]:
    """The same table in each period that is shown, of changes in each that can be compared."""
    line, shown = whole.sheet.timeline, {one: codes for one, codes in whole.shown.items() if one != whole.sheet.time}
    found: list[tuple[Question, Head | None]] = []
    for told in (line.axis_period(code) for code in whole.shown[whole.sheet.time]):
        question = replace(whole, sheet=line.sheet(told.code), shown=shown)
        if not whole.since or line.has_before(question.sheet, whole.since):
            found.append((question, Head(told.label, "", key=told.code)))
    if not found:
        raise QueryError("No period shown here has an earlier one to be compared with; show later ones.")
    return found


def _block(layout: Layout, question: Question, head: Head | None) -> PageTable:
    subject, time = layout.sheet.product.subject, layout.sheet.time
    body = question.table(layout.rows, layout.column)
    columns = _heads(body.axes[-1]) if layout.column else [Head(layout.subject, "", key="total")]
    summed = subject.additive and layout.column != time
    beside = question.table(layout.rows) if layout.column and summed else None
    order, shown = order_of(layout, body, beside), asked(body, layout)
    writer = _Writer(layout, shown, [*shown.items()])
    rows = _rows(writer, body, beside, head, order)
    return PageTable(
        head,
        body,
        shown,
        columns=(*([_total(layout, body, body.axes[-1:])] if beside else []), *columns),
        rows=tuple(rows[place] for place in order.places),
        totals=_totals(writer, question, head, body) if subject.additive and time not in layout.rows else None,
    )


@dataclass(frozen=True)
class _Writer:
    """Writes the cells of one table of the page, all in one unit where one suits them all."""

    layout: Layout
    shown: Portable
    figures: Sequence[tuple[tuple[str, ...], Figure]]

    @cached_property
    def _scale(self) -> int | None:
        return common_scale(one for _, one in self.figures if isinstance(one, Estimate))

    def cells(self, table: Portable, name: Name) -> list[Cell]:
        """The cells of the table, or of totals beside it."""
        look, largest = self.layout.look, self.layout.sheet.edition.release.manifest.largest_cv
        figures = self.figures if table is self.shown else table.items()
        return [cell(one, look, name(codes), largest, scale=self._scale) for codes, one in figures]


def _rows(writer: _Writer, body: Portable, beside: Portable | None, head: Head | None, order: Order) -> list[Row]:
    layout, wrap = writer.layout, [head.key] if head else []
    width = len(body.axes[-1].codes) if layout.column else 1
    inner = writer.cells(writer.shown, lambda codes: address([*codes, *wrap]))
    outer = writer.cells(_shared(beside, layout, "row"), lambda codes: address([*codes, "", *wrap])) if beside else []
    return [
        Row(heads, (*outer[place : place + 1], *inner[place * width : (place + 1) * width]), order.rank(place))
        for place, heads in enumerate(_row_heads(body.row_axes))
    ]


def _totals(writer: _Writer, question: Question, head: Head | None, body: Portable) -> Row:
    """The row of totals: the same table with the row variables left out."""
    layout = writer.layout
    empty, wrap = [""] * len(layout.rows), [head.key] if head else []
    corner = [*empty, *([""] if layout.column else []), *wrap]
    cells: list[Cell] = []
    if layout.column != layout.sheet.time or not layout.column:
        whole = question.table([])
        cells = writer.cells(whole.shares() if layout.look.share else whole, lambda _: address(corner))
    if layout.column:
        across = _shared(question.table([], layout.column), layout, "column")
        cells += writer.cells(across, lambda codes: address([*empty, *codes, *wrap]))
    named = _total(layout, body, body.row_axes)
    return Row((replace(named, span=len(layout.rows), key=""),), tuple(cells))


def _total(layout: Layout, body: Portable, axes: Sequence[Axis]) -> Head:
    """The head of totals over some axes, which says so where they hold more than is shown."""
    whole = all(body.covers(axis) for axis in axes)
    key = "table.together" if layout.per else "table.total" if whole else "table.total_all"
    return Head(layout.look.words(key), "", key="total")


def _shared(totals: Portable, layout: Layout, own: str) -> Portable:
    """Totals as they stand beside a table: numbers, each the whole of its own row or column, or parts of the whole."""
    share = layout.share
    if not share:
        return totals
    names = [axis.attribute.name for axis in totals.axes if axis.attribute.name != layout.sheet.time]
    return totals.shares(names if share == own else "whole")


def _row_heads(axes: Sequence[Axis]) -> list[tuple[Head, ...]]:
    """For each row the heads that start there; an outer head spans the rows it is the head of."""
    heads = [_heads(axis) for axis in axes]
    spans = [math.prod(len(one) for one in heads[depth + 1 :]) for depth in range(len(heads))]
    return [
        tuple(
            replace(heads[depth][index], span=spans[depth], outermost=depth == 0)
            for depth, index in enumerate(place)
            if not any(place[depth + 1 :])
        )
        for place in combinations(*(range(len(one)) for one in heads))
    ]


def _heads(axis: Axis) -> list[Head]:
    depths: Mapping[str, int] = axis.attribute.levels.depths
    least = min([depths[code] for code in axis.codes if code in depths], default=0)
    return [
        Head(
            label,
            "" if code not in depths or axis.attribute.levels.is_named_by_its_code(code) else code,
            min(depths.get(code, least) - least, 5),
            key=code,
        )
        for code, label in zip(axis.codes, axis.labels, strict=True)
    ]

"""Line history: the rows of a table in each period of its series, and where the change since the last one is real."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from sfumato.errors import QueryError
from sfumato.pictures import Mark
from sfumato.query import Axis, Estimate
from sfumato.query.changed_table import ChangedTable
from sfumato.query.moves import changes_between, move_of
from sfumato.query.plot import in_language, mark_of
from sfumato.query.portable import Portable
from sfumato.release import Release
from sfumato.serve.pages.cell import address
from sfumato.serve.pages.layout import Layout
from sfumato.serve.question import Question


@dataclass(frozen=True)
class LinePeriod:
    """One period: its code, its name, its numbers as they are shown, and their changes since the period before it."""

    code: str
    label: str
    numbers: Portable
    changes: ChangedTable | None


@dataclass(frozen=True)
class LineHistory:
    """The rows of a table over the periods; a release that cannot answer has none."""

    layout: Layout
    names: tuple[str, ...]
    axis: Axis | None
    """The rows; none where one line is of all."""
    periods: tuple[LinePeriod, ...]
    linked: bool

    @classmethod
    def of(cls, layout: Layout, question: Question, names: tuple[str, ...], *, linked: bool) -> "LineHistory":
        """The periods that are shown, in the order of time, and the variable whose levels have a line each."""
        line, told = question.sheet.timeline, list[LinePeriod]()
        before: tuple[str, Portable] | None = None
        for code in question.shown.get(line.time, line.periods):
            try:
                numbers = replace(question, sheet=line.sheet(code)).table(names)
                shown = numbers.shares() if layout.look.share else numbers
            except QueryError:
                before = None  # what a release cannot answer breaks its line
                continue
            changes = changes_between(before[1], numbers, before[0], code) if before else None
            told.append(LinePeriod(code, line.axis_period(code).label, shown, changes))
            before = None if layout.look.share else (code, numbers)
        axes = question.crosstab(names).axes
        return cls(layout, names, axes[0] if axes else None, tuple(told), linked)

    @property
    def codes(self) -> tuple[str, ...]:
        return _codes(self.axis)

    @property
    def last(self) -> Portable:
        """The numbers of the last period."""
        return self.periods[-1].numbers

    @property
    def releases(self) -> tuple[Release, ...]:
        """The releases that the lines are from."""
        return tuple(release for period in self.periods for release in period.numbers.releases)

    @property
    def span(self) -> str:
        """The periods that the lines run along."""
        first, last = self.periods[0].label, self.periods[-1].label
        return first if first == last else self.layout.look.words("error.between", low=first, high=last)

    def marks(self, place: int) -> list[Mark]:
        """A row in every period, each mark with whether it moved and the way to its cell."""
        found = []
        for period in self.periods:
            mark = self._mark(period, place)
            if mark is not None:
                flat = _codes(*period.numbers.axes).index(self.codes[place])
                verdict = move_of(period.changes.figure(flat)) if period.changes else ""
                found.append(replace(mark, moved=verdict, href=self._cell(period, place)))
        return found

    def behind(self, place: int, beside: Sequence[int]) -> list[Mark]:
        """A row that was not chosen, in every period; it leads to the picture in which it stands beside some others."""
        look = replace(self.layout.look, line=tuple(self.codes[one] for one in (place, *beside)))
        href = f"?{self.layout.address(look)}" if self.linked else ""
        marks = (self._mark(period, place) for period in self.periods)
        return [replace(mark, href=href) for mark in marks if mark is not None]

    def _mark(self, period: LinePeriod, place: int) -> Mark | None:
        codes, code = _codes(*period.numbers.axes), self.codes[place]
        number = period.numbers.figure(codes.index(code)) if code in codes else None
        if not isinstance(number, Estimate):
            return None
        mark = mark_of(number, period.label, language=self.layout.look.language)
        series = self.axis.labels[place] if self.axis else self.layout.subject
        named = replace(mark, series=series, code=period.code)
        return in_language(named, self.layout.look.words.figure)

    def _cell(self, period: LinePeriod, place: int) -> str:
        """The same page in the period of a mark, with its cell in detail."""
        layout = self.layout
        if not self.linked or layout.wrap:
            return ""
        time = layout.sheet.time
        # Beside other columns the cell of a row is its total.
        known = {time: period.code, **dict(zip(self.names, [self.codes[place]], strict=False))}
        asked = layout.address(layout.look.but(cell=address([known.get(name, "") for name in layout.names])))
        return f"?{asked}#detail" if layout.timed else f"?{asked}&valueCodes[{time}]={quote(period.code)}#detail"


def _codes(axis: Axis | None = None) -> tuple[str, ...]:
    """The codes of the rows; of one line for all, that of a total."""
    return axis.codes if axis else ("",)

"""Rows: dots or bars, each with its label and its number written out, row under row on one axis."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sfumato.errors import QueryError
from sfumato.pictures.axis import headroom, ruled
from sfumato.pictures.canvas import EDGE, Canvas, error_keys, fitted, keys_along, stacked
from sfumato.pictures.mark import Caption, Mark, MarkRow, rows_of, series_of, shown, spoken
from sfumato.pictures.picture import Picture
from sfumato.pictures.svg import WIDTH, Scale, bar, breadth, dot, glyph, group, hit, line, round_step, smear, text
from sfumato.pictures.vega import vega_lite

NARROW = 520
"""Below this width labels and numbers stand above the marks."""
Draw = Callable[[Mark, int | None, Scale, float], str]
"""Draws a mark of a series (none where there is one series alone) on a scale at a height."""


@dataclass(frozen=True)
class RowSheet:
    """Rows of marks laid out at a width: which space the labels, the axis and the numbers get."""

    rows: Sequence[MarkRow]
    series: Sequence[str]
    caption: Caption
    width: float

    @property
    def narrow(self) -> bool:
        return self.width < NARROW

    @property
    def several(self) -> bool:
        return len(self.series) > 1

    @cached_property
    def marks(self) -> list[Mark]:
        """The marks that are numbers."""
        return [mark for row in self.rows for mark in row.marks if not mark.absent]

    @cached_property
    def numbers(self) -> float:
        """How wide the numbers are, grades included."""
        return max(breadth(shown(mark), 11.5) for row in self.rows for mark in row.marks) + 30

    @cached_property
    def names(self) -> float:
        """How wide the labels may be."""
        if self.narrow:
            return self.width - 2 * EDGE - (0 if self.several else self.numbers)
        return min(max(breadth(row.label) for row in self.rows) + 4, self.width * 0.36)

    @property
    def start(self) -> float:
        return EDGE + 10 if self.narrow else EDGE + self.names + (28 if self.several else 16)

    @property
    def end(self) -> float:
        return self.width - EDGE - 10 - (0 if self.narrow else self.numbers)

    def scale(self, *, zero: bool) -> Scale:
        return Scale(*domain(self.marks, zero=zero), self.start, self.end)

    def label(self, row: MarkRow) -> list[str]:
        return fitted(row.label, self.names, lines=3)

    def heights(self, row: MarkRow) -> tuple[float, float]:
        """How far below the top of a row its first mark stands, and how high the row is."""
        step = self.step * (len(row.marks) - 1)
        above = 15 * len(self.label(row))
        if self.narrow:
            first = above + 12 + (17 if self.several else 0)
            return first, first + step + 20
        tall = max(26.0, step + 26, above + 10)
        return (tall - step) / 2, tall

    @property
    def step(self) -> float:
        """How far the marks of a row stand apart; on a narrow sheet each has its series and number above it."""
        return 36.0 if self.narrow else 19.0


def domain(marks: Sequence[Mark], *, zero: bool, near: float = 0.6) -> tuple[float, float]:
    """Round ends that hold every interval; 0 among them where it is asked for or not far away.

    >>> domain([Mark("a", 95, 90, 104)], zero=False), domain([Mark("a", 95, 90, 104)], zero=True)
    ((90.0, 104.0), (0, 105))
    """
    low, high = min(min(mark.value, *mark.ends) for mark in marks), max(max(mark.value, *mark.ends) for mark in marks)
    if zero or min(abs(low), abs(high)) < near * max(abs(low), abs(high)):
        low, high = min(low, 0), max(high, 0)
    step = round_step((high - low) / 25)
    first, last = low // step * step, -(-high // step) * step
    return (first, last) if last > first else (first, first + step)


def dots(marks: Sequence[Mark], caption: Caption, width: float = WIDTH) -> Picture:
    """One row a label, in it a dot a series over its interval: full for grades A and B, hollow for C."""

    def draw(mark: Mark, series: int | None, scale: Scale, y: float) -> str:
        x, place = scale(mark.value), series or 0
        full, edge = ("ink", "rim") if series is None else (f"f{place}", f"k{place}")
        if not mark.stated:
            return glyph(place, x, y, f"hollow {edge} broken") + _unstated(mark, scale, y, caption.words.withheld)
        kind = f"hollow {edge}" if mark.doubtful else full
        return _spread(mark, scale, y, 15) + glyph(place, x, y, kind, 4)

    return _drawn(marks, caption, width, "dot", draw)


def bars(marks: Sequence[Mark], caption: Caption, width: float = WIDTH) -> Picture:
    """One row a label, in it a bar a series; negative numbers reach to the left of zero, grade C is hollow."""

    def draw(mark: Mark, series: int | None, scale: Scale, y: float) -> str:
        ends = sorted((scale(0), scale(mark.value)))
        full, edge = ("column", "outline") if series is None else (f"f{series}", f"k{series}")
        kind = f"hollow {edge}" if mark.doubtful or not mark.stated else full
        drawn = bar(ends[0], y - 7, max(ends[1] - ends[0], 1), 14, kind if mark.stated else f"{kind} broken")
        if not mark.stated:
            return drawn + _unstated(mark, scale, y, caption.words.withheld, 6)
        return drawn + _spread(mark, scale, y, 10, over=series is not None)

    return _drawn(marks, caption, width, "bar", draw)


def _drawn(marks: Sequence[Mark], caption: Caption, width: float, kind: str, draw: Draw) -> Picture:
    """The picture of some marks, row by row, each mark drawn by the kind of picture that it is; bars begin at 0."""
    series, zero = series_of(marks), kind == "bar"
    if all(mark.absent for mark in marks):
        raise QueryError("A picture of no numbers was asked for; choose at least one row.")
    sheet = RowSheet(rows_of(marks), series, caption, width)
    frame, scale = Canvas(caption, width), sheet.scale(zero=zero)
    named = enumerate(series) if sheet.several and not sheet.narrow else ()
    swatches = [(glyph(place, 0, 0, f"f{place}"), name) for place, name in named]
    legend, top = keys_along(swatches, EDGE, frame.top + 6, width - 2 * EDGE)
    top += headroom(caption) - (0 if legend else 6)
    bottom, parts = top, []
    for row in sheet.rows:
        parts.append(_row(row, sheet, scale, bottom, draw))
        bottom += sheet.heights(row)[1]
    axis, below = ruled(scale, top, bottom, caption, width)
    ruler = line(scale(0), top, scale(0), bottom, "zero") if scale.low <= 0 <= scale.high else ""
    keys, foot = keys_along(error_keys(sheet.marks, caption.words, bars=zero), EDGE, below + 18, width - 2 * EDGE)
    told = tuple(spoken(mark, caption.words) for row in sheet.rows for mark in row.marks)
    links = any(mark.href for mark in marks)
    svg = frame.closed(foot, [legend, axis, ruler, *parts, keys], told, links=links)
    return Picture(
        caption.title,
        svg,
        told,
        vega_lite([mark for mark in marks if not mark.absent], caption, kind),
        caption.words.in_words,
    )


def _row(row: MarkRow, sheet: RowSheet, scale: Scale, top: float, draw: Draw) -> str:
    """A row: its label, and each of its marks with its number."""
    first, tall = sheet.heights(row)
    lines = sheet.label(row)
    if sheet.narrow:
        name = stacked(EDGE, top + 12, lines, "clear")
    else:
        name = stacked(EDGE + sheet.names, top + tall / 2 + 4 - 7.5 * (len(lines) - 1), lines, anchor="end")
    parts = [group(name, tip=row.label)]
    for place, mark in enumerate(row.marks):
        y = top + first + place * sheet.step
        which = sheet.series.index(mark.series) if sheet.several else None
        guide = "" if sheet.narrow else line(sheet.start, y, sheet.end, y, "guide")
        drawn = _missing(mark, sheet, y) if mark.absent else draw(mark, which, scale, y)
        marked = [guide, _target(mark, sheet, y), drawn, _number(mark, sheet, y)]
        if which is not None:
            marked.append(_series(mark.series, which, sheet, y))
        parts.append(group(*marked, tip=spoken(mark, sheet.caption.words), href=mark.href, name=mark.name))
    return "".join(parts)


def _missing(mark: Mark, sheet: RowSheet, y: float) -> str:
    """Why there is no number, where its mark would begin: what is not drawn must not look like 0."""
    lines = fitted(mark.absent, sheet.end - sheet.start - 8, lines=1, size=11)
    return text(sheet.start + 4, y + 4, lines[0], "axis clear") if lines else ""


def _target(mark: Mark, sheet: RowSheet, y: float) -> str:
    """Where a pointer finds a mark that leads somewhere: all along its row."""
    if not mark.href:
        return ""
    tall = 32.0 if sheet.narrow else min(sheet.step + 5, 24.0)
    return hit(sheet.start - 16, y - (22 if sheet.narrow else tall / 2), sheet.width - EDGE - sheet.start + 16, tall)


def _series(name: str, which: int, sheet: RowSheet, y: float) -> str:
    """The shape of a series at the start of its mark, and its name where there is no room beside the axis."""
    if not sheet.narrow:
        return glyph(which, sheet.start - 12, y, f"f{which}", 4)
    written = fitted(name, sheet.width - 2 * EDGE - 22 - sheet.numbers, lines=1, size=11)
    return (
        glyph(which, EDGE + 4, y - 17, f"f{which}", 4) + text(EDGE + 16, y - 13, written[0], "axis clear")
        if written
        else ""
    )


def _number(mark: Mark, sheet: RowSheet, y: float) -> str:
    """The number written out at the right edge, its grade in a box of its own; of a change whether it is real."""
    edge, y = sheet.width - EDGE, y - 17 if sheet.narrow else y
    written = text(edge - 22, y + 4, shown(mark), "number clear", "end")
    if mark.verdict:
        return written + _verdict(mark, edge - 8, y)
    if not mark.grade.isalpha():
        return written
    return (
        written + bar(edge - 16, y - 8, 16, 16, f"g{mark.grade}") + text(edge - 8, y + 4, mark.grade, "axis", "middle")
    )


def _verdict(mark: Mark, x: float, y: float) -> str:
    """Whether a change is real, as a table marks it: a full dot, an open one, or a question where it is not said."""
    if not mark.stated:
        return text(x, y + 4, "?", "axis", "middle")
    return dot(x, y, "accent" if mark.sign else "hollow rim", 4)


def _spread(mark: Mark, scale: Scale, y: float, height: float, *, over: bool = False) -> str:
    """The interval: a smear of sampling error with the noise's share of it inside, and exact ends over it.

    The lengths of the two parts are their shares of the variance. Over a dark bar the ends stand out by a pale line.
    """
    if not mark.stated:
        return ""
    low, high = (scale(end) for end in mark.ends)
    middle = scale(mark.value)
    parts = []
    if mark.noise_share is None:
        parts.append(smear(low, high, y, height, "unsplit"))
    else:
        share = min(max(mark.noise_share, 0.0), 1.0)
        parts += [smear(low, high, y, height, "sampled")] if share < 1 else []
        ends = middle - (middle - low) * share, middle + (high - middle) * share
        parts += [smear(*ends, y, height, "noisy")] if share > 0 else []
    for kind in ("halo", "whisker")[not over :]:
        parts.append(line(low, y, high, y, kind))
        parts += [line(end, y - 4, end, y + 4, kind) for end in (low, high)]
    return "".join(parts)


def _unstated(mark: Mark, scale: Scale, y: float, words: str, beside: float = 10) -> str:
    """The words where an error would stand, on the side that has room."""
    x, long = scale(mark.value), beside + breadth(words, 11)
    left = x - long >= scale.start and (mark.value < 0 or x + long > scale.end + 6)
    return text(x - beside, y + 4, words, "axis", "end") if left else text(x + beside, y + 4, words, "axis")

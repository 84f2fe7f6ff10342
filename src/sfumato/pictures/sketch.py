"""Sketches: a few numbers with their intervals, small enough to stand beside a sentence that says what they show."""

from collections.abc import Sequence
from itertools import accumulate

from markupsafe import Markup

from sfumato.pictures.canvas import fitted
from sfumato.pictures.mark import Mark, shown
from sfumato.pictures.rows import domain
from sfumato.pictures.svg import Point, Scale, area, breadth, dot, drawing, line, path, smear, text

WIDTH, ROW, LINE, TALL = 330, 27, 14, 84
_EDGE, _LABELS, _BELOW = 2, 146, 16


def sketched_rows(marks: Sequence[Mark], title: str) -> Markup:
    """One row a mark: its label, a dot over its interval on a common scale, and its number; told as the title."""
    numbers = max(breadth(shown(mark), 11) for mark in marks) + 4
    across = Scale(*domain(marks, zero=True), _EDGE + _LABELS + 14, WIDTH - _EDGE - numbers - 8)
    labels = [fitted(mark.label, _LABELS, lines=3) for mark in marks]
    ends = [*accumulate(ROW + LINE * (len(lines) - 1) for lines in labels)]
    parts = []
    for mark, lines, end in zip(marks, labels, ends, strict=True):
        y, (low, high) = end - (ROW + LINE * (len(lines) - 1)) / 2 + 2, mark.ends
        first = y + 4 - LINE * (len(lines) - 1) / 2
        cut = mark.label if lines[-1].endswith("…") else ""
        parts += [text(_EDGE + _LABELS, first + LINE * at, one, "", "end", cut) for at, one in enumerate(lines)]
        parts.append(smear(across(low), across(high), y, 12, "noisy"))
        parts.append(line(across(low), y, across(high), y, "whisker"))
        parts.append(dot(across(mark.value), y, "ink", 3.6))
        parts.append(text(WIDTH - _EDGE, y + 4, shown(mark), "axis", "end"))
    return drawing(ends[-1] + 4, title, *parts, width=WIDTH)


def sketched_line(marks: Sequence[Mark], title: str) -> Markup:
    """Periods from left to right: a line through the numbers, the band of their intervals, the last one marked."""
    up = Scale(*domain(marks, zero=False, near=0.0), TALL - _BELOW - 4, _EDGE)
    side = Scale(0, max(len(marks) - 1, 1), _EDGE + 4, WIDTH - _EDGE - 8)
    ends: list[list[Point]] = [[(side(at), up(mark.ends[end])) for at, mark in enumerate(marks)] for end in (0, 1)]
    points = [(side(at), up(mark.value)) for at, mark in enumerate(marks)]
    names = [(marks[0].label, _EDGE, "start"), (marks[-1].label, WIDTH - _EDGE, "end")]
    parts = [
        area([*ends[1], *reversed(ends[0])], "noisy"),
        path(points, "curve rim"),
        dot(*points[-1], "ink", 4),
        *(text(x, TALL - 2, label, "axis", anchor) for label, x, anchor in names),
    ]
    return drawing(TALL, title, *parts, width=WIDTH)

"""Power: how well two neighbours can be told apart, for every rate of false alarms one would put up with."""

import math
from collections.abc import Sequence

from sfumato.errors import QueryError
from sfumato.pictures.canvas import EDGE, Canvas, fitted, stacked
from sfumato.pictures.mark import Caption
from sfumato.pictures.picture import Picture
from sfumato.pictures.svg import Point, Scale, across, area, dot, line, path, text, tick_words

WIDE = 460


def power_curve(points: Sequence[Point], at: Point, caption: Caption, width: float = WIDE) -> Picture:
    """The best test's power against its false alarms, beside blind guessing, with the one point that is told in words.

    Points are (false alarm, power), both shares.
    """
    if any(not 0 <= share <= 1 for point in [*points, at] for share in point) or len(points) < 2:
        raise QueryError("A power picture is drawn through two points or more, each two shares between 0 and 1.")
    frame, words = Canvas(caption, width), caption.words
    top = frame.top + 24
    left, size = EDGE + 44, width - 2 * EDGE - 60
    side = Scale(0, 1, left, left + size)
    up = Scale(0, 1, top + size * 0.72, top)
    drawn = [(side(alarm), up(power)) for alarm, power in sorted({(0.0, 0.0), *points, (1.0, 1.0)})]
    told = words.told.format(power=caption.figure(of_100(at[1])), alarm=caption.figure(of_100(at[0])))
    bottom = up.start
    parts = [
        across(side, top, bottom, words.false_alarm, number=lambda tick: caption.figure(tick_words(tick)), edge=width),
        *(line(side.start, up(tick), side.end, up(tick), "hair") for tick in up.ticks()),
        *(text(left - 8, up(tick) + 4, caption.figure(tick_words(tick)), "axis", "end") for tick in up.ticks()),
        text(EDGE, top - 12, words.power, "axis"),
        area(drawn, "gain"),
        path([(side(0), up(0)), (side(1), up(1))], "blind"),
        text(side(0.66), up(0.66) + 18, words.blind, "axis"),
        path(drawn, "edge"),
        _pointed(side, up, at, told),
    ]
    return Picture(caption.title, frame.closed(bottom + 44, parts, [told]), (told,), in_words=words.in_words)


def of_100(share: float) -> str:
    """A share as times in 100, rounded up, as a risk told to people is never made smaller.

    >>> of_100(0.2512), of_100(0.05), of_100(0.001)
    ('26', '5', '0.1')
    """
    times = share * 100
    return f"{times:.1g}" if 0 < times < 1 else f"{min(100, math.ceil(times - 1e-9))}"


def _pointed(side: Scale, up: Scale, at: Point, told: str) -> str:
    """The point that is told in words: a gap from blind guessing up to it, and the words where there is room."""
    x, y = side(at[0]), up(at[1])
    lines = fitted(told, (side.end - side.start) * 0.46, lines=6, size=12)
    return "".join(
        [
            line(x, up(at[0]), x, y, "aim"),
            dot(x, up(at[0]), "hollow rim", 3.5),
            dot(x, y, "accent", 5.5),
            stacked(side(0.53), up(0.44), lines, "value"),
        ]
    )

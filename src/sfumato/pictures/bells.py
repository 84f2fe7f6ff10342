"""Bells: where a published number falls for two true values, and how far the two can be told apart."""

import math
from collections.abc import Callable, Sequence

from sfumato.errors import QueryError
from sfumato.pictures.canvas import EDGE, Canvas
from sfumato.pictures.mark import Caption
from sfumato.pictures.picture import Picture
from sfumato.pictures.svg import Point, Scale, across, area, breadth, line, path, text

WIDE, TALL = 460, 150
_POINTS = 160


def bells(
    pair: tuple[float, float],
    density: Callable[[float, float], float],
    cut: float,
    caption: Caption,
    width: float = WIDE,
) -> Picture:
    """The two bells; from `cut` on the test says the larger value: rightly under its bell, falsely under the other.

    `density` is how likely a published value is, next to the true one; `caption.axis` says what the numbers count.
    """
    low, high = pair
    below, above = _reach(density, low, low - high), _reach(density, high, high - low)
    if not low < high or not below or not above:
        raise QueryError("Two bells are drawn about two different values, with noise that falls off from 0.")
    frame = Canvas(caption, width)
    top = frame.top + 30
    side = Scale(low - below, high + above, EDGE + 6, width - EDGE - 6)
    up = Scale(0, 1.04, top + TALL, top)
    bottom = up.start
    places = [side.low + (side.high - side.low) * place / _POINTS for place in range(_POINTS + 1)]
    places = sorted({*places, low, high, min(max(cut, side.low), side.high)})

    def bell(middle: float, start: float = side.low) -> list[Point]:
        return [(side(x), up(density(x, middle))) for x in places if x >= start]

    parts = [
        across(side, top, bottom, caption.axis, number=caption.number, steps=4 if width < WIDE else 5),
        area(_closed(bell(high, cut), bottom), "gain"),
        area(_closed(bell(low, cut), bottom), "t0"),
        path(bell(low), "curve k0"),
        path(bell(high), "edge"),
        line(side(cut), top - 2, side(cut), bottom, "aim"),
        *_named(
            (side(low), side(high)),
            top - 12,
            (caption.number(low), caption.number(high)),
        ),
    ]
    return Picture(caption.title, frame.closed(bottom + 44, parts), in_words=caption.words.in_words)


def _reach(density: Callable[[float, float], float], middle: float, apart: float) -> float:
    """How far from its middle, up or down, a bell is worth drawing, up to a million times the distance of the two."""
    reach = abs(apart) / 64
    while density(middle + math.copysign(reach, apart), middle) > 0.02:
        reach *= 1.25
        if reach > abs(apart) * 1e6:
            return 0.0
    return max(reach, abs(apart) * 0.35)


def _closed(points: Sequence[Point], bottom: float) -> list[Point]:
    return [*points, (points[-1][0], bottom), (points[0][0], bottom)] if points else []


def _named(places: tuple[float, float], y: float, names: tuple[str, str]) -> list[str]:
    """The two true values above their bells, moved apart where they would touch."""
    gap = (breadth(names[0]) + breadth(names[1])) / 2 + 10 - (places[1] - places[0])
    apart = max(gap, 0.0) / 2
    moved = (places[0] - apart, places[1] + apart)
    return [text(x, y, name, "value", "middle") for x, name in zip(moved, names, strict=True)]

"""Reach: one number on a line with how far its error reaches, darker where the true number more likely lies."""

from collections.abc import Sequence

from markupsafe import Markup

from sfumato.pictures.svg import Scale, breadth, dot, drawing, line, smear, text

WIDTH, HEIGHT = 300, 58
_EDGE, _MIDDLE, _FOOT, _TALL, _CAP = 6, 20, 50, 30, 6
_APART = 12
"""How far two labels stand apart at least."""


def reached(value: float, intervals: Sequence[tuple[float, float]], ends: tuple[str, str], told: str) -> Markup:
    """A number and its intervals, the widest first; the ends of the last but one are written, and 0 where it is near.

    >>> drawn = reached(5.0, [(-2.0, 12.0), (1.0, 9.0), (3.0, 7.0)], ("1", "9"), "90% interval: 1 to 9")
    >>> drawn.count("<ellipse"), ">1<" in drawn, ">9<" in drawn, ">0<" in drawn
    (3, True, True, True)
    """
    low, high = intervals[0]
    near = min(low - (high - low) / 2, low) <= 0 <= max(high + (high - low) / 2, high)
    domain = (min(low, 0.0), max(high, 0.0)) if near else (low, high)
    across = Scale(*domain, _EDGE, WIDTH - _EDGE)
    lower, upper = (across(end) for end in intervals[-2])
    parts = [line(_EDGE, _MIDDLE, WIDTH - _EDGE, _MIDDLE, "hair")]
    if near:
        parts.append(line(across(0), _MIDDLE - _TALL / 2, across(0), _MIDDLE + _TALL / 2, "zero"))
    parts += [smear(across(one), across(other), _MIDDLE, _TALL, "gain") for one, other in intervals]
    parts.append(line(lower, _MIDDLE, upper, _MIDDLE, "whisker"))
    parts += [line(x, _MIDDLE - _CAP, x, _MIDDLE + _CAP, "whisker") for x in (lower, upper)]
    parts.append(dot(across(value), _MIDDLE, "ink", 4))
    return drawing(HEIGHT, told, *parts, *_labels(lower, upper, ends, across(0) if near else None), width=WIDTH)


def _labels(lower: float, upper: float, ends: tuple[str, str], zero: float | None) -> list[str]:
    """The ends of the interval under it, each within the drawing, and 0 where it runs into neither."""
    halves = [breadth(end, 11) / 2 for end in ends]
    first = max(lower, _EDGE + halves[0])
    last = min(max(upper, first + sum(halves) + _APART), WIDTH - _EDGE - halves[1])
    first = min(first, last - sum(halves) - _APART)
    placed = [text(x, _FOOT, end, "axis", "middle") for x, end in zip((first, last), ends, strict=True)]
    free = zero is not None and all(
        abs(x - zero) > half + _APART for x, half in zip((first, last), halves, strict=True)
    )
    return [*placed, *([text(zero, _FOOT, "0", "axis", "middle")] if zero is not None and free else [])]

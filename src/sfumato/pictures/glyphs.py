"""Glyphs: a shape and a colour a series, so that nobody needs to see the colour."""

from collections.abc import Sequence

from sfumato.pictures.look import dressed
from sfumato.pictures.svg import Point, dot, short

_SHAPES: tuple[Sequence[Point], ...] = (
    (),
    ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
    ((0, -1.25), (1.2, 0.95), (-1.2, 0.95)),
    ((0, 1.25), (1.2, -0.95), (-1.2, -0.95)),
    ((-0.5, -1.3), (0.5, -1.3), (0.5, -0.5), (1.3, -0.5), (1.3, 0.5), (0.5, 0.5), (0.5, 1.3), (-0.5, 1.3), (-0.5, 0.5),
     (-1.3, 0.5), (-1.3, -0.5), (-0.5, -0.5)),
)  # fmt: skip
"""A circle, a square, a diamond, a triangle either way up, a cross."""


def glyph(series: int, x: float, y: float, kind: str, radius: float = 4.5) -> str:
    """The shape of a series about a place."""
    corners = _SHAPES[series]
    if not corners:
        return dot(x, y, kind, radius)
    size = radius * 0.95
    places = " ".join(f"{short(x + across * size)},{short(y + down * size)}" for across, down in corners)
    return f'<polygon points="{places}"{dressed(kind)}/>'

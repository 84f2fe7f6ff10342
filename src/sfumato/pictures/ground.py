"""Ground: outlines on a grid placed on a drawing, and how much room there is at a place inside one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sfumato.pictures.look import dressed


class Outlined(Protocol):
    """Outlines by code as SVG path data of whole numbers, a place inside each, on a grid of width by height."""

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def outlines(self) -> Mapping[str, str]: ...
    @property
    def places(self) -> Mapping[str, tuple[int, int]]: ...
    @property
    def source(self) -> str: ...
    @property
    def projection(self) -> str: ...


@dataclass(frozen=True)
class Ground:
    """Shapes at a scale, their upper left corner at (left, top)."""

    shapes: Outlined
    left: float
    top: float
    scale: float

    @classmethod
    def within(cls, shapes: Outlined, left: float, top: float, width: float, height: float) -> "Ground":
        """The shapes as large as a frame allows, in its middle."""
        scale = min(width / shapes.width, height / shapes.height)
        return cls(shapes, left + (width - shapes.width * scale) / 2, top, scale)

    @property
    def bottom(self) -> float:
        return self.top + self.shapes.height * self.scale

    def at(self, code: str) -> tuple[float, float]:
        """Where the middle of an area is on the drawing."""
        x, y = self.shapes.places[code]
        return self.left + x * self.scale, self.top + y * self.scale

    def room(self, code: str) -> float:
        """How wide words may be about the middle of an area, on the drawing."""
        x, y = self.shapes.places[code]
        return 2 * self.scale * min((abs(x - cut) for cut in _crossings(self.shapes.outlines[code], y)), default=0.0)

    def outline(self, code: str, kind: str, fill: str = "") -> str:
        """The area of a code; drawn inside `placed`."""
        over = f' fill="{fill}" stroke="none"' if fill else dressed(kind)
        return f'<path d="{self.shapes.outlines[code]}" fill-rule="evenodd"{over}/>'

    def drawn(self, outline: str, name: str) -> str:
        """What a reader has drawn, a line on a lighter one, as far as it lies on the ground."""
        left, top, scale = self.left, self.top, self.scale
        rings = [[f"{left + x * scale:.1f} {top + y * scale:.1f}" for x, y in ring] for ring in rings_of(outline)]
        path = "".join(f"M{' '.join(ring)}Z" for ring in rings)
        size = f'width="{self.shapes.width * scale:.1f}" height="{self.shapes.height * scale:.1f}"'
        inside = f'<clipPath id="{name}"><rect x="{left:.1f}" y="{top:.1f}" {size}/></clipPath>'
        lines = "".join(f'<path d="{path}"{dressed(kind)}/>' for kind in ("map-drawn-under", "map-drawn"))
        return f'<defs>{inside}</defs><g clip-path="url(#{name})" pointer-events="none">{lines}</g>'

    def placed(self, *parts: str) -> str:
        """Outlines moved and scaled to where they belong; the lines of many are thinner, or they would hide them."""
        thin = 0.8 if len(parts) < 300 else 0.35
        where = f"translate({self.left:.2f} {self.top:.2f}) scale({self.scale:.5f})"
        return f'<g class="pic-grid" transform="{where}" stroke-width="{thin / self.scale:.3f}">{"".join(parts)}</g>'


def rings_of(outline: str) -> list[list[tuple[int, int]]]:
    """The corners of each ring of an outline.

    >>> rings_of("M0 0 10 0 10 10Z")
    [[(0, 0), (10, 0), (10, 10)]]
    """
    listed = [[int(one) for one in ring.split(" ")] for ring in outline[1:-1].split("ZM")]
    return [list(zip(numbers[::2], numbers[1::2], strict=True)) for numbers in listed]


def _crossings(outline: str, y: int) -> list[float]:
    """Where the rings of an outline cross a height.

    >>> _crossings("M0 0 10 0 10 10 0 10Z", 5)
    [10.0, 0.0]
    """
    found = []
    for ring in rings_of(outline):
        for (x1, y1), (x2, y2) in zip(ring, [*ring[1:], ring[0]], strict=True):
            if (y1 <= y) != (y2 <= y):
                found.append(x1 + (y - y1) * (x2 - x1) / (y2 - y1))
    return found

"""Drawing: the few shapes and scales that the charts of a report are made of; every text is escaped here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

WIDTH = 720
LABELS = 280
"""Where the axis of a chart with a label a row begins."""
ROW = 26


@dataclass(frozen=True)
class Scale:
    """From numbers to places on the drawing, in proportion or by powers of ten."""

    low: float
    high: float
    start: float
    end: float
    powers: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.powers:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return self.start + (self.end - self.start) * (at - low) / ((high - low) or 1)

    def ticks(self) -> list[float]:
        """Round numbers along the scale: powers of ten, or four to six equal steps.

        >>> Scale(0, 1, 0, 100).ticks()
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        >>> Scale(0.01, 1, 0, 100, powers=True).ticks()
        [0.01, 0.1, 1]
        """
        if self.powers:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**power if power < 0 else 10**power for power in range(first, last + 1)]
        rough = (self.high - self.low) / 5 or 1
        unit = 10 ** math.floor(math.log10(rough))
        step = next(unit * size for size in (1, 2, 5, 10) if unit * size >= rough * 0.99)
        first = math.ceil(self.low / step - 1e-9)
        count = math.floor(self.high / step + 1e-9) - first + 1
        return [round((first + place) * step, 10) for place in range(count)]


def powers_around(values: Sequence[float], least: float = 1e-4, most: float = 1e4) -> tuple[float, float]:
    """The powers of ten that hold all positive values, within reason."""
    some = [min(max(value, least), most) for value in values if value > 0] or [0.1, 1.0]
    low, high = math.floor(math.log10(min(some))), math.ceil(math.log10(max(some)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def drawing(height: float, title: str, *parts: str) -> Markup:
    """A drawing that a reader who cannot see it hears as its title."""
    inside = "".join(parts)
    return Markup(  # noqa: S704 - texts are escaped by `text` and here
        f'<svg viewBox="0 0 {WIDTH} {_short(height)}" role="img" aria-label="{escape(title)}">{inside}</svg>'
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{_short(x)}" y="{_short(y)}" text-anchor="{anchor}"{named}>{escape(words)}</text>'


def label(y: float, words: str) -> str:
    """The name of a row, cut where it would run into the axis; the whole of it is a tip."""
    shown = words if len(words) <= 40 else f"{words[:39]}…"
    inside = f"{escape(shown)}<title>{escape(words)}</title>"
    return f'<text x="{LABELS - 12}" y="{_short(y)}" text-anchor="end">{inside}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{_short(x1)}" y1="{_short(y1)}" x2="{_short(x2)}" y2="{_short(y2)}" class="{kind}"/>'


def bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    rounded = _short(min(height / 2, 3))
    size = f'width="{_short(max(width, 0))}" height="{_short(height)}"'
    return f'<rect x="{_short(x)}" y="{_short(y)}" {size} rx="{rounded}" class="{kind}"/>'


def smear(x1: float, x2: float, y: float, height: float = 12) -> str:
    """The signature: the wider it is, the less the number says."""
    middle, reach = (x1 + x2) / 2, max((x2 - x1) / 2, 2)
    size = f'rx="{_short(reach)}" ry="{_short(height / 2)}"'
    return f'<ellipse cx="{_short(middle)}" cy="{_short(y)}" {size} class="smear"/>'


def dot(x: float, y: float, kind: str, radius: float = 5) -> str:
    return f'<circle cx="{_short(x)}" cy="{_short(y)}" r="{_short(radius)}" class="{kind}"/>'


def path(points: Sequence[tuple[float, float]], kind: str) -> str:
    places = " ".join(f"{_short(x)},{_short(y)}" for x, y in points)
    return f'<polyline points="{places}" class="{kind}"/>'


def across(scale: Scale, top: float, bottom: float, words: str, *, percent: bool = True) -> str:
    """A horizontal axis under some rows: hairlines, numbers, and what they are."""
    parts = []
    for tick in scale.ticks():
        x = scale(tick)
        parts.append(line(x, top, x, bottom, "hair"))
        parts.append(text(x, bottom + 16, tick_words(tick, percent=percent), "axis", "middle"))
    parts.append(text((scale.start + scale.end) / 2, bottom + 34, words, "axis", "middle"))
    return "".join(parts)


def tick_words(tick: float, *, percent: bool = True) -> str:
    """A number on an axis.

    >>> tick_words(0.001), tick_words(10), tick_words(0.5, percent=False)
    ('0.1%', '1,000%', '0.5')
    """
    number = tick * 100 if percent else tick
    return (f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.6g}") + ("%" if percent else "")


def _short(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")

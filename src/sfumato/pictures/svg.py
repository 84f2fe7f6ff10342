"""Drawing: the few shapes and scales that every picture is made of; every text is escaped here."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape as escaped
from unicodedata import east_asian_width

from markupsafe import Markup

from sfumato.errors import QueryError
from sfumato.foreign_text import marked
from sfumato.pictures.look import CARD, INK, dressed

WIDTH = 720
LABELS = 280
"""Where the axis of a chart with a label a row begins."""
ROW = 26
FEWEST_TICKS = 4
Point = tuple[float, float]
_UNSPEAKABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

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

    def ticks(self, steps: int = 5) -> list[float]:
        """Round numbers along the scale: powers of ten, or about as many equal steps as asked for, never under four.

        >>> Scale(0, 1, 0, 100).ticks()
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        >>> Scale(0, 26_000, 0, 100).ticks()
        [0, 5000, 10000, 15000, 20000, 25000]
        >>> Scale(0.01, 1, 0, 100, powers=True).ticks()
        [0.01, 0.1, 1]
        """
        if self.powers:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**power if power < 0 else 10**power for power in range(first, last + 1)]
        step = round_step((self.high - self.low) / steps)
        while len(found := self._every(step)) < FEWEST_TICKS:
            step = round_step(step * 0.4)  # the next of 1, 2, 5 times a power of ten below
        return found

    def _every(self, step: float) -> list[float]:
        first = math.ceil(self.low / step - 1e-9)
        count = math.floor(self.high / step + 1e-9) - first + 1
        return [round((first + place) * step, 10) for place in range(count)]


def round_step(rough: float) -> float:
    """The first of 1, 2, 5 times a power of ten that is not below a rough step.

    >>> round_step(37), round_step(0.2), round_step(0)
    (50, 0.2, 1)
    """
    if not rough:
        return 1
    unit: float = 10 ** math.floor(math.log10(rough))
    return next(unit * size for size in (1, 2, 5, 10) if unit * size >= rough * 0.99)


def powers_around(values: Sequence[float], least: float = 1e-4, most: float = 1e4) -> tuple[float, float]:
    """The powers of ten that hold all positive values, within reason."""
    some = [min(max(value, least), most) for value in values if value > 0] or [0.1, 1.0]
    low, high = math.floor(math.log10(min(some))), math.ceil(math.log10(max(some)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def drawing(
    height: float, title: str, *parts: str, told: str = "", width: float = WIDTH, links: bool = False
) -> Markup:
    """A drawing that a reader who cannot see it hears as its title and what it tells.

    An image has no links inside for a screen reader, so a drawing with links is a group.
    """
    size = f'viewBox="0 0 {short(width)} {short(height)}" width="{short(width)}" height="{short(height)}"'
    role = f'role="{"group" if links else "img"}" aria-label="{escape(title)}"'
    font = f'font-family="system-ui, sans-serif" font-size="12" fill="{INK}"'
    desc = f"<desc>{escape(told)}</desc>" if told else ""
    inside = "".join(parts)
    return Markup(f'<svg class="pic" {size} {role} {font}>{desc}{inside}</svg>')  # noqa: S704 - texts are escaped


def escape(words: str) -> str:
    r"""Words that are safe in an element or an attribute; what XML forbids becomes a mark of something lost.

    >>> escape('<b title="x">\x00')
    '&lt;b title=&quot;x&quot;&gt;�'
    """
    return escaped(_UNSPEAKABLE.sub("�", words))


def paper(width: float, height: float) -> str:
    """The ground a picture stands on where no page gives it one."""
    return f'<rect class="pic-card" width="{short(width)}" height="{short(height)}" fill="{CARD}"/>'


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start", tip: str = "") -> str:
    inside = marked(words, "tspan", escape) + (f"<title>{escape(tip)}</title>" if tip else "")
    return f'<text x="{short(x)}" y="{short(y)}" text-anchor="{anchor}"{dressed(kind)}>{inside}</text>'


def label(y: float, words: str) -> str:
    """The name of a row, cut where it would run into the axis; the whole of it is a tip."""
    shown = words if len(words) <= 40 else words[:39] + "…"
    return text(LABELS - 12, y, shown, anchor="end", tip=words)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{short(x1)}" y1="{short(y1)}" x2="{short(x2)}" y2="{short(y2)}"{dressed(kind)}/>'


def bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    rounded = short(min(height / 2, max(width, 0) / 4, 3))
    size = f'width="{short(max(width, 0))}" height="{short(height)}"'
    return f'<rect x="{short(x)}" y="{short(y)}" {size} rx="{rounded}"{dressed(kind)}/>'


def smear(x1: float, x2: float, y: float, height: float = 12, kind: str = "smear") -> str:
    """The signature: the wider it is, the less the number says."""
    middle, reach = (x1 + x2) / 2, max((x2 - x1) / 2, 2)
    size = f'rx="{short(reach)}" ry="{short(height / 2)}"'
    return f'<ellipse cx="{short(middle)}" cy="{short(y)}" {size}{dressed(kind)}/>'


def dot(x: float, y: float, kind: str, radius: float = 5) -> str:
    return f'<circle cx="{short(x)}" cy="{short(y)}" r="{short(radius)}"{dressed(kind)}/>'


def glyph(series: int, x: float, y: float, kind: str, radius: float = 4.5) -> str:
    """The shape of a series about a place."""
    corners = _SHAPES[series]
    if not corners:
        return dot(x, y, kind, radius)
    size = radius * 0.95
    places = " ".join(f"{short(x + across * size)},{short(y + down * size)}" for across, down in corners)
    return f'<polygon points="{places}"{dressed(kind)}/>'


def path(points: Sequence[Point], kind: str) -> str:
    return f'<polyline points="{_places(points)}"{dressed(kind)}/>'


def area(points: Sequence[Point], kind: str) -> str:
    return f'<polygon points="{_places(points)}"{dressed(kind)}/>'


def hit(x: float, y: float, width: float, height: float) -> str:
    """A place that takes the pointer though nothing is seen there."""
    size = f'width="{short(max(width, 0))}" height="{short(height)}"'
    return f'<rect x="{short(x)}" y="{short(y)}" {size} fill="none" pointer-events="all"/>'


def group(*parts: str, tip: str = "", href: str = "", name: str = "", heard: bool = True) -> str:
    """Shapes that belong together, what they say when pointed at, and where they lead.

    What they say may begin with the name of what is shown, which a readout tells apart. It is not `heard` where another
    mark says it already.
    """
    title = f"<title>{escape(tip)}</title>" if tip else ""
    inside = title + "".join(parts)
    if href and (href[0] not in "/?#." or href[:2] in {"//", "/\\"}):
        raise QueryError(
            f"'{tip}' leads to '{href}'; a mark leads to a place on the same site, from '/', '.', '?' or '#'."
        )
    named = f' data-name="{escape(name)}"' if name else ""
    if href:
        return f'<a class="pic-mark" href="{escape(href)}" aria-label="{escape(tip)}"{named}>{inside}</a>'
    silent = "" if heard else ' aria-hidden="true"'
    return f'<g class="pic-mark"{named}{silent}>{inside}</g>'


def tick_words(tick: float, *, percent: bool = True) -> str:
    """A number on an axis, with a true minus sign.

    >>> tick_words(0.001), tick_words(10), tick_words(0.5, percent=False), tick_words(-2000, percent=False)
    ('0.1%', '1,000%', '0.5', '−2,000')
    """
    number = tick * 100 if percent else tick
    shown = f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.6g}"
    return shown.replace("-", "−") + ("%" if percent else "")


def plain_tick(tick: float) -> str:
    """A number on an axis that is no percentage."""
    return tick_words(tick, percent=False)


def across(
    scale: Scale,
    top: float,
    bottom: float,
    words: str,
    *,
    number: Callable[[float], str] = tick_words,
    steps: int = 5,
    edge: float = WIDTH,
) -> str:
    """A horizontal axis under some rows: hairlines, numbers that stay within an edge, and what they are."""
    parts = []
    for tick in scale.ticks(steps):
        x = scale(tick)
        parts.append(line(x, top, x, bottom, "hair"))
        written = number(tick)
        inside = min(x, edge - breadth(written, 11) / 2 - 2)
        parts.append(text(inside, bottom + 16, written, "axis", "middle"))
    parts.append(text((scale.start + scale.end) / 2, bottom + 34, words, "axis", "middle"))
    return "".join(parts)


def breadth(words: str, size: float = 12) -> float:
    """About how wide some words are, on the wide side, as no font is known for certain."""
    return size * sum(_em(letter) for letter in words)


def _em(letter: str) -> float:
    if east_asian_width(letter) in {"W", "F"}:
        return 1.0
    if letter in "iljtfI.,;:'|!()[] ":
        return 0.36
    return 0.9 if letter in "mwMW@%" else 0.7 if letter.isupper() else 0.6


def short(value: float) -> str:
    """A length to a tenth of a unit, finer than anyone sees."""
    shown = f"{value:.1f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def _places(points: Sequence[Point]) -> str:
    return " ".join(f"{short(x)},{short(y)}" for x, y in points)

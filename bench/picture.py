"""Picture: cost against size on logarithmic axes, one panel for rows and one for cells, from the points of a record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.record import Record

from sfumato.pictures import Caption, Picture
from sfumato.pictures.canvas import EDGE, Canvas
from sfumato.pictures.svg import Scale, glyph, group, line, path, powers_around, text, tick_words

WIDTH, HEIGHT, NAMES, GAP = 880, 320, 140, 58
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
DARK = """@media (prefers-color-scheme: dark) {
.pic { fill: #efe7db; } .pic-card { fill: #1f1a15; } .pic-axis { fill: #a99c8b; }
.pic-hair { stroke: #3a3128; } .pic-blind { stroke: #a99c8b; }
.pic-k1 { stroke: #6fc3b1; } .pic-f1 { fill: #6fc3b1; } .pic-k2 { stroke: #c9a2dc; } .pic-f2 { fill: #c9a2dc; }
.pic-k3 { stroke: #ef8fa1; } .pic-f3 { fill: #ef8fa1; } .pic-k5 { stroke: #e0a072; } .pic-f5 { fill: #e0a072; }
}"""
"""The page's dark colours, as a file that stands in a document alone has no page to follow."""
COLOURS = (1, 2, 3, 5)

Curves = Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class Panel:
    """What grows, and the curves of what it costs."""

    of: str
    curves: Curves


def write(record: Record, place: Path) -> bool:
    """Draw what the record knows of growth; whether there was anything to draw."""
    panels = panels_of(record)
    if panels:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(with_dark(drawn(panels, record).to_svg()), encoding="utf-8")
    return bool(panels)


def panels_of(record: Record) -> list[Panel]:
    """The lines with points, by what grows: `cost against size: write against cells`."""
    found: dict[str, dict[str, Sequence[tuple[float, float]]]] = {}
    for one in (one for taken in record.taken.values() for one in taken.lines if one.points):
        name, _, of = one.what.partition(": ")[2].rpartition(" against ")
        found.setdefault(of, {})[name] = one.points
    return [Panel(of, curves) for of, curves in found.items()]


def drawn(panels: Sequence[Panel], record: Record) -> Picture:
    caption = Caption("CPU seconds against size", source=f"{record.machine['processor']}; make bench ONLY=size")
    frame = Canvas(caption, WIDTH)
    top = frame.top + 34
    points = [point for panel in panels for curve in panel.curves.values() for point in curve]
    up = Scale(*powers_around([cost for _, cost in points]), top + HEIGHT, top, powers=True)
    each = (WIDTH - 2 * EDGE - GAP * len(panels)) / len(panels)
    sizes = min(size for size, _ in points), max(size for size, _ in points)
    parts, told = [], []
    for place, panel in enumerate(panels):
        left = EDGE + GAP + place * (each + GAP)
        parts.append(_panel(panel, Scale(*sizes, left, left + each - NAMES, powers=True), up))
        told += [_sentence(panel.of, name, curve) for name, curve in panel.curves.items()]
    return Picture(caption.title, frame.closed(up.start + 50, parts, told), tuple(told))


def _sentence(of: str, name: str, curve: Sequence[tuple[float, float]]) -> str:
    costs = ", ".join(f"{cost:.2g} s at {size:,.0f}" for size, cost in curve)
    return f"{name} against {of}: {costs}."


def _panel(panel: Panel, along: Scale, up: Scale) -> str:
    """One grid with its curves, their names at their ends, and a dashed line that grows as the size does."""
    parts = [text(along.start, up.end - 14, f"by {panel.of}", "value")]
    for tick in up.ticks():
        parts.append(line(along.start, up(tick), along.end, up(tick), "hair"))
        parts.append(text(along.start - 8, up(tick) + 4, f"{tick_words(tick, percent=False)} s", "axis", "end"))
    for tick in along.ticks():
        parts.append(line(along(tick), up.start, along(tick), up.end, "hair"))
        parts.append(
            text(along(tick), up.start + 18, f"10{str(len(str(tick)) - 1).translate(RAISED)}", "axis", "middle")
        )
    parts.append(text((along.start + along.end) / 2, up.start + 38, panel.of, "axis", "middle"))
    parts.append(_linear(along, up))
    for colour, (name, curve) in zip(COLOURS, panel.curves.items(), strict=False):
        places = [(along(size), up(cost)) for size, cost in curve]
        marks = [glyph(colour, x, y, f"f{colour}", 3.5) for x, y in places]
        parts.append(group(path(places, f"curve k{colour}"), *marks, tip=_sentence(panel.of, name, curve)))
    return "".join([*parts, _names(panel, along, up)])


def _linear(along: Scale, up: Scale) -> str:
    """From one corner of the grid, ten times the cost for ten times the size, as far as it goes."""
    reach = min(along.high / along.low, up.high / up.low)
    start, end = (along.high / reach, up.high / reach), (along.high, up.high)
    ends = [(along(size), up(cost)) for size, cost in (start, end)]
    return path(ends, "blind") + text(ends[1][0] + 10, ends[1][1] + 4, "linear", "axis")


def _names(panel: Panel, along: Scale, up: Scale) -> str:
    """Each name at the end of its curve, moved apart where two would stand on each other."""
    ends = sorted((up(curve[-1][1]), name) for name, curve in panel.curves.items())
    colours = dict(zip(panel.curves, COLOURS, strict=False))
    at, parts = up.end + 8, []
    for y, name in ends:
        at = max(at + 15, y + 4)
        parts.append(text(along.end + 10, at, name, f"f{colours[name]}"))
    return "".join(parts)


def with_dark(svg: str) -> str:
    """The drawing with the colours it takes on a dark page."""
    head, mark, rest = svg.partition(">")
    return f"{head}{mark}<style>{DARK}</style>{rest}"

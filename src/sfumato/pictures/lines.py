"""Lines: series over periods, each with the band of its intervals, its name and its last number at its end."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from sfumato.pictures.canvas import EDGE, Canvas, Key, error_keys, keys_along
from sfumato.pictures.line_ends import Placed, ends_drawn, room_of
from sfumato.pictures.mark import Caption, Mark, rows_of, series_of, spoken
from sfumato.pictures.picture import Picture
from sfumato.pictures.rows import NARROW, domain
from sfumato.pictures.svg import WIDTH, Point, Scale, area, bar, breadth, glyph, group, hit, line, path, text
from sfumato.pictures.vega import vega_lite

HEIGHT, LOW = 340, 260
"""How high the lines are drawn, and on a narrow sheet."""


def lines(marks: Sequence[Mark], caption: Caption, width: float = WIDTH, behind: Sequence[Mark] = ()) -> Picture:
    """A line a series over periods in the order they came in; a period that a series lacks breaks its line.

    The series `behind` are drawn faint, without their errors, which each says when it is pointed at.
    """
    series, periods = series_of(marks), [row.label for row in rows_of(marks)]
    frame = Canvas(caption, width)
    top = frame.top + 22
    bottom = top + (LOW if width < NARROW else HEIGHT)
    up = Scale(*domain([*marks, *behind], zero=False, near=0.3), bottom, top)
    left = EDGE + 8 + max(breadth(number, 11) for number in caption.along(up.ticks()))
    names = room_of(marks, series, width)
    across = Scale(0, max(len(periods) - 1, 1), left + 16, width - EDGE - names)

    def placed(some: Sequence[Mark], name: str) -> list[Placed]:
        own = [(periods.index(mark.label), mark) for mark in some if mark.series == name and mark.label in periods]
        return [Placed(mark, place, across(place), up(mark.value)) for place, mark in own]

    runs = {name: placed(marks, name) for name in series}
    others = [placed(behind, name) for name in dict.fromkeys(mark.series for mark in behind)]
    several = len(series) > 1
    parts = [_grid(up, across, periods, caption), *(_faint(run, caption) for run in others if run)]
    parts += [_band(run, place if several else None, up) for place, run in enumerate(runs.values())]
    parts += [_line(run, place if several else None, caption) for place, run in enumerate(runs.values())]
    parts.append(ends_drawn(runs, names, top, bottom))
    keys, foot = keys_along(_keys(marks, caption, series, behind), EDGE, bottom + 42, width - 2 * EDGE)
    told = tuple(spoken(mark, caption.words) for mark in marks)
    svg = frame.closed(foot, [*parts, keys], told, links=any(mark.href for mark in marks))
    return Picture(caption.title, svg, told, vega_lite(marks, caption, "line"), caption.words.in_words)


def _keys(marks: Sequence[Mark], caption: Caption, series: Sequence[str], behind: Sequence[Mark]) -> list[Key]:
    """The keys to the errors, which are bands; those of several series are not split into noise and sampling."""
    words, split = caption.words, len(series) == 1
    shares = {mark.noise_share for mark in marks if mark.stated}
    kind = "unsplit" if None in shares or not split else "noisy" if shares == {1} else "sampled"
    bands = [(bar(-9, -6, 18, 12, kind), words.interval)] if any(mark.stated for mark in marks) else []
    told = marks if split else [replace(mark, noise_share=None) for mark in marks]
    keys = bands + error_keys(told, words)[len(bands) :]
    if any(mark.moved == "none" for mark in marks):
        keys.append((line(-9, 0, 9, 0, "curve rim unmoved"), words.unmoved))
    return [*keys, (line(-9, 0, 9, 0, "faint"), words.faint)] if behind else keys


def _grid(up: Scale, across: Scale, periods: Sequence[str], caption: Caption) -> str:
    """Hairlines with their numbers, the line of zero, and as many periods as there is room for, the last of all."""
    ticks = up.ticks()
    parts = [text(EDGE, up.end - 14, caption.axis, "axis")]
    for tick, number in zip(ticks, caption.along(ticks), strict=True):
        parts.append(line(across.start - 8, up(tick), across.end, up(tick), "hair" if tick else "zero"))
        parts.append(text(across.start - 14, up(tick) + 4, number, "axis", "end"))
    room = (across.end - across.start) / max(len(periods) - 1, 1)
    every = max(1, -int(-(max(breadth(period, 11) for period in periods) + 10) // room))
    named = range(len(periods) - 1, -1, -every)
    parts += [text(across(place), up.start + 20, periods[place], "axis", "middle") for place in named]
    return "".join(parts)


def _faint(run: Sequence[Placed], caption: Caption) -> str:
    """A series that was not chosen; pointed at, it says its last number with its error."""
    ordered = sorted(run, key=lambda one: one.place)
    drawn = [path([(one.x, one.y) for one in some], "faint") for some in _runs(ordered) if len(some) > 1]
    last = ordered[-1].mark
    return group(*drawn, tip=spoken(last, caption.words), href=last.href, name=last.name)


def _runs(run: Sequence[Placed], *, stated: bool = False) -> list[list[Placed]]:
    """The stretches without a missing period, or without a withheld error."""
    kept = [one for one in sorted(run, key=lambda one: one.place) if one.mark.stated or not stated]
    numbered = groupby(enumerate(kept), key=lambda pair: pair[1].place - pair[0])
    return [[one for _, one in some] for _, some in numbered]


def _band(run: Sequence[Placed], series: int | None, up: Scale) -> str:
    """The intervals as a band; of a single series also the noise's share of it."""
    parts = []
    for some in _runs(run, stated=True):
        if len(some) == 1:
            low, high = some[0].mark.ends
            parts.append(line(some[0].x, up(low), some[0].x, up(high), "whisker"))
            continue
        if series is not None:
            parts.append(_between(some, [1.0] * len(some), up, f"t{series}"))
            continue
        shares = [one.mark.noise_share for one in some]
        known = [share for share in shares if share is not None]
        split = len(known) == len(shares)
        if not split or min(known) < 1:
            parts.append(_between(some, [1.0] * len(some), up, "sampled" if split else "unsplit"))
        if split and max(known) > 0:
            parts.append(_between(some, known, up, "noisy"))
    return "".join(parts)


def _between(some: Sequence[Placed], shares: Sequence[float], up: Scale, kind: str) -> str:
    """The area between the lower and upper ends, each drawn in towards the value by a share."""

    def edge(end: int) -> list[Point]:
        values = [
            one.mark.value + (one.mark.ends[end] - one.mark.value) * share
            for one, share in zip(some, shares, strict=True)
        ]
        return [(one.x, up(value)) for one, value in zip(some, values, strict=True)]

    return area([*edge(1), *reversed(edge(0))], kind)


def _line(run: Sequence[Placed], series: int | None, caption: Caption) -> str:
    """The line through a series and a mark at each period."""
    place = series or 0
    full, edge = ("ink", "rim") if series is None else (f"f{place}", f"k{place}")
    parts = [_curve(some, edge) for some in _runs(run) if len(some) > 1]
    for one in run:
        broken = "" if one.mark.stated else " broken"
        kind = f"hollow {edge}{broken}" if one.mark.doubtful or not one.mark.stated else full
        target = hit(one.x - 12, one.y - 12, 24, 24) if one.mark.href else ""
        drawn = [target, glyph(place, one.x, one.y, kind, 4)]
        parts.append(group(*drawn, tip=spoken(one.mark, caption.words), href=one.mark.href, name=one.mark.name))
    return "".join(parts)


def _curve(some: Sequence[Placed], edge: str) -> str:
    """The line itself, dashed along changes that are no sign of one."""
    parts, start = [], 0
    for place in range(2, len(some) + 1):
        if place == len(some) or (some[place].mark.moved == "none") != (some[place - 1].mark.moved == "none"):
            unmoved = " unmoved" if some[place - 1].mark.moved == "none" else ""
            parts.append(path([(one.x, one.y) for one in some[start:place]], f"curve {edge}{unmoved}"))
            start = place - 1
    return "".join(parts)

"""Lines: series over periods, each a line with the band of its intervals and its name at its end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sfumato.pictures.canvas import EDGE, Canvas, Key, error_keys, fitted, keys_along, stacked
from sfumato.pictures.mark import Caption, Mark, rows_of, series_of, spoken
from sfumato.pictures.picture import Picture
from sfumato.pictures.rows import domain
from sfumato.pictures.svg import WIDTH, Point, Scale, area, bar, breadth, glyph, group, line, path, text, tick_words
from sfumato.pictures.vega import vega_lite

HEIGHT = 300


@dataclass(frozen=True)
class Placed:
    """A mark where it stands."""

    mark: Mark
    place: int
    x: float
    y: float


def lines(marks: Sequence[Mark], caption: Caption, width: float = WIDTH) -> Picture:
    """A line a series over periods in the order they came in; a period that a series lacks breaks its line."""
    series, periods = series_of(marks), [row.label for row in rows_of(marks)]
    frame = Canvas(caption, width)
    top = frame.top + 10
    bottom = top + 12 + HEIGHT
    up = Scale(*domain(marks, zero=False, near=0.3), bottom, top + 12)
    left = EDGE + 8 + max(breadth(tick_words(tick, percent=caption.percent), 11) for tick in up.ticks())
    names = min(max(breadth(name) for name in series) + 14, width * 0.26) if len(series) > 1 else 24
    across = Scale(0, max(len(periods) - 1, 1), left + 16, width - EDGE - names)
    placed = {name: [_at(mark, periods, across, up) for mark in marks if mark.series == name] for name in series}
    parts = [_grid(up, across, periods, caption)]
    parts += [_band(run, place if len(series) > 1 else None, up) for place, run in enumerate(placed.values())]
    parts += [_line(run, place if len(series) > 1 else None, caption) for place, run in enumerate(placed.values())]
    parts.append(_ends(placed, names, top, bottom) if len(series) > 1 else "")
    keys, foot = keys_along(_keys(marks, caption, series), EDGE, bottom + 46, width - 2 * EDGE)
    told = tuple(spoken(mark, caption.words) for mark in marks)
    svg = frame.closed(foot, [*parts, keys], told, links=any(mark.href for mark in marks))
    return Picture(caption.title, svg, told, vega_lite(marks, caption, "line"), caption.words.in_words)


def _keys(marks: Sequence[Mark], caption: Caption, series: Sequence[str]) -> list[Key]:
    """The keys to the errors; the bands of several series are not split into noise and sampling."""
    if len(series) == 1:
        return error_keys(marks, caption.words)
    bands = [(bar(-9, -6, 18, 12, "unsplit"), caption.words.interval)] if any(mark.stated for mark in marks) else []
    return bands + error_keys([replace(mark, noise_share=None) for mark in marks], caption.words)[len(bands) :]


def _at(mark: Mark, periods: Sequence[str], across: Scale, up: Scale) -> Placed:
    place = periods.index(mark.label)
    return Placed(mark, place, across(place), up(mark.value))


def _grid(up: Scale, across: Scale, periods: Sequence[str], caption: Caption) -> str:
    """Hairlines with their numbers, the line of zero, and as many periods as there is room for."""
    parts = [text(EDGE, up.end - 10, caption.axis, "axis")]
    for tick in up.ticks():
        parts.append(line(across.start - 8, up(tick), across.end, up(tick), "hair" if tick else "zero"))
        parts.append(text(across.start - 14, up(tick) + 4, tick_words(tick, percent=caption.percent), "axis", "end"))
    room = (across.end - across.start) / max(len(periods) - 1, 1)
    every = max(1, -int(-(max(breadth(period, 11) for period in periods) + 10) // room))
    named = range(0, len(periods), every)
    parts += [text(across(place), up.start + 20, periods[place], "axis", "middle") for place in named]
    return "".join(parts)


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
    parts = [path([(one.x, one.y) for one in some], f"curve {edge}") for some in _runs(run) if len(some) > 1]
    for one in run:
        broken = "" if one.mark.stated else " broken"
        kind = f"hollow {edge}{broken}" if one.mark.doubtful or not one.mark.stated else full
        parts.append(
            group(glyph(place, one.x, one.y, kind, 4), tip=spoken(one.mark, caption.words), href=one.mark.href)
        )
    return "".join(parts)


def _ends(placed: dict[str, list[Placed]], room: float, top: float, bottom: float) -> str:
    """The name of each series at the end of its line, moved apart where two would stand on each other."""
    last = {name: max(run, key=lambda one: one.place) for name, run in placed.items()}
    edge = max(one.x for one in last.values())
    at, parts = top, []
    for name, one in sorted(last.items(), key=lambda pair: pair[1].y):
        written = fitted(name, room - 14, lines=2)
        at = max(at, min(one.y + 4 - 7 * (len(written) - 1), bottom - 14 * (len(written) - 1)))
        place = list(placed).index(name)
        parts.append(group(stacked(edge + 12, at, written, f"f{place}", step=14), tip=name))
        at += 14 * len(written) + 2
    return "".join(parts)

"""Keys of a map: the ends of its classes in words, the sizes of its dots, and what lies over them."""

from collections.abc import Sequence
from itertools import pairwise

from sfumato.pictures.canvas import EDGE, Key, fitted, keys_along, stacked
from sfumato.pictures.classes import SHADES
from sfumato.pictures.look import dressed
from sfumato.pictures.map_sheet import MapSheet
from sfumato.pictures.svg import bar, dot, glyph, round_step, smear, text

_GROUNDS = {"crosses": "map-none", "specks": "map-ground", "stripes": "map-ground"}
"""What lies under what is no shade."""


def area_keys(sheet: MapSheet, y: float, width: float) -> tuple[str, float]:
    """The classes from low to high, then what lies over them."""
    heading, y = _heading(sheet, y, width)
    shades = SHADES[len(sheet.classes)]
    listed = [
        (bar(-9, -6, 18, 12, f"map-{shade} map-line"), said)
        for shade, said in zip(shades, _ends_said(sheet), strict=True)
        if any(sheet.shade(mark) == shade for mark in sheet.marks)
    ]
    one, y = keys_along(listed, EDGE, y, width)
    two, y = keys_along([*_doubts(sheet), *_rest(sheet)], EDGE, y + 2, width)
    return heading + one + two, y


def _ends_said(sheet: MapSheet) -> list[str]:
    """Each class by its borders; one class alone by why there is no other."""
    words, ends = sheet.style.words, [sheet.caption.number(one) for one in sheet.classes.borders]
    if not ends:
        return [words.alike]
    inner = [words.closed.format(low=low, high=high) for low, high in pairwise(ends)]
    return [words.under.format(high=ends[0]), *inner, words.above.format(low=ends[-1])]


def dot_keys(sheet: MapSheet, y: float, width: float) -> tuple[str, float]:
    """Two or three dots of round numbers in a row, then what their looks mean."""
    heading, y = _heading(sheet, y, width)
    top = round_step(sheet.largest * 0.35)
    parts, at, middle = [heading], float(EDGE), y + sheet.radius(top)
    for value in (top / 10, top / 2, top):
        radius, words = sheet.radius(value), _number(value, sheet)
        parts.append(dot(at + radius, middle, "map-dot", radius))
        parts.append(text(at + 2 * radius + 6, middle + 4, words, "axis"))
        at += 2 * radius + 22 + 7 * len(words)
    y = middle + sheet.radius(top) + 16
    keys: list[Key] = []
    if any(mark.stated and mark.low != mark.high for mark in sheet.marks):
        keys.append((smear(-9, 9, 0, 12) + dot(0, 0, "map-dot", 5), sheet.style.words.halo))
    if any(value < 0 for value in sheet.numbers):
        keys.append((glyph(4, 0, 0, "map-dot", 6), sheet.style.words.below))
    two, y = keys_along([*keys, *_doubts(sheet), *_rest(sheet)], EDGE, y, width)
    return "".join(parts) + two, y


def _heading(sheet: MapSheet, y: float, width: float) -> tuple[str, float]:
    lines = fitted(sheet.caption.axis, width) if sheet.caption.axis else []
    return stacked(EDGE, y, lines, "quiet"), y + 15 * len(lines) + 4


def _doubts(sheet: MapSheet) -> list[Key]:
    """The keys to what lies over a shade or a dot, only those that occur."""
    words = sheet.style.words
    keys: Sequence[tuple[bool, str, str]] = (
        (any(mark.doubtful and mark.stated for mark in sheet.marks), "hatch", words.hatched),
        (_striped(sheet), "stripes", words.between),
        (any(not mark.stated for mark in sheet.marks), "specks", words.specks),
        (bool(sheet.missing), "crosses", words.none),
    )
    return [(_over(sheet.name, over), said) for there, over, said in keys if there]


def _striped(sheet: MapSheet) -> bool:
    shaded = sheet.style.kind == "areas"
    return shaded and any(mark.stated and sheet.shade(mark) is None for mark in sheet.marks)


def _over(name: str, over: str) -> str:
    under = bar(-9, -6, 18, 12, _GROUNDS.get(over, "map-2 map-line"))
    return under + f'<rect x="-9" y="-6" width="18" height="12" rx="3" fill="url(#{name}-{over})"/>'


def _rest(sheet: MapSheet) -> list[Key]:
    """The keys to blank areas and to the reader's own numbers."""
    own = sheet.style.overlay
    keys = [(bar(-9, -6, 18, 12, "map-ground"), sheet.style.words.blank)] if sheet.blank else []
    if sheet.style.drawn:
        keys.append((f'<path d="M-9 4-3-4 3 3 9-4"{dressed("map-drawn")}/>', sheet.style.words.drawn))
    if own:
        keys.append(
            (
                glyph(2, 0, 0, "map-own", 5),
                sheet.style.words.own.format(name=own.name) if own.name else sheet.style.words.own_unnamed,
            )
        )
    return keys


def _number(value: float, sheet: MapSheet) -> str:
    """The end of a class as people read it: no more digits than tell classes apart."""
    digits = 3 if sheet.caption.percent or abs(value) < 1 else 1 if abs(value) < 100 else 0
    return sheet.caption.number(round(value, digits))

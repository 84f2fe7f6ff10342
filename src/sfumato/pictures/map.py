"""Map: areas shaded as far as their errors tell them apart, or marked with dots; what is unsure is never plain."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from sfumato.errors import QueryError
from sfumato.pictures.canvas import EDGE, Canvas, fitted
from sfumato.pictures.ground import Ground, Outlined
from sfumato.pictures.look import dressed
from sfumato.pictures.map_keys import area_keys, dot_keys
from sfumato.pictures.map_sheet import MapSheet, MapStyle
from sfumato.pictures.map_vega import map_vega
from sfumato.pictures.mark import Caption, Mark, shown
from sfumato.pictures.picture import Picture
from sfumato.pictures.svg import WIDTH, breadth, dot, glyph, group, short, text, tick_words

MOST_AREAS = 5_000
DARK = (5,)
"""The shades on which words are light."""
MOST_NAMES = 80
"""With more areas than this, names would cover the map."""
LONGEST_CODE, LEAST_LETTERS = 3, 4
"""From how many letters on a code may be a word, and how many letters of a label name its area at least."""
ROOM_OF_DOT = 66
"""How wide the name below a dot is where its area is smaller."""
MOST_HEARD = 200
"""With more areas than this, nobody would listen to all of them: each still says its own, and the table has them."""


def map_of(
    shapes: Outlined, marks: Sequence[Mark], caption: Caption, style: MapStyle | None = None, width: float = WIDTH
) -> Picture:
    """The map of some marks, found by their code; those without a shape are named below it."""
    style = style or MapStyle()
    placed = _placed(shapes, marks, style)
    frame = Canvas(_sourced(caption, shapes, marks, style), width)
    name = f"pic-{sha256(repr((caption.title, shapes.source, width, style.kind)).encode()).hexdigest()[:8]}"
    # The keys stand over the map, where a reader begins, and are as high as the dots in them.
    unplaced = Ground.within(shapes, EDGE, 0, width - 2 * EDGE, 0.8 * width)
    keys_of = dot_keys if style.kind == "dots" else area_keys
    keys, below = keys_of(MapSheet(unplaced, placed, caption, style, name), frame.top + 12, width - 2 * EDGE)
    ground = replace(unplaced, top=below)
    sheet = MapSheet(ground, placed, caption, style, name)
    drawn = _dots(sheet) if style.kind == "dots" else _areas(sheet)
    foot = ground.bottom + 8
    elsewhere = (f"{one}." for one in _elsewhere(shapes, marks, style))
    told = (*(sheet.said(mark) for mark in placed), *sheet.missing.values(), *elsewhere)
    parts = [_patterns(name, 1.0), _patterns(f"{name}-s", ground.scale), *drawn, _drawn(sheet), _own(sheet), keys]
    heard = told if len(told) <= MOST_HEARD else ()
    svg = frame.closed(foot, parts, heard, links=any(mark.href for mark in placed))
    vega = map_vega(sheet, frame.caption.source)
    return Picture(caption.title, svg, told, vega=vega, in_words=caption.words.in_words)


def _patterns(name: str, scale: float) -> str:
    """What lies over a shade: hatching, a dark line beside a light one to show on any; specks; crosses; stripes.

    >>> _patterns("x", 1.0).count("<pattern ")
    4
    """
    hatch = _line("M0 2.5H8", "map-dark") + _line("M0 3.5H8", "map-light")
    crosses = _line("M0 0L7 7M7 0L0 7", "map-cross")
    specks = f'<circle cx="3.5" cy="3.5" r="1.4"{dressed("map-speck")}/>'
    fine = f"scale({f'{1 / scale:.4f}'.rstrip('0').rstrip('.')})"
    over = _pattern(f"{name}-hatch", 8, f"{fine} rotate(-45)", hatch)
    over += _pattern(f"{name}-specks", 7, fine, specks) + _pattern(f"{name}-crosses", 7, fine, crosses)
    over += _pattern(f"{name}-stripes", 9, fine, _line("M0 2.5H9", "map-stripe"))
    return f"<defs>{over}</defs>"


def _pattern(name: str, size: float, turned: str, inside: str) -> str:
    measured = f'width="{short(size)}" height="{short(size)}" patternUnits="userSpaceOnUse"'
    return f'<pattern id="{name}" {measured} patternTransform="{turned}">{inside}</pattern>'


def _line(d: str, kind: str) -> str:
    return f'<path d="{d}" fill="none"{dressed(kind)}/>'


def _placed(shapes: Outlined, marks: Sequence[Mark], style: MapStyle) -> list[Mark]:
    """The marks that can be drawn, one a code; refused where a map could not be read."""
    if style.kind not in {"areas", "dots"}:
        raise QueryError(f"A map of '{style.kind}' was asked for; a map shows 'areas' or 'dots'.")
    if len(marks) > MOST_AREAS:
        raise QueryError(
            f"A map of {len(marks):,} areas was asked for; it holds {MOST_AREAS:,}: choose a higher level."
        )
    placed = [mark for mark in marks if mark.code in shapes.outlines]
    if len({mark.code for mark in placed}) < len(placed):
        raise QueryError("A map shows one number an area, and several were asked for; choose one column.")
    if not placed:
        raise QueryError("None of these rows has a shape; put the areas in the rows.")
    return placed


def _elsewhere(shapes: Outlined, marks: Sequence[Mark], style: MapStyle) -> list[str]:
    lost = [mark for mark in marks if mark.code not in shapes.outlines]
    listed = (f"{mark.label} {shown(mark)} {mark.grade if mark.grade.isalpha() else ''}".rstrip() for mark in lost[:6])
    named = "; ".join(listed) + (" …" if len(lost) > 6 else "")
    return [style.words.elsewhere.format(names=named)] if lost else []


def _sourced(caption: Caption, shapes: Outlined, marks: Sequence[Mark], style: MapStyle) -> Caption:
    drawn = [style.words.shapes.format(source=shapes.source, projection=shapes.projection)] if shapes.source else []
    said = [one.rstrip(".") for one in (*_elsewhere(shapes, marks, style), caption.source, *drawn) if one]
    return replace(caption, source=". ".join(said) + "." if said else "")


def _areas(sheet: MapSheet) -> list[str]:
    """Every area in the shade of its class, under hatching or specks where its number is unsure."""
    shaded = [_linked(sheet, mark, *_shaded(sheet, mark)) for mark in sheet.marks]
    return [sheet.ground.placed(*_blank(sheet), *shaded), _names(sheet)]


def _shaded(sheet: MapSheet, mark: Mark) -> list[str]:
    ground, shade = sheet.ground, sheet.shade(mark)
    over = [
        name
        for name, there in (
            ("specks", not mark.stated),
            ("stripes", mark.stated and shade is None),
            ("hatch", mark.stated and mark.doubtful),
        )
        if there
    ]
    area = ground.outline(mark.code, "map-ground" if shade is None else f"map-{shade} map-line")
    return [area, *(ground.outline(mark.code, "", f"url(#{sheet.name}-s-{name})") for name in over)]


def _blank(sheet: MapSheet) -> list[str]:
    """The areas that nobody asked about, and those whose number is missing, crossed out."""
    ground, crosses = sheet.ground, f"url(#{sheet.name}-s-crosses)"
    return [
        *(group(ground.outline(code, "map-ground"), tip=label) for code, label in sheet.blank.items()),
        *(
            group(ground.outline(code, "map-none"), ground.outline(code, "", crosses), tip=said)
            for code, said in sheet.missing.items()
        ),
    ]


def _linked(sheet: MapSheet, mark: Mark, *parts: str) -> str:
    return group(*parts, tip=sheet.said(mark), href=mark.href, name=mark.name)


def _names(sheet: MapSheet) -> str:
    """The name of each area and its number with its margin, where there is room; never in a pointer's way."""
    if len(sheet.marks) > MOST_NAMES:
        return ""
    parts = []
    for mark in sheet.marks:
        (x, y), room = sheet.ground.at(mark.code), sheet.ground.room(mark.code)
        own = sheet.own_size(mark.code)
        y += own * 1.35 + 8 if own else 0
        number = f"{shown(mark)} {mark.grade if mark.grade.isalpha() else ''}".strip()
        two = not own and breadth(number, 9) < room
        name, on = _named(mark, room), "-on" if sheet.shade(mark) in DARK and not mark.doubtful and not own else ""
        if name:
            parts.append(text(x, y + (-2 if two else 4), name, f"map-name{on}", "middle"))
            parts.append(text(x, y + 10, number, f"map-said{on}", "middle") if two else "")
    return _unheard("".join(parts))


def _unheard(names: str) -> str:
    """Names that are seen alone: the areas say them, and a pointer finds these."""
    return f'<g aria-hidden="true" pointer-events="none">{names}</g>' if names else ""


def _named(mark: Mark, room: float) -> str:
    """What an area is called on the map: its label, where that is too long its code, or as much of the label as fits.

    A code that is a word, as `midwest`, is one of the language of the plan, which the reader may not have; it is left.
    """
    wide, code = room + 6, mark.code
    short = [code] if len(code) <= LONGEST_CODE or code == code.upper() else []
    cut = fitted(mark.label, wide, lines=1, size=10)[0] if wide > 0 else ""
    part = cut if len(cut) > LEAST_LETTERS else ""
    return next((name for name in (mark.label, *short, part) if name and breadth(name, 10) < wide), "")


def _dots(sheet: MapSheet) -> list[str]:
    """Every area blank, and in it a dot in proportion; the smear behind a dot reaches to the end of its interval."""
    ground = sheet.ground
    # Its dot says the number of an area; the area itself says it to a pointer alone.
    areas = [
        group(ground.outline(mark.code, "map-ground"), tip=sheet.said(mark), name=mark.name, heard=False)
        for mark in sheet.marks
    ]
    largest_first = sorted(sheet.marks, key=lambda mark: -abs(mark.value))
    dots = [_linked(sheet, mark, *_dot(sheet, mark)) for mark in largest_first]
    names = "".join(_name_of_dot(sheet, mark) for mark in sheet.marks) if len(sheet.marks) <= MOST_NAMES else ""
    # Names lie over all dots, as a dot would cover that of another.
    return [ground.placed(*_blank(sheet), *areas), *dots, _unheard(names)]


def _name_of_dot(sheet: MapSheet, mark: Mark) -> str:
    """The name of an area below its dot."""
    x, y = sheet.ground.at(mark.code)
    name = _named(mark, max(sheet.ground.room(mark.code), ROOM_OF_DOT))
    return text(x, y + sheet.radius(mark.value) + 11, name, "map-name", "middle") if name else ""


def _dot(sheet: MapSheet, mark: Mark) -> list[str]:
    x, y = sheet.ground.at(mark.code)
    radius = sheet.radius(mark.value)
    far = max((abs(end) for end in mark.ends), default=0.0)
    parts = [dot(x, y, "smear", sheet.radius(far))] if mark.stated and far > abs(mark.value) else []
    kind = "map-hollow" if mark.doubtful or not mark.stated else "map-dot"
    # A number below 0 is a triangle on its head: no circle can be less than nothing.
    parts.append(dot(x, y, kind, radius) if mark.value >= 0 else glyph(4, x, y, kind, radius))
    if mark.value >= 0 and (mark.doubtful or not mark.stated):
        over = "hatch" if mark.doubtful else "specks"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="url(#{sheet.name}-{over})"/>')
    if mark.stated and mark.ends[0] > 0 and mark.value > 0 and not mark.doubtful:
        parts.append(dot(x, y, "map-least", sheet.radius(mark.ends[0])))
    return parts


def _named_above(sheet: MapSheet, x: float, y: float, code: str) -> bool:
    """Whether the words of another area stand just above a place, where a number would lie over them."""
    others = (sheet.ground.at(mark.code) for mark in sheet.marks if mark.code != code)
    return any(abs(x - there) < 60 and 0 <= y - above < 45 for there, above in others)


def _drawn(sheet: MapSheet) -> str:
    return sheet.ground.drawn(sheet.style.drawn, f"{sheet.name}-frame") if sheet.style.drawn else ""


def _own(sheet: MapSheet) -> str:
    """A reader's own numbers as outlined diamonds, dashed below 0, with their numbers where they are few."""
    own = sheet.style.overlay
    if own is None:
        return ""
    parts = []
    for code, value in own.values.items():
        if code not in sheet.ground.shapes.places:
            continue
        x, y = sheet.ground.at(code)
        size = sheet.own_size(code)
        kind = "map-own broken" if value < 0 else "map-own"
        number = sheet.caption.figure(tick_words(value, percent=False))
        said = sheet.style.words.own_one.format(name=own.name or "", code=code, value=number).replace(" ,", ",")
        at = y + 1.35 * size + 12 if _named_above(sheet, x, y, code) else y - 1.35 * size - 4
        named = text(x, at, number, "map-mine", "middle") if len(own.values) <= MOST_NAMES else ""
        parts.append(group(glyph(2, x, y, "map-under", size), glyph(2, x, y, kind, size), named, tip=said))
    return "".join(parts)

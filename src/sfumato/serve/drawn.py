"""Drawn: an area that a reader has drawn on a map, as groups of the levels inside and of those that its border cuts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sfumato.errors import QueryError
from sfumato.geography import Shapes
from sfumato.geography.parting import BOTH, CUT, INSIDE, DrawnArea, parted
from sfumato.geography.reader_area import ReaderArea
from sfumato.query import Group
from sfumato.query.axis import PREFIX
from sfumato.serve.editions import Sheet

PARTS = {"inside": INSIDE, "cut": CUT, "both": BOTH}
"""The parts of a drawing, and what each is called where nobody calls it otherwise."""
Codes = Mapping[str, tuple[str, ...]]


class NothingMetError(QueryError):
    """A drawing meets no area of the map: that of which variable, and the drawing."""

    def __init__(self, said: str, name: str, outline: str) -> None:
        super().__init__(said)
        self.name, self.outline = name, outline


@dataclass(frozen=True)
class DrawnGroup(Group):
    """A part of what a reader has drawn: it is written into addresses as the drawing, whatever its part is called."""

    part: str = "inside"
    outline: str = ""

    @property
    def code(self) -> str:
        return f"{PREFIX}{PARTS[self.part]}"


def drawn_groups(sheet: Sheet, given: Codes, named: Mapping[str, str] | None = None) -> dict[str, tuple[Group, ...]]:
    """The groups of each variable that has a drawing, `drawn[area]=M…Z`; parts that hold no level are left out."""
    found: dict[str, tuple[Group, ...]] = {}
    for name, outlines in given.items():
        area = ReaderArea.of(outlines[-1])
        drawn = _parted(sheet, name, area)
        codes = {"inside": drawn.inside, "cut": drawn.cut}
        codes |= {"both": (*drawn.inside, *drawn.cut)} if all(codes.values()) else {}
        kept = {part: some for part, some in codes.items() if some}
        names = PARTS | dict(named or {})
        found[name] = tuple(DrawnGroup(names[part], some, part, area.outline) for part, some in kept.items())
    return found


def _parted(sheet: Sheet, name: str, area: ReaderArea) -> DrawnArea:
    shapes, label = shapes_of(sheet, name), sheet.attribute(name).label
    if not sheet.product.subject.additive:
        raise QueryError(f"{label}: numbers of this table may not be summed, so that an area of your own has none.")
    drawn = parted(shapes, _finest(sheet, name, shapes), area)
    if not drawn.inside and not drawn.cut:
        said = f"{label}: what was drawn lies beside the areas of the map and meets none; draw it over some of them."
        raise NothingMetError(said, name, area.outline)
    return drawn


def shapes_of(sheet: Sheet, name: str) -> Shapes:
    """The shapes of a variable, on which areas can be drawn."""
    attribute, shapes = sheet.attribute(name), sheet.edition.release.shapes
    if name not in shapes:
        raise QueryError(f"{attribute.label} has no map here, so that no area can be drawn; name codes, or a group.")
    return shapes[name]


def _finest(sheet: Sheet, name: str, shapes: Shapes) -> list[str]:
    """The levels that have a shape while none below them has: a drawing is parted as finely as the map is."""
    levels = sheet.attribute(name).levels
    there = [code for code in levels.codes if code in shapes]
    above = {levels.parent(code) for code in there}
    return [code for code in there if code not in above]


def apart(groups: Iterable[Group]) -> tuple[list[Group], list[str]]:
    """The groups that a reader made by codes, and the drawings that the others are parts of."""
    listed = list(groups)
    drawings = dict.fromkeys(one.outline for one in listed if isinstance(one, DrawnGroup))
    return [one for one in listed if not isinstance(one, DrawnGroup)], list(drawings)

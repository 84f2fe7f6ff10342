"""The map of a report: the share that a level has in every area, or the numbers of the areas below one."""

from collections.abc import Iterator

from sfumato.geography import Shapes
from sfumato.pictures import Picture
from sfumato.query.engine import QueryEngine
from sfumato.query.estimate import Estimate, Figure
from sfumato.query.portable import Portable
from sfumato.release import Product
from sfumato.schema import Attribute

MOST_AREAS = 1_000
"""The most areas of a map in a report."""


def level_map(engine: QueryEngine, product: Product, by: str, code: str) -> Picture | None:
    """The share that the level has in every area, or, where it is an area itself, the number of each area below it.

    It is drawn at the finest level where no more than half of the areas are too rough to be told, or, if there is none,
    at the coarsest that has several.
    """
    shapes, named = engine.release.shapes, {one.name: one for one in product.attributes}
    place = by if by in shapes else next((name for name in named if name in shapes), None)
    drawn: Portable | None = None
    for codes in _levels_drawn(named[place], shapes[place], code if place == by else "") if place else ():
        drawn = _by_area(engine, product, str(place), codes, {} if place == by else {by: code})
        if 2 * sum(_rough(one) for _, one in drawn.items()) <= drawn.size:
            break
    return drawn.map("" if place == by else code) if drawn else None


def _by_area(engine: QueryEngine, product: Product, place: str, codes: list[str], share: dict[str, str]) -> Portable:
    """The numbers of some areas, or the share that a level has in each."""
    of, at = product.subject.name, {place: codes} | {name: [code] for name, code in share.items()}
    table = engine.table(place, next(iter(share), None), None, of, at=at)
    return table.shares("row") if share else table


def _rough(figure: Figure) -> bool:
    """Whether an area has no number, or one that says little."""
    return not isinstance(figure, Estimate) or figure.grade not in {"A", "B"}


def _levels_drawn(attribute: Attribute, shapes: Shapes, under: str) -> Iterator[list[str]]:
    """The codes of each depth that has several shapes, of all or under one code, the deepest first."""
    levels = attribute.levels
    for depth in range(levels.depth, -1, -1):
        at = [one for one in levels.at(depth) if one in shapes and levels.depths[one] == depth]
        found = [one for one in at if not under or under in levels.path(one)[1:]]
        if 1 < len(found) <= MOST_AREAS:
            yield found

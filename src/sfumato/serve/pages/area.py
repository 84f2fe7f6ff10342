"""A reader's own area on the page of a map: its number with its error, and what its border leaves out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sfumato.geography.reader_area import MOST_BYTES, MOST_POINTS
from sfumato.serve.drawn import DrawnGroup
from sfumato.serve.pages.cell import Cell
from sfumato.serve.pages.form import with_groups
from sfumato.serve.pages.layout import ONLY_GROUPS, Layout
from sfumato.serve.pages.map import mapped_column, shapes_of
from sfumato.serve.pages.view import Head, Row, table_view

MOST = {"points": f"{MOST_POINTS:,}", "characters": f"{MOST_BYTES:,}"}
"""What may be brought at the most."""


@dataclass(frozen=True)
class AreaView:
    """What a page says of a drawing: the number that the map shows, and a row for each of its parts."""

    counts: dict[str, int]
    """How many areas of the map each part holds, of those that hold some."""
    columns: tuple[Head, ...]
    rows: tuple[Row, ...]
    lead: Cell
    without: str
    """The address of the page without it."""

    @property
    def inside(self) -> int:
        return self.counts.get("inside", 0)

    @property
    def cut(self) -> int:
        return self.counts.get("cut", 0)


@dataclass(frozen=True)
class AreaField:
    """Where a reader may bring an area: of which variable, and what was brought and why it cannot be read."""

    variable: str
    label: str
    knows_degrees: bool
    takes_files: bool
    view: AreaView | None
    brought: str = ""
    problem: str = ""
    missed: bool = False
    """Whether something was drawn that meets no area of the map."""
    most: Mapping[str, str] = field(default_factory=lambda: MOST)


def area_field(layout: Layout, brought: str = "", problem: str = "") -> AreaField | None:
    """The field of a map whose numbers may be summed; several maps beside each other have none."""
    shapes = shapes_of(layout) if layout.look.view == "map" and not layout.wrap else None
    if shapes is None or not layout.sheet.product.subject.additive:
        return None
    name, frame = layout.rows[0], shapes.frame
    degrees = frame is not None and frame.lattice is not None
    label = layout.sheet.attribute(name).label
    missed = bool(layout.missed) and not problem
    return AreaField(name, label, degrees, frame is not None, _view(layout, name), brought, problem, missed)


def _view(layout: Layout, name: str) -> AreaView | None:
    parts = tuple(one for one in layout.of(name) if isinstance(one, DrawnGroup))
    if not parts:
        return None
    picks = {one: codes for one, codes in layout.picks.items() if one != name}
    alone = replace(layout, picks=picks, lists={**layout.lists, name: ONLY_GROUPS}, look=layout.look.but(sort=""))
    block = table_view(with_groups(alone, name, parts)).blocks[0]
    shown = mapped_column(layout) or "total"
    at = next((place for place, head in enumerate(block.columns) if head.key == shown), 0)
    left = tuple(one for one in layout.of(name) if not isinstance(one, DrawnGroup))
    without = with_groups(replace(layout, look=layout.look.but(cell="", hold="")), name, left)
    counts = {one.part: len(one.codes) for one in parts}
    return AreaView(counts, block.columns, block.rows, block.rows[0].cells[at], without.address())

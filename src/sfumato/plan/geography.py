"""Geography: where the shapes of an attribute's levels are, and how they become the Shapes of a release."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import PlanError, nearest
from sfumato.release import Shapes
from sfumato.schema import Attribute, Levels

if TYPE_CHECKING:
    from sfumato.plan.outlines import Outlines
    from sfumato.plan.plan import Plan


@dataclass(frozen=True)
class Geography:
    """The file that holds the shapes of an attribute's levels, and the property of a shape that holds its code.

    `detail` is how many grid units the drawing is long; borders are kept to about one of them. With `partial`, levels
    may lack a shape. The file is named from the plan's own folder, as the plan is published with the release.
    """

    attribute: str
    file: str
    id: str
    projection: str = ""
    detail: int = 2000
    partial: bool = False
    source: str = ""
    folder: Path = field(default=Path(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 100 <= self.detail <= 10_000:
            raise PlanError(f"{self.section} detail is {self.detail}; it is 100 to 10,000 grid units, 2000 by default.")
        if Path(self.file).is_absolute():
            raise PlanError(
                f"{self.section} file is an absolute path, and the plan is published with the release; put the file "
                "beside the plan and name it from there."
            )

    @property
    def section(self) -> str:
        return f"[geography.{self.attribute}]"

    def shapes(self, attribute: Attribute) -> Shapes:
        """The shapes of the levels, projected, simplified and on the grid; nothing in them depends on microdata."""
        try:
            from sfumato.plan.drawing import drawn
            from sfumato.plan.outlines import read
        except ModuleNotFoundError as error:
            raise PlanError(
                f"{self.section} needs {error.name} to read shapes; pip install 'sfumato[agency]'."
            ) from None
        try:
            outlines = read(self.folder / self.file)
            areas, notes = _matched(self, outlines, attribute)
            drawing = drawn(areas, attribute.levels, self.projection, self.detail, planar=outlines.planar)
        except PlanError as error:
            raise PlanError(f"{self.section} {error}") from None
        return Shapes(
            attribute=attribute.name,
            width=drawing.width,
            height=drawing.height,
            outlines=drawing.outlines,
            places=drawing.places,
            source=self.source or Path(self.file).name,
            projection=drawing.projection,
            notes=(*notes, *drawing.notes),
        )


def shapes_of(plan: "Plan") -> list[Shapes]:
    """The shapes of every attribute that the plan has a geography for, from public files alone."""
    return [one.shapes(plan.schema.attribute(one.attribute)) for one in plan.geographies]


def _matched(geography: Geography, outlines: "Outlines", attribute: Attribute) -> tuple[dict[str, Any], list[str]]:
    """The areas by the level they belong to, and what of the file was left out."""
    found, nameless = _coded(outlines, geography.id)
    areas = {code: found[code] for code in attribute.levels.codes if code in found}
    others = [code for code in found if code not in areas]
    lacking = _lacking(areas, attribute)
    if lacking and (not geography.partial or not areas):
        raise PlanError(
            f"{_listed(lacking)} {'has' if len(lacking) == 1 else 'have'} no shape in {geography.file}"
            f"{_spelling(lacking, others)}; add the shapes, or write partial = true to draw a map without them."
        )
    notes = []
    if nameless:
        notes.append(f"{nameless:,} shapes of {geography.file} have no '{geography.id}' and are not drawn.")
    if others:
        notes.append(
            f"{len(others):,} shapes of {geography.file} are of no level and are not drawn: {_listed(others)}."
        )
    if lacking:
        notes.append(f"{len(lacking):,} levels have no shape and are only in the table: {_listed(lacking)}.")
    return areas, notes


def _coded(outlines: "Outlines", key: str) -> tuple[dict[str, Any], int]:
    """The areas by their code, one code's parts together, and how many have none."""
    from sfumato.plan.outlines import joined

    if not any(key in one.properties for one in outlines.shapes):
        known = dict.fromkeys(name for one in outlines.shapes for name in one.properties)
        raise PlanError(f"id is '{key}', which no shape of {outlines.name} has; {nearest(key, known)}")
    parts: dict[str, list[Any]] = {}
    nameless = 0
    for one in outlines.shapes:
        code = _code(one.properties.get(key))
        if code and one.area is not None:
            parts.setdefault(code, []).append(one.area)
        nameless += not code
    return {code: joined(several) for code, several in parts.items()}, nameless


def _code(value: object) -> str:
    """A code as levels write it: a number that a file stores as 6.0 is the code 6.

    >>> _code(6.0), _code("06 "), _code(None)
    ('6', '06', '')
    """
    if value is None or isinstance(value, (bool, list, dict)):
        return ""
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value).strip()


def _lacking(areas: Mapping[str, Any], attribute: Attribute) -> list[str]:
    """The lowest levels without a shape; no answer is nowhere, so its level needs none."""
    levels: Levels = attribute.levels
    nowhere = {attribute.missing.level} if attribute.missing else set()
    return [code for code in levels.leaves if code not in areas and code not in nowhere]


def _spelling(lacking: list[str], others: list[str]) -> str:
    """What the file's own codes look like, where that may be the trouble."""
    bare = {code.lstrip("0").lower(): code for code in others}
    for code in lacking:
        if alike := bare.get(code.lstrip("0").lower()):
            return f" (it writes '{alike}' where the level is '{code}')"
    return f", whose codes are {_listed(others)}" if others else ""


def _listed(codes: list[str]) -> str:
    shown = ", ".join(codes[:8])
    return shown + (f" and {len(codes) - 8:,} more" if len(codes) > 8 else "")

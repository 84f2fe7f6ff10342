"""Shapes: the outlines of an attribute's levels, drawn once on a small grid, as they are stored in a release."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sfumato.errors import ReleaseError
from sfumato.geography.frame import SIDES, DegreeLattice, MapFrame

FORMAT = "sfumato-shapes/1"
MOST_BYTES = 8_000_000
"""A larger file of shapes would make a page that no phone can draw."""
_OUTLINE = re.compile(r"(?:M[0-9]{1,5} [0-9]{1,5}(?: [0-9]{1,5} [0-9]{1,5}){2,}Z)+")
"""Closed rings of whole numbers and nothing else: an outline goes into a page as it is."""


@dataclass(frozen=True)
class Shapes:
    """For each code the outline of its area as SVG path data, and a place inside it, on a grid of width by height.

    >>> square = Shapes("place", 20, 10, {"north": "M0 0 20 0 20 10 0 10Z"}, {"north": (10, 5)})
    >>> "north" in square, "south" in square
    (True, False)
    """

    attribute: str
    width: int
    height: int
    outlines: Mapping[str, str]
    places: Mapping[str, tuple[int, int]]
    source: str = ""
    projection: str = ""
    notes: tuple[str, ...] = ()
    frame: MapFrame | None = None
    """Where the grid lies on earth; older releases do not say."""

    def __post_init__(self) -> None:
        for code, outline in self.outlines.items():
            if not _OUTLINE.fullmatch(outline):
                raise ReleaseError(
                    f"The shape of '{code}' of '{self.attribute}' is not closed rings of whole numbers, "
                    "so it is not drawn; write the release again."
                )
        if self.outlines.keys() != self.places.keys():
            raise ReleaseError(f"The shapes of '{self.attribute}' do not each have one place inside.")

    def __contains__(self, code: object) -> bool:
        return code in self.outlines

    def rings(self, code: str) -> list[list[tuple[int, int]]]:
        """The corners of each ring of an outline.

        >>> Shapes("place", 20, 10, {"north": "M0 0 20 0 20 10Z"}, {"north": (15, 5)}).rings("north")
        [[(0, 0), (20, 0), (20, 10)]]
        """
        listed = [[int(one) for one in ring.split(" ")] for ring in self.outlines[code][1:-1].split("ZM")]
        return [list(zip(numbers[::2], numbers[1::2], strict=True)) for numbers in listed]

    def to_bytes(self) -> bytes:
        """The one way to write them: the same shapes, the same bytes."""
        plain = {name: getattr(self, name) for name in ("attribute", "width", "height", "source", "projection")}
        shapes = {code: {"outline": self.outlines[code], "place": self.places[code]} for code in self.outlines}
        framed = {"frame": asdict(self.frame)} if self.frame else {}
        content = {"format": FORMAT, **plain, "notes": list(self.notes), **framed, "shapes": shapes}
        return (json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n").encode()

    @classmethod
    def from_bytes(cls, written: bytes) -> "Shapes":
        """The shapes in a file of a release; whatever could not be drawn safely is refused."""
        try:
            read = _ShapesPart.model_validate_json(written)
        except ValidationError as error:
            one = error.errors()[0]
            place = ".".join(str(part) for part in one["loc"])
            raise ReleaseError(f"The shapes cannot be read: {place}: {one['msg']}.") from None
        outlines = {code: shape.outline for code, shape in read.shapes.items()}
        places = {code: shape.place for code, shape in read.shapes.items()}
        plain = read.model_dump(exclude={"format", "shapes", "notes", "frame"})
        frame = read.frame.frame() if read.frame else None
        return cls(**plain, outlines=outlines, places=places, notes=tuple(read.notes), frame=frame)


Across = Annotated[int, Field(ge=0, le=99_999)]
Side = Annotated[int, Field(ge=1, le=99_999)]


class _StrictPart(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _ShapePart(_StrictPart):
    outline: str
    place: tuple[Across, Across]


Coordinate = Annotated[float, Field(strict=False, allow_inf_nan=False)]


class _LatticePart(_StrictPart):
    west: Coordinate
    south: Coordinate
    east: Coordinate
    north: Coordinate
    side: Annotated[int, Field(ge=2, le=SIDES[-1])]
    x: list[Coordinate]
    y: list[Coordinate]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not (self.west < self.east and self.south < self.north and len(self.x) == len(self.y) == self.side**2):
            raise ValueError("a lattice has a place for each of its crossings")
        return self


class _FramePart(_StrictPart):
    left: Coordinate
    top: Coordinate
    unit: Annotated[Coordinate, Field(gt=0)]
    lattice: _LatticePart | None

    def frame(self) -> MapFrame:
        told = self.lattice.model_dump() if self.lattice else None
        lattice = DegreeLattice(**told | {"x": tuple(told["x"]), "y": tuple(told["y"])}) if told else None
        return MapFrame(self.left, self.top, self.unit, lattice)


class _ShapesPart(_StrictPart):
    format: Annotated[str, Field(pattern=f"^{FORMAT}$")]
    attribute: str
    width: Side
    height: Side
    source: str
    projection: str
    notes: list[str]
    frame: _FramePart | None = None
    shapes: dict[str, _ShapePart]

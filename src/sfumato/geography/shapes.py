"""Shapes: the outlines of an attribute's levels, drawn once on a small grid, as they are stored in a release."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sfumato.errors import ReleaseError

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

    def to_bytes(self) -> bytes:
        """The one way to write them: the same shapes, the same bytes."""
        plain = {name: getattr(self, name) for name in ("attribute", "width", "height", "source", "projection")}
        shapes = {code: {"outline": self.outlines[code], "place": self.places[code]} for code in self.outlines}
        content = {"format": FORMAT, **plain, "notes": list(self.notes), "shapes": shapes}
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
        plain = read.model_dump(exclude={"format", "shapes", "notes"})
        return cls(**plain, outlines=outlines, places=places, notes=tuple(read.notes))


Across = Annotated[int, Field(ge=0, le=99_999)]
Side = Annotated[int, Field(ge=1, le=99_999)]


class _StrictPart(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _ShapePart(_StrictPart):
    outline: str
    place: tuple[Across, Across]


class _ShapesPart(_StrictPart):
    format: Annotated[str, Field(pattern=f"^{FORMAT}$")]
    attribute: str
    width: Side
    height: Side
    source: str
    projection: str
    notes: list[str]
    shapes: dict[str, _ShapePart]

"""Geography: the file that holds the shapes of an attribute's levels."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from sfumato.errors import PlanError
from sfumato.geography import Shapes
from sfumato.schema import Attribute


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
            from sfumato.geography.areas import matched
            from sfumato.geography.drawing import drawn
            from sfumato.geography.outlines import read
        except ModuleNotFoundError as error:
            raise PlanError(
                f"{self.section} needs {error.name} to read shapes; pip install 'sfumato[agency]'."
            ) from None
        levels, nowhere = attribute.levels, attribute.missing.level if attribute.missing else None
        try:
            outlines = read(self.folder / self.file)
            areas, notes = matched(outlines, self.id, levels, nowhere, partial=self.partial)
            shapes = drawn(attribute.name, areas, levels, self.projection, self.detail, outlines)
        except PlanError as error:
            raise PlanError(f"{self.section} {error}") from None
        return replace(shapes, source=self.source or outlines.name, notes=(*notes, *shapes.notes))

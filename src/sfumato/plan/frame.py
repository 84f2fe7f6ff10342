"""FrameFile: the public register that a plan is about, and how its measures group the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from sfumato.errors import PlanError, nearest
from sfumato.plan.measure import Measure
from sfumato.privacy import Neighbours, Truncate
from sfumato.schema import By, Frame, Grouping, Schema


@dataclass(frozen=True)
class FrameFile:
    """A Parquet or CSV file with one row a unit: its id, the codes of its attributes, the firm it belongs to."""

    file: str
    id: str
    folder: Path = field(default=Path(), compare=False)

    @property
    def path(self) -> Path:
        return self.folder / self.file

    def open(self, unit: str, schema: Schema) -> Frame:
        """The register, read and checked."""
        return Frame.read(self.path, unit, self.id, schema.attributes)


@dataclass(frozen=True, eq=False)
class Framed:
    """A plan over a frame: the register itself, opened once, and the groups of each measure."""

    hidden: Neighbours
    schema: Schema
    file: FrameFile

    @cached_property
    def frame(self) -> Frame:
        frame = self.file.open(self.hidden.unit, self.schema)
        if together := self.hidden.together:
            refuse_large_firms(self.file.path, together, self.hidden.unit)
        return frame

    def grouping(self, measure: Measure) -> Grouping | None:
        """The groups of a measure's rows; none where it is of the rows themselves."""
        return None if self.of_rows(measure) else self.frame.grouped(self.by(measure))

    def domain(self, measure: Measure) -> Frame:
        """The rows of a measure or its groups; their attributes alone where the register is not at hand."""
        if not self.file.path.is_file():
            return Frame(self.hidden.unit, self.schema.attributes, {}, ())
        grouping = self.grouping(measure)
        return self.frame if grouping is None else grouping.groups

    def of_rows(self, measure: Measure) -> bool:
        return measure.by == (self.hidden.unit,)

    def by(self, measure: Measure) -> By:
        """The attributes of a measure, each at its lowest level or at a depth, as in `naics@3`."""
        try:
            return tuple(self.schema.level(one) for one in measure.by)
        except PlanError as error:
            raise PlanError(f"Measure '{measure.name}', by: {error}") from None

    def size(self, measure: Measure) -> int:
        """How many numbers a measure publishes; where the register is not at hand, the most that there could be."""
        if not self.file.path.is_file():
            return 0 if self.of_rows(measure) else self._most(measure)
        return self.domain(measure).size

    def _most(self, measure: Measure) -> int:
        """The groups that the levels of a measure's attributes allow."""
        found = 1
        for level in self.by(measure):
            found *= len(level.of(self.schema.attribute(level.name)).levels.leaves)
        return found


def refuse_unframed(measures: Sequence[Measure], hidden: Neighbours, *, framed: bool) -> None:
    """The neighbours must mean something over a frame or without one, and every measure is of the frame's rows."""
    if why := hidden.refuses(register=framed):
        raise PlanError(why)
    names = [measure.name for measure in measures]
    for place, measure in enumerate(measures):
        for name in measure.given:
            if name not in names[:place]:
                hint = nearest(name, names[:place])
                raise PlanError(f"Measure '{measure.name}' is given '{name}', which no earlier measure is; {hint}")
            given = measures[names.index(name)]
            if given.of != measure.of:
                raise PlanError(f"Measure '{measure.name}' is given '{name}', which is of another column or step.")
            if given.where not in ({}, measure.where):
                raise PlanError(f"Measure '{measure.name}' is given '{name}', which lacks some of its records (where).")
    if framed:
        _refuse_steps(measures)
        if (hidden.unit,) not in [measure.by for measure in measures]:
            raise PlanError(f'No measure is of the rows of the frame, which a release holds: by = ["{hidden.unit}"].')


def _refuse_steps(measures: Sequence[Measure]) -> None:
    """A column is read once, in one step."""
    steps: dict[str, Fraction] = {}
    for measure in measures:
        column = str(getattr(measure.of, "column", ""))
        if steps.setdefault(column, measure.of.step) != measure.of.step:
            raise PlanError(f"Measure '{measure.name}' counts '{column}' in another step than a measure before it.")


def refuse_large_firms(path: Path, firms: Truncate, unit: str) -> None:
    """The frame is public, so that no firm has more units than promised can be checked, and is."""
    from sfumato.schema.reading import counts_of

    most = max(counts_of(path, firms.column))
    if most > firms.at_most:
        raise PlanError(
            f"A firm of the frame has {most} {unit}s and [hidden] at_most says {firms.at_most}; "
            f"raise at_most to {most}: the noise grows with it."
        )

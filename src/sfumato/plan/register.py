"""RegisterCoverage: a plan over a public register, whose units report, and whose measures group its rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np

from sfumato.calibrate import Step
from sfumato.errors import PlanError, how_many, with_article
from sfumato.mechanisms import SquareRoot
from sfumato.plan.control import ControlTable
from sfumato.plan.coverage import Coverage, naming
from sfumato.plan.measure import Measure
from sfumato.privacy import Truncate
from sfumato.schema import Attribute, Box, By, Domain, Frame, Table, UpTo
from sfumato.schema.frame import crowds
from sfumato.schema.memory import Memory

BASE = 400_000_000
"""Bytes of the program, its libraries, the matrix of the controls and what does not grow."""
FIXED, PER_ATTRIBUTE, PER_GROUPING, PER_COLUMN, PER_STEP = 80, 8, 4, 24, 24
"""Bytes a row: for its name, twice, and the work at hand; and for each thing held for every row."""


@dataclass(frozen=True)
class FrameFile:
    """A Parquet or CSV file with one row a unit: its id, the codes of its attributes, the firm it belongs to."""

    file: str
    id: str
    folder: Path = field(default=Path(), compare=False)

    @property
    def path(self) -> Path:
        return self.folder / self.file

    @property
    def rows(self) -> int:
        """How many rows it has, without reading its columns."""
        if self.path.suffix == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            try:
                return int(pq.read_metadata(self.path).num_rows)
            except (pa.ArrowException, OSError):
                raise PlanError(
                    f"{self.path} cannot be read; a frame is a Parquet file, or a CSV file in UTF-8."
                ) from None
        with self.path.open("rb") as file:
            return max(0, sum(block.count(b"\n") for block in iter(lambda: file.read(2**20), b"")) - 1)


@dataclass(frozen=True, eq=False)
class RegisterCoverage(Coverage):
    """Every measure is of the rows of a register or of groups of them; it is opened once, where it is at hand."""

    registered = True
    file: FrameFile
    exposes = ("frame",)
    truncation = None
    """A unit reports once, which is a rule of the data."""

    @cached_property
    def register(self) -> Frame:
        firms, unit = self.hidden.together, self.hidden.unit
        firm, encoding = firms.column if firms else None, self.schema.encoding
        frame = Frame.read(self.file.path, unit, self.file.id, self.schema.attributes, firm, encoding)
        if firms:
            _refuse_large_firms(frame.together, firms, unit)
        return frame

    def _of_rows(self, measure: Measure) -> bool:
        return measure.by == (self.hidden.unit,)

    def by(self, measure: Measure) -> By:
        """No attribute tells the rows themselves apart."""
        with naming(measure):
            return () if self._of_rows(measure) else tuple(map(self.schema.level, measure.levels))

    def table(self, measure: Measure) -> None:
        self.by(measure)

    def tables(self, measure: Measure) -> tuple[Table, ...]:  # noqa: ARG002 - reports are read, and grouped after that
        return ()

    def domain(self, measure: Measure) -> Domain:
        """The rows of a measure or its groups; their attributes alone where the register is not at hand."""
        if measure.with_.suppresses:
            return self._cells(measure)
        if not self.file.path.is_file():
            return self._unopened
        return self.register if self._of_rows(measure) else self.register.grouped(self.by(measure)).groups

    @property
    def _unopened(self) -> Frame:
        return Frame(self.hidden.unit, self.schema.attributes, {}, ())

    def _refuse_cells(self, measure: Measure) -> None:
        # A plan is read without its register, which a run opens.
        with naming(measure, "with"):
            measure.with_.refuse_cells(self._unopened)

    def possible(self, measure: Measure) -> int:
        return self.size(measure)

    def size(self, measure: Measure) -> int:
        """The rows or groups; where the register is not at hand, the most groups that there could be."""
        if self.file.path.is_file():
            return self.domain(measure).size
        cut = [level.of(self.schema.attribute(level.name)) for level in self.by(measure)]
        return math.prod(len(attribute.levels.leaves) for attribute in cut) if cut else 0

    def cells_held(self, measure: Measure) -> int:
        return self.size(measure)

    def refuse(self, measures: Sequence[Measure], controls: Sequence[ControlTable]) -> None:
        suppressed = all(measure.with_.suppresses for measure in measures)
        for measure in () if suppressed else measures:
            if isinstance(measure.by, UpTo):
                raise PlanError(
                    f"Measure '{measure.name}' is by all tables of up to {measure.by.up_to} variables, whose noise is "
                    "for records that come and go, and this plan has a [frame]; name the attributes of one table."
                )
        super().refuse(measures, controls)
        unit = self.hidden.unit
        for partner in self.schema.joined:
            if partner.on != self.id:
                raise PlanError(
                    f"[data.tables] {partner.name} is joined on '{partner.on}', so that several {unit}s could report "
                    f"one row of it; what {with_article(unit)} reports is joined on '{self.id}'."
                )
        for control in controls:
            raise PlanError(f"The control '{control.name}' is met by steps over tables, and this plan has a [frame].")
        steps: dict[str, Fraction] = {}
        for measure in measures:
            column = measure.of.contribution.column or ""
            if steps.setdefault(column, measure.of.step) != measure.of.step:
                raise PlanError(f"Measure '{measure.name}' counts '{column}' in another step than a measure before it.")
        if not suppressed and not any(map(self._of_rows, measures)):
            raise PlanError(f'No measure is of the rows of the frame, which a release holds: by = ["{unit}"].')

    def family(self, measure: Measure) -> None:  # noqa: ARG002 - it is refused
        return None

    def refuse_step(self, step: Step, measure: Measure, table: Table | None, controls: Sequence[Table]) -> None:  # noqa: ARG002 - none is a table
        step.refuse_unframed(of_rows=self._of_rows(measure))
        if not isinstance(measure.with_, SquareRoot):
            raise PlanError(f"Step '{step.name}' moves rows measured with square-root; '{measure.name}' is not.")

    def refuse_unlistable(self, measures: Sequence[Measure]) -> None:
        """All rows are there already."""

    def table_by_table(self, measures: Sequence[Measure]) -> bool:  # noqa: ARG002 - whatever they are
        """Every sum of rows is a number of a release, so that none is its set of tables."""
        return False

    def memory(self, measures: Sequence[Measure], moved: Sequence[Measure]) -> Memory | None:
        if not self.file.path.is_file():
            return None
        columns = dict.fromkeys(measure.of.contribution.column or measure.name for measure in measures)
        groupings = {measure.by for measure in measures if not self._of_rows(measure)}
        each = FIXED + PER_ATTRIBUTE * len(self.schema.attributes) + PER_GROUPING * len(groupings)
        each += PER_COLUMN * len(columns) + PER_STEP * len(moved)
        instead = "measure fewer columns in one plan, split the frame by state, or use a larger machine."
        rows = self.file.rows
        return Memory(f"{how_many(rows, 'row')} of {', '.join(columns)}", BASE + rows * each, instead=instead)

    def answering(self, measures: Sequence[Measure]) -> list[str]:
        """Rows answer whatever is asked of their statistic; groups what no rows answer."""
        rows = [measure for measure in measures if self._of_rows(measure)]
        told = [(one.of, one.where) for one in rows]
        alone = [measure for measure in measures if (measure.of, measure.where) not in told]
        return [*(measure.name for measure in rows), *super().answering(alone)]

    def attributes(self, measures: Sequence[Measure]) -> list[Attribute]:
        """All that the register has, as it is published; it is not where cells of it are withheld."""
        withheld = all(measure.with_.suppresses for measure in measures)
        return super().attributes(measures) if withheld else list(self.schema.attributes)

    def read(self, measures: Sequence[Measure]) -> tuple[Attribute, ...]:  # noqa: ARG002 - the register says them
        return ()

    def firm_names(self) -> dict[str, list[str]]:
        from sfumato.schema.frame_file import column_texts

        firms = self.hidden.together
        return {firms.column: column_texts(self.file.path, firms.column, self.schema.encoding)} if firms else {}

    def holdings(self, column: str | None) -> list[str]:
        from sfumato.schema.frame_file import column_in_order

        return column_in_order(self.file.path, self.file.id, column or self.file.id, self.schema.encoding)

    @property
    def id(self) -> str:
        return self.hidden.id or self.file.id

    def moving(self, measure: Measure, universe: Box) -> list[list[str]]:
        """One unit, or all of a firm that are in the universe: of the one with most, and of the one most crowded."""
        inside, firms = self.register.rows(universe), self.register.firms
        if firms is None or not inside.any():
            return [[str(self.register.ids[int(inside.argmax())])]]
        rows = np.flatnonzero(inside).astype(np.int32)
        groups = rows if self._of_rows(measure) else self.register.grouped(self.by(measure)).of[rows]
        chosen = dict.fromkeys(int(one.argmax()) for one in (np.bincount(firms[rows]), crowds(firms[rows], groups)))
        return [[str(self.register.ids[int(row)]) for row in rows[firms[rows] == firm]] for firm in chosen]

    def standing(self, others: int) -> list[str]:  # noqa: ARG002 - they would blur what moves
        return []


def _refuse_large_firms(most: int, firms: Truncate, unit: str) -> None:
    """The frame is public, so that no firm has more units than promised can be checked, and is."""
    if most > firms.at_most:
        raise PlanError(
            f"A firm of the frame has {most} {unit}s and [hidden] at_most says {firms.at_most}; "
            f"raise at_most to {most}: the noise of rows grows with its root."
        )

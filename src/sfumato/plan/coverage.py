"""Coverage: what the measures of a plan are over, which alone knows how they are read, sized and answered."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.calibrate import Step
from sfumato.errors import PlanError, nearest
from sfumato.plan.control import ControlTable
from sfumato.plan.measure import Measure
from sfumato.plan.memory import Memory
from sfumato.privacy import Move, Neighbours, Truncate, Unsummed
from sfumato.schema import Attribute, Box, By, Domain, Frame, Schema, Table


@dataclass(frozen=True, eq=False)
class Coverage(ABC):
    """Records in the cells of tables, or reports of the units of a public register."""

    registered: ClassVar[bool] = False
    """Whether there is a public register of the units."""
    exposes: ClassVar[tuple[str, ...]] = ()
    """What is taken as public, which a plan must list as an exposure."""
    hidden: Neighbours
    schema: Schema

    def by(self, measure: Measure) -> By:
        """The attributes of a measure, each at its lowest level or at a depth, as in `naics@3`."""
        try:
            return tuple(self.schema.level(written) for written in measure.by)
        except PlanError as error:
            raise PlanError(f"Measure '{measure.name}', by: {error}") from None

    @abstractmethod
    def table(self, measure: Measure) -> Table | None:
        """The table of a measure, none where it is of the rows of a register; refused where it names what is not."""

    @abstractmethod
    def domain(self, measure: Measure) -> Domain:
        """What the numbers of a measure stand for."""

    def move(self, measure: Measure) -> Move:
        """How far the cells of a measure can go between neighbours, or their rows where no cell is the sum of them."""
        move = self.hidden.move(measure.of.contribution, self.domain(measure))
        return move if measure.of.additive else Unsummed(move)

    @abstractmethod
    def size(self, measure: Measure) -> int:
        """How many numbers a measure publishes."""

    def possible(self, measure: Measure) -> int:
        """How many of them may be something."""
        return self.size(measure)

    def refuse(self, measures: Sequence[Measure], controls: Sequence[ControlTable]) -> None:  # noqa: ARG002 - any
        """Neighbours that mean nothing here, and measures that are given what they cannot be."""
        if why := self.hidden.refuses(register=self.registered):
            raise PlanError(why)
        for place, measure in enumerate(measures):
            earlier = {one.name: one for one in measures[:place]}
            for name in measure.given:
                if name not in earlier:
                    hint = nearest(name, earlier)
                    raise PlanError(f"Measure '{measure.name}' is given '{name}', which no earlier measure is; {hint}")
                _refuse_unlike(measure, earlier[name])

    @abstractmethod
    def refuse_step(self, step: Step, table: tuple[Measure, Table | None], controls: Sequence[Table]) -> None:
        """Say so where a step cannot do with the measure and the cells that it moves, and with its controls."""

    @abstractmethod
    def refuse_unlistable(self, measures: Sequence[Measure]) -> None:
        """Stop a measure of which not all numbers can be held, on whatever machine."""

    @abstractmethod
    def refuse_assessing(self, measures: Sequence[Measure]) -> None:
        """Stop where a release cannot be gone through table by table."""

    @abstractmethod
    def memory(self, measures: Sequence[Measure], moved: Sequence[Measure]) -> Memory | None:
        """What a run will need for measures and for those that steps move; nothing where it cannot be told."""

    @abstractmethod
    def answering(self, measures: Sequence[Measure]) -> list[str]:
        """Which of some measures answer: one for each statistic and universe, as one question has one answer."""

    @abstractmethod
    def attributes(self, measures: Sequence[Measure]) -> list[Attribute]:
        """The attributes that a release can be asked by."""

    @abstractmethod
    def read(self, measures: Sequence[Measure]) -> tuple[Attribute, ...]:
        """The attributes that are read of the microdata."""

    @property
    def register(self) -> Frame | None:
        """The public register that the records report on, where there is one."""
        return None

    @property
    def id(self) -> str | None:
        """The column of the microdata that names units."""
        return self.hidden.id

    @property
    def truncation(self) -> Truncate | None:
        """The rows of a unit that count, where some may not."""
        return self.hidden.truncation

    @abstractmethod
    def units(self, universe: Box, others: int) -> list[str]:
        """The name of a unit that may be in a universe, and of so many others at most, for the pair of an audit."""


def _refuse_unlike(measure: Measure, given: Measure) -> None:
    if given.of != measure.of:
        raise PlanError(f"Measure '{measure.name}' is given '{given.name}', which is of another column or step.")
    if given.where not in ({}, measure.where):
        raise PlanError(f"Measure '{measure.name}' is given '{given.name}', which lacks some of its records (where).")

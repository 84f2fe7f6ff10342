"""Coverage: what the measures of a plan are over, which alone knows how they are read, sized and answered."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from sfumato.calibrate import Step
from sfumato.errors import PlanError, nearest
from sfumato.plan.control import ControlTable
from sfumato.plan.footprint import HeldCells, NamingColumns, footprint
from sfumato.plan.measure import Measure
from sfumato.privacy import EveryTable, FewRows, Move, Neighbours, Truncate, Unclaimed, UnitRows, Unsummed, bounded
from sfumato.schema import FARTHEST, LARGEST, Attribute, Box, By, Domain, Family, Frame, Schema, Table, UpTo, domain_of
from sfumato.schema.level import lacking
from sfumato.schema.memory import Memory


@contextmanager
def naming(measure: Measure, key: str = "by") -> Iterator[None]:
    """What is refused of a measure says of which, and where it stands."""
    try:
        yield
    except (KeyError, PlanError) as error:
        raise PlanError(f"Measure '{measure.name}', {key}: {error.args[0]}") from None


@dataclass(frozen=True, eq=False)
class Coverage:
    """Records in the cells of tables, laid out or, where there are too many, listed; a register is another one."""

    registered: ClassVar[bool] = False
    """Whether there is a public register of the units."""
    exposes: ClassVar[tuple[str, ...]] = ()
    """What is taken as public, which a plan must list as an exposure."""
    hidden: Neighbours
    schema: Schema

    def by(self, measure: Measure) -> By:
        """The attributes of a measure, each at its lowest level or at a depth, as in `naics@3`."""
        return self._cells(measure).by

    def table(self, measure: Measure) -> Table | None:
        """The table of a measure, none where it is of several or of a register; refused where it names what is not."""
        domain = self._cells(measure)
        return domain if isinstance(domain, Table) else None

    def family(self, measure: Measure) -> Family | None:
        """The tables of a measure, where it is of several; none where it is of one or of a register."""
        domain = self._cells(measure)
        return domain if isinstance(domain, Family) else None

    def _cells(self, measure: Measure) -> Table | Family:
        if measure.by not in self._domains:
            with naming(measure):
                self._domains[measure.by] = domain_of(self.schema, measure.by)
        return self._domains[measure.by]

    @cached_property
    def _domains(self) -> dict[tuple[str, ...] | UpTo, Table | Family]:
        """What measures are over, each made once."""
        return {}

    def tables(self, measure: Measure) -> tuple[Table, ...]:
        """The tables that are tabulated for a measure."""
        return self._cells(measure).members

    def domain(self, measure: Measure) -> Domain:
        """What the numbers of a measure stand for."""
        return self._cells(measure)

    def move(self, measure: Measure) -> Move:
        """How far the cells of a measure can go between neighbours, or their rows where no cell is the sum of them."""
        if measure.with_.suppresses:
            return Unclaimed()
        domain = self.domain(measure)
        among = tuple(map(self.schema.attribute, measure.where))
        row = replace(measure.of.contribution, among=among)
        move = self.hidden.move(row, domain)
        if not measure.of.additive:
            return Unsummed(move, self.keeps_cells(measure))
        return (
            EveryTable(bounded(move, measure.with_.name), domain, self.hidden.exchanged(), self.hidden.ends(row))
            if isinstance(domain, Family)
            else move
        )

    def keeps_cells(self, measure: Measure) -> bool:
        """Whether a row keeps its cell and its place in the universe, so that counts are public; each row is a unit."""
        kept = self.hidden.exchanged() if self.hidden.id is None else None
        return kept is not None and kept.issuperset((*measure.names, *measure.where))

    def pairs(self, measure: Measure) -> tuple[tuple[UnitRows, UnitRows], ...]:
        """The rows of one unit in two neighbours; one of these pairs is as far apart as any.

        Not where units with an id keep something, which prices do not count on: what the pair keeps may make it nearer.
        """
        row, domain, move = measure.of.contribution, self.domain(measure), self.move(measure)
        far = measure.with_.furthest(move) if isinstance(move, EveryTable) and move.ends else None
        return self.hidden.pairs(row, domain) if far is None else (self.hidden.sides(row, domain, far.left, far.come),)

    def size(self, measure: Measure) -> int:
        """How many numbers a measure publishes."""
        return self._cells(measure).size

    def possible(self, measure: Measure) -> int:
        """How many of them may be something; of several tables, all cells of each."""
        cells = self._cells(measure)
        return cells.size if isinstance(cells, Family) else cells.count(Box())

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
            self._refuse_cells(measure)
            if measure.with_.counted and len(measure.given) != 1:
                raise PlanError(
                    f"Measure '{measure.name}' with {measure.with_.name} scales noise by a noisy count of its cells; "
                    'measure of = "count" by the same attributes before it, and name that: given = ["people"].'
                )

    def _refuse_cells(self, measure: Measure) -> None:
        domain = self.domain(measure)
        with naming(measure, "with"):
            measure.with_.refuse_cells(domain)

    def refuse_step(self, step: Step, measure: Measure, table: Table | None, controls: Sequence[Table]) -> None:  # noqa: ARG002
        """Say so where a step cannot do with the measure and the cells that it moves, and with its controls."""
        assert table is not None  # noqa: S101 - of several tables the step itself says it
        step.refuse_unfit(table, controls)

    def cells_held(self, measure: Measure) -> int:
        """How many cells of a measure are held: all where they are laid out, else the possible that noise changes."""
        table = self._cells(measure)
        if table.dense or isinstance(table, Family):
            return table.size
        changed = measure.with_.changes(self.move(measure))
        least = math.ceil(table.possible_at_least * changed)
        return least if least > LARGEST else math.ceil(self.possible(measure) * changed)

    def refuse_unlistable(self, measures: Sequence[Measure]) -> None:
        """Stop a measure of which not all numbers can be held, on whatever machine."""
        for measure in measures:
            table = self._cells(measure)
            table.refuse_if_too_large(FARTHEST)
            if (listed := self.cells_held(measure)) > LARGEST:
                less = measure.with_.changes(self.move(measure)) < 1
                instead = ", measure at a coarser level, or give it more budget, as less noise leaves more cells at 0."
                raise PlanError(
                    f"Measure '{measure.name}' is over {table.sides}, {table.size:,} cells, of which "
                    f"{measure.with_.words()} changes {f'about {listed:,}' if less else 'every one'}; {LARGEST:,} can "
                    f"be listed. Leave out an attribute{instead if less else ', or measure at a coarser level.'}"
                )

    def table_by_table(self, measures: Sequence[Measure]) -> bool:
        """Whether a release has a set of tables that it can be gone through by, each summed of its cells."""
        return not any(measure.with_.suppresses for measure in measures)

    def refuse_assessing(self, measures: Sequence[Measure]) -> None:
        """Stop where a release cannot be gone through table by table, every cell of it laid out."""
        for measure in measures:
            self._cells(measure).refuse_if_too_large()

    def memory(self, measures: Sequence[Measure], moved: Sequence[Measure]) -> Memory | None:
        """What a run will need for measures and for those that steps move; nothing where it cannot be told."""
        held = [HeldCells(one, self._cells(one), self.cells_held(one)) for one in measures]
        return footprint(self.schema, held, [one.name for one in moved], self._naming(measures))

    def _naming(self, measures: Sequence[Measure]) -> NamingColumns:
        """The columns that name units and records, and are read."""
        told = {name or self.id for measure in measures for one in measure.aggregates for name in one.names}
        told |= {one.column if isinstance(one, FewRows) else self.id for one in self.hidden.rules(self.read(measures))}
        counted = {self.truncation.column if self.truncation else None, *self.schema.key}
        return NamingColumns(*(frozenset(name for name in some if name) for some in (told, counted)))

    def answering(self, measures: Sequence[Measure]) -> list[str]:
        """Which of some measures answer: one for each statistic and universe, as one question has one answer."""
        return [measure.name for measure in measures if self._widest(measure, measures) == measure]

    def _widest(self, measure: Measure, measures: Sequence[Measure]) -> Measure:
        rivals = [one for one in measures if one.of == measure.of and one.where == measure.where]
        several = len(rivals) > 1 and any(self.table(one) is None for one in rivals)
        for one in () if several else rivals:
            if not any(lacking(self.by(other), self.by(one)) for other in rivals):
                return one
        names = ", ".join(one.name for one in rivals)
        raise PlanError(
            f"The measures {names} are of the same statistic and none has all the attributes of the others, "
            "so a question would have several answers; choose with [publish] answers = [...]."
        )

    def attributes(self, measures: Sequence[Measure]) -> list[Attribute]:
        """The attributes that a release can be asked by."""
        named = {name for measure in measures for name in measure.names}
        return [attribute for attribute in self.schema.attributes if attribute.name in named]

    def read(self, measures: Sequence[Measure]) -> tuple[Attribute, ...]:
        """The attributes that are read of the microdata: whole, and again cut off at the depth of a table."""
        named = [name for measure in measures for name in (*measure.names, *measure.where)]
        named += [name for rule in self.schema.impossible for name, _ in rule.where]
        tables = [table for measure in measures for table in self.tables(measure)]
        cut = [one for table in tables for one in table.attributes if one.depth is not None]
        return (*(self.schema.attribute(name) for name in dict.fromkeys(named)), *dict.fromkeys(cut))

    @property
    def register(self) -> Frame | None:
        """The public register that the records report on, where there is one."""
        return None

    def firm_names(self) -> dict[str, list[str]]:
        """How the firms of a register are written, by the column that names them."""
        return {}

    def holdings(self, column: str | None) -> list[str]:
        """Who each unit of the register belongs to, by a column of it."""
        raise PlanError(
            f"Holdings are read of a register, and this plan has none; the column '{column}' is of the data."
        )

    @property
    def id(self) -> str | None:
        """The column of the microdata that names units."""
        return self.hidden.id

    @property
    def truncation(self) -> Truncate | None:
        """The rows of a unit that count, where some may not."""
        return self.hidden.truncation

    def moving(self, measure: Measure, universe: Box) -> list[list[str]]:  # noqa: ARG002 - a record may have any name
        """The names of units that move at once in the pair of an audit, of each pair that may be the worst."""
        return [["the unit"]]

    def standing(self, others: int) -> list[str]:
        """The names of so many other units at most, the same on both sides of a pair."""
        return [f"other {place}" for place in range(others)]


def _refuse_unlike(measure: Measure, given: Measure) -> None:
    if measure.with_.counted:
        if given.of.weighted or (given.of.name, given.by, given.where) != ("count", measure.by, measure.where):
            raise PlanError(f"Measure '{measure.name}' is given '{given.name}', which does not count its own cells.")
        return
    if given.of != measure.of:
        raise PlanError(f"Measure '{measure.name}' is given '{given.name}', which is of another column or step.")
    if given.where not in ({}, measure.where):
        raise PlanError(f"Measure '{measure.name}' is given '{given.name}', which lacks some of its records (where).")

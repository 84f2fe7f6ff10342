"""TableCoverage: a plan over tables, whose records fall into the cells of cross-classifications."""

import math
from collections.abc import Sequence

import numpy as np

from sfumato.calibrate import Step
from sfumato.errors import PlanError
from sfumato.plan.coverage import Coverage
from sfumato.plan.measure import Measure
from sfumato.plan.memory import Memory
from sfumato.schema import FARTHEST, LARGEST, Attribute, Box, Table
from sfumato.schema.level import lacking

BASE = 180_000_000
"""Bytes of the program, its libraries, and what does not grow."""
PER_NUMBER, PER_CALIBRATED = 8, 48
"""Bytes of a number, and of a cell while a step works on it."""
PER_LISTED, LISTED_IN_WORK, LISTED_AGAIN, PER_PACKED = 16, 32, 24, 64
"""Bytes of a listed cell: its number and value; more while the list is made, or is read back; and of a record's own."""
PER_JOINED = 64
"""Bytes of a record for each table that it is looked up in: its key, and what it finds there."""


class TableCoverage(Coverage):
    """Every measure is of the records in the cells of a table, laid out or, where there are too many, listed."""

    def table(self, measure: Measure) -> Table:
        try:
            return self.schema.table(measure.by)
        except PlanError as error:
            raise PlanError(f"Measure '{measure.name}', by: {error}") from None

    def domain(self, measure: Measure) -> Table:
        return self.table(measure)

    def size(self, measure: Measure) -> int:
        return self.table(measure).size

    def possible(self, measure: Measure) -> int:
        return self.table(measure).count(Box())

    def refuse_step(self, step: Step, table: tuple[Measure, Table | None], controls: Sequence[Table]) -> None:
        if (cells := table[1]) is not None:
            step.refuse_unfit(cells, controls)

    def _listed(self, measure: Measure) -> int:
        """How many cells of a measure are held: all where they are laid out, else those that noise will change."""
        table = self.table(measure)
        return table.size if table.dense else math.ceil(table.size * measure.with_.changes(self.move(measure)))

    def refuse_unlistable(self, measures: Sequence[Measure]) -> None:
        for measure in measures:
            table = self.table(measure)
            table.refuse_if_too_large(FARTHEST)
            if (listed := self._listed(measure)) > LARGEST:
                raise PlanError(
                    f"Measure '{measure.name}' is over {table.sides}, {table.size:,} cells, of which "
                    f"{measure.with_.words()} changes about {listed:,}; {LARGEST:,} can be listed. Leave out an "
                    "attribute, measure at a coarser level, or give it more budget, as less noise leaves more cells "
                    "at 0."
                )

    def refuse_assessing(self, measures: Sequence[Measure]) -> None:
        """Every cell is compared, so all are laid out."""
        for measure in measures:
            self.table(measure).refuse_if_too_large()

    def memory(self, measures: Sequence[Measure], moved: Sequence[Measure]) -> Memory:
        """Products stay until the release is read back; beside them is the work of a measure or of a step, or those."""
        sizes = {measure.name: self._listed(measure) for measure in measures}
        dense = {measure.name for measure in measures if self.table(measure).dense}
        made = [measure.name for measure in (*measures, *moved)]
        products = sum(sizes[name] * (PER_NUMBER if name in dense else PER_LISTED) for name in made)
        work = [sum(sizes[name] * (PER_NUMBER if name in dense else LISTED_AGAIN) for name in made)]
        work += [PER_NUMBER * len(measure.aggregates) * sizes[measure.name] for measure in measures]
        work += [LISTED_IN_WORK * size for name, size in sizes.items() if name not in dense]
        work += [PER_CALIBRATED * sizes[measure.name] for measure in moved]
        laid, listed = (sum(size for name, size in sizes.items() if (name in dense) == one) for one in (True, False))
        held = [f"{laid:,} cells"] * bool(laid) + [f"about {listed:,} listed cells"] * bool(listed)
        largest = max(measures, key=lambda measure: sizes[measure.name])
        instead = (
            f"the largest is '{largest.name}' by {self.table(largest).sides}: leave out an attribute, measure at a "
            "coarser level, or use a larger machine."
        )
        return Memory(" and ".join(held), BASE + products + max(work), self._a_record(measures), instead)

    def _a_record(self, measures: Sequence[Measure]) -> int:
        """Bytes of a record: a small integer for each attribute, a number for each value that is summed.

        Of a sparse table a cell as well, as records may all stand in cells of their own; and what it finds elsewhere.
        """
        read = {name for measure in measures for name in (*measure.names, *measure.where)}
        leaves = [len(self.schema.attribute(name).levels.leaves) for name in read]
        values = {value for measure in measures for aggregate in measure.aggregates for value in aggregate.values}
        packed = any(not self.table(measure).dense for measure in measures)
        whole = sum(np.min_scalar_type(size).itemsize for size in leaves)
        return whole + PER_NUMBER * len(values) + PER_PACKED * packed + PER_JOINED * len(self.schema.joined)

    def answering(self, measures: Sequence[Measure]) -> list[str]:
        return [measure.name for measure in measures if self._widest(measure, measures) == measure]

    def _widest(self, measure: Measure, measures: Sequence[Measure]) -> Measure:
        rivals = [one for one in measures if one.of == measure.of and one.where == measure.where]
        for one in rivals:
            if not any(lacking(self.by(other), self.by(one)) for other in rivals):
                return one
        names = ", ".join(one.name for one in rivals)
        raise PlanError(
            f"The measures {names} are of the same statistic and none has all the attributes of the others, "
            "so a question would have several answers; choose with [publish] answers = [...]."
        )

    def attributes(self, measures: Sequence[Measure]) -> list[Attribute]:
        named = {name for measure in measures for name in measure.names}
        return [attribute for attribute in self.schema.attributes if attribute.name in named]

    def read(self, measures: Sequence[Measure]) -> tuple[Attribute, ...]:
        """Those of the tables, universes and rules, and again cut off at the depth of a table."""
        named = [name for measure in measures for name in (*measure.names, *measure.where)]
        named += [name for rule in self.schema.impossible for name, _ in rule.where]
        cut = [one for measure in measures for one in self.table(measure).attributes if one.depth is not None]
        return (*(self.schema.attribute(name) for name in dict.fromkeys(named)), *dict.fromkeys(cut))

    def units(self, universe: Box, others: int) -> list[str]:  # noqa: ARG002 - a record may have any name
        return ["the unit", *(f"other {place}" for place in range(others))]

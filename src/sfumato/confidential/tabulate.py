"""Tabulate: microdata, a measure's domain and its statistic become Cells, empty cells included, bounds enforced."""

from functools import cached_property

from sfumato.confidential.engines.choose import opened
from sfumato.confidential.engines.engine import Columns
from sfumato.confidential.engines.reading import Fault, Reading, TableRequest
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed, scrubbed
from sfumato.draws import Draws
from sfumato.errors import DataError
from sfumato.mechanisms import Cells
from sfumato.plan import Measure, Plan


class Tabulation(Sealed):
    """The microdata of one plan, read once; every measure is tabulated from the same rows."""

    def __init__(self, plan: Plan, microdata: Microdata, draws: Draws, *, truncated: bool = True) -> None:
        self._plan, self._need = plan, reading(plan, truncated=truncated)
        salt = b"" if self._need.register else draws.words(4).tobytes()
        self._engine, self._declined = scrubbed(opened, microdata.sources, self._need, salt, microdata.engine)

    @property
    def read_by(self) -> str:
        """Which engine read the data, and why those that were asked before it declined."""
        return "; ".join((f"read by {self._engine.name}", *self._declined))

    def faults(self) -> list[Fault]:
        """What in the data does not fit the plan: the columns and the rules."""
        return self._engine.faults()

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:
        """Offending values and how often they stand: confidential."""
        return self._engine.examples(fault)

    def refuse_faults(self) -> None:
        """Stop at the first rule that is broken, naming the column and the rule and no value."""
        for fault in self.faults():
            raise DataError(f"{fault} `sfumato check` lists the values, in a confidential report.")

    def cells(self, measure: Measure) -> Cells:
        """The true cells of a measure; none of data that break a rule, as their bounds are not enforced."""
        self.refuse_faults()
        if self._plan.framed:
            return self._reported(measure)
        table, wanted = self._plan.table(measure), measure.aggregates
        universe, places = self._plan.universe(measure), None
        if table.dense:
            columns = self._engine.aggregate(table, wanted, universe)
        else:
            places, columns = self._engine.occupied(table, wanted, universe)
        values = measure.of.value(columns).reshape(table.shape if places is None else places.shape)
        return Cells(table, values, measure.of.step, self._plan.move(measure), places=places, columns=columns)

    @cached_property
    def _reports(self) -> Columns:
        """What every unit of a register reports, for all measures."""
        return self._engine.reports(self._need.aggregates)

    def _reported(self, measure: Measure) -> Cells:
        """The values of a register's units, one a row, with the groups that a measure is by; 0 outside its universe."""
        framed = self._plan.framed
        assert framed is not None  # noqa: S101 - asked of plans over a register
        columns = {one: self._reports[one] for one in measure.aggregates}
        values, grouping = measure.of.value(columns), framed.grouping(measure)
        if measure.where:
            values = values * framed.frame.rows(self._plan.universe(measure))
        domain = framed.frame if grouping is None else grouping.groups
        return Cells(domain, values, measure.of.step, self._plan.move(measure), grouping, columns=columns)


def reading(plan: Plan, *, truncated: bool = True) -> Reading:
    """What the plan needs of the microdata, and no more; which rows of a unit count where that is asked for."""
    for measure in plan.measures:
        plan.move(measure)  # what cannot be promised is not read
    aggregates = tuple(dict.fromkeys(one for measure in plan.measures for one in measure.aggregates))
    if plan.framed:
        return Reading(plan.schema, (), aggregates, plan.hidden.id or plan.framed.file.id, register=plan.framed.frame)
    named = [name for measure in plan.measures for name in (*measure.names, *measure.where)]
    named += [name for rule in plan.schema.impossible for name, _ in rule.where]
    asked = [TableRequest(plan.table(measure), measure.aggregates, plan.universe(measure)) for measure in plan.measures]
    whole = [plan.schema.attribute(name) for name in dict.fromkeys(named)]
    cut = [one for question in asked for one in question.table.attributes if one.depth is not None]
    return Reading(
        schema=plan.schema,
        attributes=(*whole, *dict.fromkeys(cut)),
        aggregates=aggregates,
        id=plan.hidden.id,
        truncation=plan.hidden.truncation if truncated else None,
        only=asked[0] if len(asked) == 1 else None,
    )

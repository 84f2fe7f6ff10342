"""Tabulate: microdata, a measure's table and its statistic become Cells, empty cells included, bounds enforced."""

from sfumato.confidential.engines import Fault, Reading, TableRequest, opened
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed, scrubbed
from sfumato.draws import Draws
from sfumato.errors import DataError
from sfumato.mechanisms import Cells
from sfumato.plan import Measure, Plan


class Tabulation(Sealed):
    """The microdata of one plan, read once; every measure is tabulated from the same rows."""

    def __init__(self, plan: Plan, microdata: Microdata, draws: Draws, *, truncated: bool = True) -> None:
        self._plan = plan
        need = reading(plan, truncated=truncated)
        self._engine = scrubbed(opened, microdata.sources, need, draws.words(4).tobytes())

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
        table, wanted = self._plan.table(measure), measure.aggregates
        universe, places = self._plan.universe(measure), None
        if table.dense:
            columns = self._engine.aggregate(table, wanted, universe)
        else:
            places, columns = self._engine.occupied(table, wanted, universe)
        values = measure.of.value(columns).reshape(table.shape if places is None else places.shape)
        return Cells(table, values, measure.of.step, self._plan.move(measure), places=places, columns=columns)


def reading(plan: Plan, *, truncated: bool = True) -> Reading:
    """What the plan needs of the microdata, and no more; which rows of a unit count where that is asked for."""
    kept = plan.hidden.truncation if truncated else None
    named = [name for measure in plan.measures for name in (*measure.names, *measure.where)]
    named += [name for rule in plan.schema.impossible for name, _ in rule.where]
    asked = [TableRequest(plan.table(measure), measure.aggregates, plan.universe(measure)) for measure in plan.measures]
    whole = [plan.schema.attribute(name) for name in dict.fromkeys(named)]
    cut = [one for question in asked for one in question.table.attributes if one.depth is not None]
    return Reading(
        schema=plan.schema,
        attributes=(*whole, *dict.fromkeys(cut)),
        aggregates=tuple(dict.fromkeys(aggregate for question in asked for aggregate in question.aggregates)),
        id=kept.column if kept else None,
        at_most=kept.at_most if kept else 1,
        only=asked[0] if len(asked) == 1 else None,
    )

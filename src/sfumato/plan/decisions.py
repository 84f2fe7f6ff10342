"""Decisions: a list of measurements, each `of` a statistic, `by` some attributes, `with` a mechanism."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from sfumato.calibrate import Step
from sfumato.errors import PlanError, nearest
from sfumato.plan.control import ControlTable, refuse_several
from sfumato.plan.coverage import Coverage, naming
from sfumato.plan.geography import Geography
from sfumato.plan.measure import Measure, Publish
from sfumato.plan.register import FrameFile, RegisterCoverage
from sfumato.plan.sampling import StatedVariance
from sfumato.plan.steps import Origin, StepReading
from sfumato.plan.suppress import Suppress
from sfumato.plan.weights import refuse_unkind, sums_weight, weigh_measures
from sfumato.privacy import Exposure, Loss, Move, Neighbours
from sfumato.release import Cube, Subject
from sfumato.release.translation import Translations
from sfumato.schema import Box, Schema, Table
from sfumato.schema.memory import Memory


@dataclass(frozen=True)
class Decisions:
    """Everything about a release that is decided before the data are looked at."""

    name: str
    schema: Schema
    hidden: Neighbours
    limit: Loss
    measures: tuple[Measure, ...]
    then: tuple[Step, ...] = ()
    title: str = ""
    period: str = ""
    exposures: tuple[Exposure, ...] = ()
    publish: Publish = field(default_factory=Publish)
    sampling: str | tuple[StatedVariance, ...] = ""
    """What is said of sampling error; "census" where nothing is, and records are not weighed."""
    geographies: tuple[Geography, ...] = ()
    frame: FrameFile | None = None
    controls: tuple[ControlTable, ...] = ()
    suppress: Suppress | None = None
    language: str = ""
    """The language of its texts; '' for English."""
    translations: Translations = field(default_factory=dict)
    """The same texts in further languages."""
    synthetic: str = ""
    """How the data were made up, where they are not about the world; every page and file says it."""
    released: bool = field(default=False, compare=False)
    """Whether it lies in a release: one made before need not say what its weight is."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.name)
        object.__setattr__(self, "hidden", self.hidden.among(self.schema.attributes))
        object.__setattr__(self, "controls", tuple(self.controls))
        refuse_several(self.controls)
        object.__setattr__(self, "sampling", self.sampling or self._unsaid_sampling())
        if not self.released:
            refuse_unkind(self.schema)
            if self.suppress is None:
                weighed = weigh_measures(self.measures, self.schema, register=self.frame is not None)
                object.__setattr__(self, "measures", weighed)
        object.__setattr__(self, "measures", self._with_controls())
        object.__setattr__(self, "then", tuple(self.then))
        if not self.name:
            raise PlanError("A plan has an empty name; give it one, for example the name of the survey.")
        if not self.measures:
            raise PlanError(f"The plan '{self.name}' measures nothing; add a [[measure]].")
        self._refuse_names()
        self.over.refuse(self.measures, self.controls)
        object.__setattr__(self, "measures", tuple(self._coded(measure) for measure in self.measures))
        self._refuse_unfit()
        if self.publish.least_weighted is not None and self.schema.weight is None:
            raise PlanError(
                "[publish] has least_weighted, and [data] no weight to weigh records with; give least alone."
            )
        for geography in self.geographies:
            self._refuse_undrawn(geography)
        _ = self.answering

    def _unsaid_sampling(self) -> str:
        """A plan with weights is of a sample, and must say something of its error."""
        if self.schema.weight:
            raise PlanError(
                "[data] has a weight, so the records are a sample; say what is stated of its error: [[sampling]] with "
                'a variance function, or sampling = "the reason why none is stated".'
            )
        return "census"

    def _with_controls(self) -> tuple[Measure, ...]:
        """The measures and, after them, the controls that are taken from the data: these are measurements too.

        So are the totals of which some are withheld.
        """
        if self.suppress is not None:
            return self._suppressed(self.suppress)
        found = {measure.name: measure for measure in self.measures}
        data = [one for one in self.controls if one.from_ == "data"]
        taken = [one.measure(found[one.of]) if one.of in found else self.measure(one.of) for one in data]
        return (*self.measures, *(control for control in taken if found.get(control.name) != control))

    def _suppressed(self, suppress: Suppress) -> tuple[Measure, ...]:
        """The totals of which some are withheld; nothing stands beside them, as noise would protect nobody there."""
        made = suppress.measured(self.schema.weight, register=self.frame is not None)
        beside = {one.name for one in self.measures} - {one.name for one in made}
        if self.controls or self.then or beside:
            raise PlanError(
                "[suppress] publishes true totals, beside which noise protects nobody; give measures, controls and "
                "steps a plan of their own."
            )
        named = self.hidden.id or (self.frame.id if self.frame else None)
        suppress.refuse(self.schema, named, register=self.frame is not None)
        return made

    def _coded(self, measure: Measure) -> Measure:
        """The measure with its universe by codes, so that a label and its code are one universe."""
        self.universe(measure)
        find = {name: self.schema.attribute(name).levels.find for name in measure.where}
        return replace(
            measure, where={name: tuple(find[name](code) for code in codes) for name, codes in measure.where.items()}
        )

    @cached_property
    def over(self) -> Coverage:
        """What the measures are over: tables, or the register that the plan names."""
        if self.frame is None:
            return Coverage(self.hidden, self.schema)
        return RegisterCoverage(self.hidden, self.schema, self.frame)

    def _refuse_names(self) -> None:
        """Names that stand twice, or that name nothing."""
        names = [*self._names, *(one.name for one in self.published)]
        for name in names:
            if names.count(name) > 1:
                raise PlanError(f"Two products are named '{name}'; a name is the file of one product.")
        for name in sorted(self.hidden.keeps(self.schema.attributes) | self.hidden.names):
            if name not in self.schema.names:
                hint = nearest(name, self.schema.names)
                raise PlanError(f"[hidden] names '{name}', which is not an attribute of this plan; {hint}")
        for function in self.sampling if isinstance(self.sampling, tuple) else ():
            if function.of not in self._names:
                hint = nearest(function.of, self._names)
                raise PlanError(f"A variance function is of '{function.of}', which this plan does not make; {hint}")
            function.refuse({name: self.measure(name) for name in function.bought})
            self._refuse_unbought(function)

    def _refuse_unbought(self, function: StatedVariance) -> None:
        """A variance that is bought by Σw² and Σw is that of the weighted number of units."""
        if function.bought and self.schema.weight and not sums_weight(self.schema, self.began(function.of).of):
            raise PlanError(
                f"[[sampling]] of '{function.of}' buys b by Σw² and Σw, which is for the weighted number of "
                f"{self.schema.unit}s, and '{function.of}' is something else. Give a, b and source."
            )

    @property
    def published(self) -> tuple[ControlTable, ...]:
        """The controls that were published before."""
        return tuple(one for one in self.controls if one.from_ == "published")

    @property
    def _names(self) -> list[str]:
        return [measure.name for measure in self.measures] + [step.name for step in self.then]

    def measure(self, name: str) -> Measure:
        for measure in self.measures:
            if measure.name == name:
                return measure
        raise PlanError(f"'{name}' is no measure of this plan; {nearest(name, [one.name for one in self.measures])}")

    def _refuse_unfit(self) -> None:
        """A step reads what stands above it: measures, or what other steps made of them."""
        before = {one.name: self._source(one) for one in self.measures}
        for one in self.published:
            of = before[self.measure(one.of).name]
            one.refuse_negative(of.measure)
            noise = frozenset({one.name} if one.noisy else ())
            told = one.product(self.schema, Subject(one.name, one.of, "", "", Fraction(1)))
            family, table = one.family(self.schema), told.domain if isinstance(told, Cube) else None
            before[one.name] = replace(of, table=table, family=family, noise=noise, published=(told,))
        readings: list[StepReading] = []
        for place, step in enumerate(self.then):
            step.refuse_name()
            reading = StepReading.of(step, before, [one.name for one in self.then[place:]])
            reading.refuse_twice(readings)
            reading.refuse_unlike()
            reading.refuse_shared()
            reading.refuse_mixed()
            reading.refuse_biased()
            reading.refuse_contradictions()
            reading.refuse_unfit(self.over)
            before[step.name] = reading.made
            readings.append(reading)
        for control in self.controls:
            if not any(control.name in step.to for step in self.then):
                raise PlanError(f"No step over tables meets the control '{control.name}'; name it in the `to` of one.")

    def _source(self, measure: Measure) -> Origin:
        exact = any(control.name == measure.name for control in self.controls)
        return Origin(
            measure,
            self.over.table(measure),
            (measure.of, measure.where),
            frozenset(() if exact else (measure.name,)),
            family=self.over.family(measure),
            additive=measure.of.additive,
        )

    def began(self, name: str) -> Measure:
        """The measure that a product is, or that steps made it of."""
        for step in reversed(self.then):
            name = step.table if step.name == name else name
        return self.measure(name)

    def another(self, name: str) -> Step | None:
        """The step that made a product which may not be summed of one that may; none where steps only moved cells."""
        return next((step for step in self.then if step.name == name and not step.additive), None)

    def _refuse_undrawn(self, geography: Geography) -> None:
        """A geography is of an attribute by which something is measured; an attribute has one."""
        if self.schema.attribute(geography.attribute) not in self.over.attributes(self.measures):
            raise PlanError(f"{geography.section} would draw nothing: no measure is by '{geography.attribute}'.")
        if [one.attribute for one in self.geographies].count(geography.attribute) > 1:
            raise PlanError(f"'{geography.attribute}' has two geographies; an attribute has one.")

    def table(self, measure: Measure) -> Table:
        """The cells of a measure, if it is of a table."""
        if (table := self.over.table(measure)) is not None:
            return table
        raise PlanError(f"Measure '{measure.name}' is of no single table; sum it by boxes.")

    def universe(self, measure: Measure) -> Box:
        """The records that a measure is about; its cells tell them apart where they are by the same attribute."""
        by = self.over.by(measure)
        with naming(measure, "where"):
            box = self.schema.table(tuple(measure.where)).box(measure.where)
            for level in by:
                level.of(self.schema.attribute(level.name)).levels.mask(measure.where.get(level.name, ()))
            return box

    def move(self, measure: Measure) -> Move:
        """How far the cells of a measure can go between neighbours."""
        return self.over.move(measure)

    def memory(self) -> Memory | None:
        """What a run will need; nothing where a register is not at hand."""
        return self.over.memory(self.measures, [self.began(step.name) for step in self.then])

    def refuse_too_large(self) -> None:
        """Stop a plan that does not fit this machine, before a ledger is charged or a register read."""
        self.over.refuse_unlistable(self.measures)
        if memory := self.memory():
            memory.refuse_over()

    @cached_property
    def answering(self) -> tuple[str, ...]:
        """The measures that answer: one for each statistic and universe, as one question has one answer."""
        if self.publish.answers:
            known = self._names
            for name in self.publish.answers:
                if name not in known:
                    raise PlanError(f"[publish] answers names '{name}', which this plan does not make.")
            return self.publish.answers
        read = {name for step in self.then for name in step.reads if not step.beside}
        plain = [measure for measure in self.measures if measure.name not in read]
        made = (step.name for step in self.then if step.name not in read)
        return (*made, *self.over.answering(plain))

"""Suppress: linked tables of true totals, and by which rules their cells are withheld; what `[suppress]` says.

Rules whose parameters readers must not know, and the contributors that have agreed, stand in a file that stays inside:
the plan is published with its release, and names that file alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from sfumato.errors import PlanError, nearest
from sfumato.mechanisms.suppression import Suppression
from sfumato.plan.measure import Measure
from sfumato.plan.parts import SuppressPart
from sfumato.plan.plugins import statistic
from sfumato.plan.suppression_rules import RULES, SuppressionRules, read_inside
from sfumato.plan.weighed import Weighed
from sfumato.privacy import positive
from sfumato.schema import Schema, UpTo
from sfumato.statistics import Statistic


@dataclass(frozen=True)
class SuppressedMeasure:
    """What is published: a statistic, of some records where a universe says so."""

    name: str
    of: Statistic
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    title: str = ""


@dataclass(frozen=True)
class Suppress:
    """Tables, each a list of attributes at their depths, of the same measures; all are protected as one.

    `holding` is the column that names who must not be found out: an enterprise, whose establishments count as one.
    """

    by: tuple[tuple[str, ...], ...]
    measures: tuple[SuppressedMeasure, ...]
    holding: str | None = None
    rules: SuppressionRules = field(default_factory=SuppressionRules)
    inside: str = ""
    weight_step: Fraction = Fraction(1, 100)
    """What the weights of rows are whole multiples of, where [data] names a weight."""
    folder: Path = field(default=Path(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", tuple(map(tuple, self.by)))
        object.__setattr__(self, "measures", tuple(self.measures))
        if not self.by or not all(self.by):
            raise PlanError('[suppress] by lists tables, each of some attributes: by = [["naics", "area@0"]].')
        if not self.measures:
            raise PlanError("[suppress] publishes nothing; add a [[suppress.measure]] with name and of.")
        self._refuse_related()

    def _refuse_related(self) -> None:
        """Measures of one column are sums of one another, and are protected apart: one would tell the other's cells."""
        seen: dict[str | None, str] = {}
        for one in self.measures:
            column = one.of.contribution.column
            if (first := seen.setdefault(column, one.name)) != one.name:
                what = "counts" if column is None else f"of the column '{column}'"
                raise PlanError(
                    f"[suppress] publishes '{first}' and '{one.name}', both {what}: what one withholds could be worked "
                    "out of the other. Publish one of them, and what tells them apart as an attribute of its tables."
                )

    @property
    def tables(self) -> UpTo:
        """The tables as a family, whichever is in no other."""
        return UpTo(len(self.by[0]), self.by[0], self.by[1:])

    def measured(self, weight: str | None = None, *, register: bool) -> tuple[Measure, ...]:
        """The measurements that it is, exact and therefore without a bound."""
        told = "its rules stay inside" if self.inside else self.rules.words()
        return tuple(
            Measure(one.name, of, self.tables, self._how(of, register, told), one.where, one.title)
            for one in self.measures
            for of in [Weighed(one.of, weight, self.weight_step) if weight else one.of]
        )

    def _how(self, of: Statistic, register: bool, told: str) -> Suppression:
        return Suppression(self.holding, register, told, of.weights if isinstance(of, Weighed) else None)

    def decided(self) -> SuppressionRules:
        """The rules with those that stay inside, where the file is at hand, as it is not beside a release."""
        if not self.at_hand or not self.inside:
            return self.rules
        return SuppressionRules.read(self.rules.to_dict() | read_inside(self.folder / self.inside))

    @property
    def at_hand(self) -> bool:
        """Whether all rules are: those that stay inside are not beside a release."""
        return not self.inside or (self.folder / self.inside).is_file()

    def refuse(self, schema: Schema, hidden_id: str | None, *, register: bool = False) -> None:
        """Names that are not there, contributors that nobody names, and weights of those who are all there."""
        rules = self.decided()
        if self.at_hand and not rules.any:
            raise PlanError(
                "[suppress] has no rule that a cell could break: with minimum = 1 nobody is too few. Give minimum = 3, "
                'p = "0.1" or dominance = [{ n = 1, k = "0.8" }].'
            )
        for name, code in (*rules.safe, *(pair for one in rules.forced for pair in one)):
            known = schema.attribute(name).levels.codes
            if code not in known:
                raise PlanError(f"[suppress] names {name} '{code}', which is no level of it; {nearest(code, known)}")
        if self.holding is None and hidden_id is None:
            raise PlanError(
                "[suppress] does not say who a contributor is: give holding, the column that names the enterprise, or "
                "[hidden] id."
            )
        if schema.weight is not None and register:
            raise PlanError(
                "[suppress] over a [frame] publishes what units of the register report, each once, and [data] names a "
                "weight; leave it out, or give the plan of a sample without the frame."
            )

    def refuse_absent(self) -> None:
        """Say so before anything is read where the rules that stay inside are not at hand."""
        if not self.at_hand:
            raise PlanError(
                f"The rules of [suppress] are in {self.inside}, which is not beside the plan; a release holds the plan "
                "and not them."
            )


def read_suppress(part: SuppressPart, folder: Path) -> Suppress:
    """What a plan file says of it; the paths in it are taken from the folder of that one."""
    rules = {name: value for name, value in dict(part).items() if name in RULES and value is not None}
    measures = []
    for one in part.measure:
        try:
            measures.append(SuppressedMeasure(one.name, statistic(one.of), dict(one.where), one.title))  # type: ignore[arg-type]
        except PlanError as error:
            raise PlanError(f"[[suppress.measure]] '{one.name}': {error}") from None
    by, step = tuple(map(tuple, part.by)), positive(part.weight_step, "[suppress] weight_step")
    return Suppress(by, tuple(measures), part.holding, SuppressionRules.read(rules), part.inside, step, folder)

"""Schema: everything about the microdata that may be talked about without looking at them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from sfumato.errors import PlanError, nearest
from sfumato.schema.aggregates import Clipped
from sfumato.schema.attributes import Attribute, Rule
from sfumato.schema.level import Level
from sfumato.schema.replication import SUCCESSIVE, Replication
from sfumato.schema.table import Table, rules_of

ENCODINGS = ("utf-8", "latin-1")
"""How the letters of text files may be written; without a word, those of texts are UTF-8."""
BASE, ADJUSTED = WEIGHT_KINDS = ("base", "adjusted")
"""Weights of the design alone, and weights adjusted with other records: for non-response, or calibrated to totals."""


@dataclass(frozen=True)
class Partner:
    """A table that rows are looked up in: many of them find one row of it, by a column that both have."""

    name: str
    on: str


@dataclass(frozen=True)
class Schema:
    """The attributes of the records, what a record is, its weights, and which combinations cannot be."""

    attributes: tuple[Attribute, ...]
    unit: str = "record"
    key: tuple[str, ...] = ()
    """The columns that together name a record, where some do: no two records have the same in all of them."""
    repeated_rows: bool = False
    impossible: tuple[Rule, ...] = ()
    weight: str | None = None
    weight_kind: str = ""
    """Whether weights are those of the design alone (`base`) or were adjusted; empty where the plan does not say."""
    weight_clip: tuple[Fraction, Fraction] | None = None
    """Between which bounds the weight of a record counts in a weighted number."""
    weight_step: Fraction = Fraction(1)
    """The step that weights are rounded to in a weighted number."""
    replicates: tuple[str, ...] = ()
    order: str | None = None
    replicate_count: int = 80
    replication: Replication = SUCCESSIVE
    base: str = ""
    joined: tuple[Partner, ...] = ()
    encoding: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", _columns(self.key))
        object.__setattr__(self, "weight_clip", _fractions(self.weight_clip))
        object.__setattr__(self, "weight_step", Fraction(self.weight_step))
        self._refuse_design()
        self._refuse_tables()
        if self.encoding not in {None, *ENCODINGS}:
            raise PlanError(f"[data] encoding is '{self.encoding}'; {nearest(str(self.encoding), ENCODINGS)}")
        self._refuse_alike()
        names = [attribute.name for attribute in self.attributes]
        for name in names:
            if names.count(name) > 1:
                raise PlanError(f"The attribute '{name}' is declared twice.")
        for rule in self.impossible:
            if not rule.where:
                raise PlanError(
                    "An impossible combination names no attribute, so nothing would be possible; name some."
                )
            for name, levels in rule.where:
                try:
                    self.attribute(name).levels.mask(levels)
                except KeyError as error:
                    raise PlanError(f"The impossible combination over '{name}': {error.args[0]}") from None

    def _refuse_alike(self) -> None:
        """Two codes that differ by the space around them could not be asked for apart."""
        for attribute in self.attributes:
            codes = attribute.levels.codes
            if len({code.strip() for code in codes}) < len(codes):
                twice = Counter(code.strip() for code in codes).most_common(1)[0][0]
                raise PlanError(
                    f"Attribute '{attribute.name}' has codes that differ from '{twice}' by the space around it alone; "
                    "readers could not ask for one and not the other. Write them apart, and read the data by `recode`."
                )

    def _refuse_design(self) -> None:
        """A sample has a weight; its replicate weights are given, or built from the order of selection, not both."""
        if self.weight is None and (self.replicates or self.order):
            raise PlanError("[data] names replicates or an order and no weight; name the column of the weight.")
        if self.replicates and self.order:
            raise PlanError(
                "[data] names both replicates and an order; replicate weights are given or built, not both."
            )
        self._refuse_weight()
        columns = [self.weight, *self.replicates]
        if len(set(columns)) != len(columns):
            raise PlanError(
                "[data] names a column of weights twice; the weight and each replicate are columns of their own."
            )
        if self.order is not None and self.replication != SUCCESSIVE:
            raise PlanError(
                "[data] builds replicates from an order of selection, which is successive difference replication; "
                "another method has columns of its own: name them as replicates, in place of the order."
            )
        if self.replication != SUCCESSIVE and not self.replicates:
            raise PlanError("[data] has a method and no replicates that it is of; name the columns of the replicates.")
        if self.replicates:
            self.replication.refuse(len(self.replicates))

    def _refuse_weight(self) -> None:
        """A weight is of a kind that is known, and 0 or more in weighted numbers."""
        if self.weight is None and (self.weight_kind or self.weight_clip):
            raise PlanError("[data] has weight_kind or weight_clip and no weight. Set the weight column.")
        if self.weight_kind not in {"", *WEIGHT_KINDS}:
            raise PlanError(f"[data] weight_kind is '{self.weight_kind}'; {nearest(self.weight_kind, WEIGHT_KINDS)}")
        _ = self.weighting

    @cached_property
    def weighting(self) -> Clipped | None:
        """The weight of a record as it counts in a weighted number; none where the plan gives it no bounds."""
        if self.weight is None or self.weight_clip is None:
            return None
        low, high = self.weight_clip
        if not 0 <= low < high:
            raise PlanError(f"[data] weight_clip runs from {low} to {high}; it starts at 0 or more, and rises.")
        if self.weight_step <= 0 or any((bound / self.weight_step).denominator != 1 for bound in (low, high)):
            raise PlanError(
                f"[data] weight_clip, {low} to {high}, is not in whole steps of weight_step, {self.weight_step}. "
                "Choose bounds that are multiples of the step."
            )
        return Clipped(self.weight, low, high, self.weight_step)

    def _refuse_tables(self) -> None:
        """Where rows are looked up in other tables, all tables have a name, and each its own."""
        if self.joined and not (self.base and all(one.name and one.on for one in self.joined)):
            raise PlanError(
                "[data.tables] names the table of the rows, without `on`, and those they are looked up in, each with "
                '`on`, the column that both have: for example jobs = {} and workers = { on = "worker_id" }.'
            )
        if len(set(self.tables)) != len(self.tables):
            raise PlanError("[data.tables] names a table twice; each has a name of its own.")

    @property
    def flat(self) -> "Schema":
        """The same of rows that have all columns themselves."""
        return replace(self, base="", joined=())

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables, that of the rows first; one without a name where the rows are all there is."""
        return (self.base, *(one.name for one in self.joined))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    def attribute(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise PlanError(f"'{name}' is not an attribute of this plan; {nearest(name, self.names)}")

    def level(self, written: str) -> Level:
        """An attribute at a depth, as in `naics@3`."""
        level = Level.read(written)
        return level.within(self.attribute(level.name))

    def table(self, by: Sequence[str]) -> Table:
        """The table by some attributes, each at a depth, less the combinations that cannot be."""
        levels = [self.level(written) for written in by]
        if len({level.name for level in levels}) != len(levels):
            raise PlanError(f"A table by {', '.join(by)} names an attribute twice.")
        attributes = tuple(level.of(self.attribute(level.name)) for level in levels)
        return Table(attributes, rules_of(self.impossible, attributes))


def _columns(key: object) -> tuple[str, ...]:
    """The columns of a key, of one or of several."""
    columns = () if not key else (key,) if isinstance(key, str) else tuple(key)  # type: ignore[arg-type]
    if len(set(columns)) < len(columns):
        raise PlanError(f"[data] key names a column twice: {', '.join(columns)}; name each once.")
    return columns


def _fractions(bounds: Sequence[Fraction | int | str] | None) -> tuple[Fraction, Fraction] | None:
    """Two bounds, exactly, where there are some; floats are refused, as they are not exact."""
    if bounds is None:
        return None
    if isinstance(bounds, str) or len(bounds) != 2 or any(isinstance(bound, float) for bound in bounds):
        raise PlanError('[data] weight_clip is a lowest and a highest weight, for example weight_clip = ["0", "1500"].')
    return Fraction(bounds[0]), Fraction(bounds[1])

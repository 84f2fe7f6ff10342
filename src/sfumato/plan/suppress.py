"""Suppress: linked tables of true totals, and by which rules their cells are withheld; what `[suppress]` says.

Rules whose parameters readers must not know, and the contributors that have agreed, stand in a file that stays inside:
the plan is published with its release, and names that file alone.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.errors import PlanError, nearest
from sfumato.mechanisms.suppression import Suppression
from sfumato.plan.measure import Measure
from sfumato.plan.parts import SuppressPart
from sfumato.plan.plugins import statistic
from sfumato.privacy import exact, plain
from sfumato.schema import Schema, UpTo
from sfumato.statistics import Statistic

COSTS = ("value", "log", "count")
"""What a missing cell costs: its value, the logarithm of it, or one whatever it holds."""
MOST_LARGEST = 20
"""The deepest dominance rule: how many of a cell's largest contributions may be looked at."""


@dataclass(frozen=True)
class SuppressionRules:
    """Fewer holdings than `minimum`, the p% rule, and dominance of the n largest above a share k of a cell.

    A cell of few holdings must stay uncertain by a share `margin` of it. Codes in `safe` stand for no answer; cells in
    `forced` are published whatever they tell, and so are those of holdings that are `waived`. Cells are protected from
    `contributors` too, who know what they have themselves, unless that takes too long.
    """

    minimum: int = 3
    p: Fraction | None = None
    dominance: tuple[tuple[int, Fraction], ...] = ()
    margin: Fraction = Fraction(1, 10)
    safe: tuple[tuple[str, str], ...] = ()
    waived: tuple[str, ...] = ()
    forced: tuple[tuple[tuple[str, str], ...], ...] = ()
    cost: str = "value"
    contributors: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.minimum, bool) or not isinstance(self.minimum, int) or self.minimum < 1:
            raise PlanError(f"[suppress] minimum is {self.minimum!r}; it is a number of contributors, as a rule 3.")
        shares = {"p": self.p, "margin": self.margin, **{f"k of n = {n}": k for n, k in self.dominance}}
        for name, share in shares.items():
            if share is not None and not 0 < share < 1:
                raise PlanError(f"[suppress] {name} is {plain(share)}; it is a share between 0 and 1, for example 0.1.")
        if any(not 1 <= n <= MOST_LARGEST for n, _ in self.dominance):
            raise PlanError(f"[suppress] dominance is of 1 to {MOST_LARGEST} of the largest contributors of a cell.")
        if self.cost not in COSTS:
            raise PlanError(f"[suppress] cost is '{self.cost}'; {nearest(self.cost, COSTS)}")

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> "SuppressionRules":
        """Rules as TOML has them: p = "0.1", dominance = [{ n = 1, k = "0.8" }], safe = { size = "unknown" }."""
        given: dict[str, Any] = dict(written)
        for name in ("p", "margin"):
            if name in given:
                given[name] = exact(given[name], f"[suppress] {name}")
        if "dominance" in given:
            given["dominance"] = tuple(_dominance(one) for one in given["dominance"])
        given["safe"] = tuple(given.get("safe", {}).items())
        given["waived"] = tuple(map(str, given.get("waived", ())))
        given["forced"] = tuple(
            tuple((name, str(code)) for name, code in one.items()) for one in given.get("forced", ())
        )
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """The rules as TOML has them, less those that nobody gave."""
        said: dict[str, Any] = {"minimum": self.minimum}
        said |= {} if self.p is None else {"p": plain(self.p)}
        said |= {"dominance": [{"n": n, "k": plain(k)} for n, k in self.dominance]} if self.dominance else {}
        said |= {} if self.margin == Fraction(1, 10) else {"margin": plain(self.margin)}
        said |= {"safe": dict(self.safe)} if self.safe else {}
        said |= {"waived": list(self.waived)} if self.waived else {}
        said |= {"forced": [dict(one) for one in self.forced]} if self.forced else {}
        said |= {} if self.cost == "value" else {"cost": self.cost}
        return said | ({} if self.contributors else {"contributors": False})

    def words(self) -> str:
        """Rules as readers are told them."""
        said = [f"fewer than {self.minimum} contributors"] if self.minimum > 1 else []
        said += [] if self.p is None else [f"the {plain(100 * self.p)}% rule"]
        said += [f"the {n} largest above {plain(100 * k)}%" for n, k in self.dominance]
        return ", ".join(said)


RULES = tuple(SuppressionRules.__dataclass_fields__)


def _dominance(written: Any) -> tuple[int, Fraction]:
    if not isinstance(written, Mapping) or {*written} != {"n", "k"} or not isinstance(written["n"], int):
        raise PlanError('[suppress] dominance is a list of rules, for example [{ n = 1, k = "0.8" }].')
    return written["n"], exact(written["k"], "[suppress] k")


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

    def measured(self, *, register: bool) -> tuple[Measure, ...]:
        """The measurements that it is, exact and therefore without a bound."""
        told = "its rules stay inside" if self.inside else self.rules.words()
        how = Suppression(self.holding, register, told)
        return tuple(Measure(one.name, one.of, self.tables, how, one.where, one.title) for one in self.measures)

    def decided(self) -> SuppressionRules:
        """The rules with those that stay inside, where the file is at hand, as it is not beside a release."""
        path = self.folder / self.inside
        if not self.inside or not path.is_file():
            return self.rules
        try:
            written = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
        except (OSError, ValueError):
            raise PlanError(f"[suppress] inside: {path} cannot be read as TOML in UTF-8.") from None
        for key in written:
            if key not in RULES:
                raise PlanError(f"{path} has no key '{key}'; {nearest(key, RULES)}")
        return SuppressionRules.read(self.rules.to_dict() | written)

    def refuse(self, schema: Schema, hidden_id: str | None) -> None:
        """Names that are not there, contributors that nobody names, and weights, which need a rule of their own."""
        rules = self.decided()
        for name, code in (*rules.safe, *(pair for one in rules.forced for pair in one)):
            known = schema.attribute(name).levels.codes
            if code not in known:
                raise PlanError(f"[suppress] names {name} '{code}', which is no level of it; {nearest(code, known)}")
        if self.holding is None and hidden_id is None:
            raise PlanError(
                "[suppress] does not say who a contributor is: give holding, the column that names the enterprise, or "
                "[hidden] id."
            )
        if schema.weight is not None:
            raise PlanError(
                "[suppress] publishes what rows add up to, and [data] names a weight; suppress a table of weighted "
                "totals that was made elsewhere with `sfumato suppress table`."
            )

    def refuse_absent(self) -> None:
        """Say so before anything is read where the rules that stay inside are not at hand."""
        if self.inside and not (self.folder / self.inside).is_file():
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
    by = tuple(map(tuple, part.by))
    return Suppress(by, tuple(measures), part.holding, SuppressionRules.read(rules), part.inside, folder)

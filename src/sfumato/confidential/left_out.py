"""Left out: the rows and the money that `at_most` takes, and names that look like a code for none.

For the agency alone. A bound is a public decision, and one that is read off the data gives a value away.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from sfumato.confidential.clips import universe_box
from sfumato.confidential.engines.choose import opened
from sfumato.confidential.engines.engine import Engine
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed, scrubbed
from sfumato.confidential.tabulate import reading
from sfumato.errors import how_many
from sfumato.plan import Measure, Plan
from sfumato.schema import Box, Clipped, Largest, Rows, Sum, Table

WHOLE = Table(())
NO_CODE = re.compile(
    r"|0+|-?9+|-1|[-.?]+|n\.?/?a\.?|nan|null|nil|none|missing|unknown|keine?|ohne|unbekannt", re.IGNORECASE
)
"""Names that often stand where there is none."""
MOST_LOOKED, MOST_NAMED = 10_000, 5
"""How many crowded names are looked at, and how many are listed."""
DIGITS_FROM, FAR_ABOVE, FAR_AHEAD = 3, 20, 5
"""How many times `at_most` a suspected name of digits stands, or any name; or how many times the next name."""
ADVICE = "Choose at_most from public knowledge: a bound that is read off the data gives a value away."


@dataclass(frozen=True, eq=False, repr=False)
class MoneyLeftOut(Sealed):
    """The sum of a measure over all its rows, within its clip, and over those that `at_most` leaves."""

    measure: str
    unit: str
    total: float
    kept: float

    @property
    def words(self) -> str:
        share = f", {1 - self.kept / self.total:.2g} of it" if self.total else ""
        return f"'{self.measure}' loses {self.total - self.kept:,.12g} of {self.total:,.12g} {self.unit}{share}"

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        return {"measure": self.measure, "unit": self.unit, "total": self.total, "left_out": self.total - self.kept}


@dataclass(frozen=True, eq=False, repr=False)
class LeftOut(Sealed):
    """The rows that `at_most` leaves out, what they hold, and the names that stand in suspiciously many rows."""

    column: str
    at_most: int
    rows: int
    left_out: int
    money: tuple[MoneyLeftOut, ...]
    suspects: tuple[tuple[str, int], ...]

    @property
    def words(self) -> str:
        """What `at_most` takes; nothing where it takes no row."""
        if not self.left_out:
            return ""
        share = f"{self.left_out / self.rows:.2g} of them"
        lost = "; ".join(part.words for part in self.money)
        said = f"at_most = {self.at_most} leaves out {self.left_out:,} of {how_many(self.rows, 'row')}, {share}."
        said += f" {lost}, by another draw of the rows than a run makes." if lost else ""
        return f"{said}{self._suspicion} {ADVICE}"

    @property
    def _suspicion(self) -> str:
        if not self.suspects:
            return ""
        listed = ", ".join(f"{name!r} in {how_many(rows, 'row')}" for name, rows in self.suspects)
        return (
            f" In '{self.column}' these names may be codes for none: {listed}. All rows of such a name count as one "
            "unit; if it means none, give each of its rows a name of its own, or leave these rows out, and say so."
        )

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        told = {"column": self.column, "at_most": self.at_most, "rows": self.rows, "rows_left_out": self.left_out}
        suspects = [{"name": name, "rows": rows} for name, rows in self.suspects]
        money = [part.to_dict() for part in self.money]
        return told | {"measures": money, "may_mean_none": suspects, "words": self.words}


def left_out(plan: Plan, microdata: Microdata) -> LeftOut | None:
    """What `at_most` takes of the data; None where the plan bounds no rows of a unit, or there are none."""
    limit = reading(plan).truncation
    if limit is None:
        return None
    summed = {measure.name: values for measure in plan.measures if (values := _summed(measure))}
    asked = (Rows(), *dict.fromkeys(Sum(value) for values in summed.values() for value in values))
    names = dict.fromkeys(name for measure in plan.measures for name in universe_box(plan, measure).masks)
    # An engine of somebody else may count rows by what it reads of an attribute, so one is read at least.
    attributes = tuple(plan.schema.attribute(name) for name in names) or plan.over.read(plan.measures)[:1]
    kept = Reading(plan.schema, attributes, asked, id=plan.over.id, truncation=limit)
    crowding = (*asked, Largest(per=limit.column))
    whole = replace(kept, aggregates=crowding, truncation=None, others=(limit.column,))
    with closing(_opened(whole, microdata)) as engine:
        if not (rows := _count(engine)):
            return None
        totals, crowded = _sums(plan, summed, engine), engine.crowds(limit.column, limit.at_most, MOST_LOOKED)[1]
    with closing(_opened(kept, microdata)) as engine:
        rows_kept, parts = _count(engine), _sums(plan, summed, engine)
    money = tuple(
        MoneyLeftOut(measure.name, measure.of.unit, total, part)
        for (measure, total), (_, part) in zip(totals, parts, strict=True)
    )
    return LeftOut(limit.column, limit.at_most, rows, rows - rows_kept, money, suspects(crowded, limit.at_most))


def suspects(crowded: Sequence[tuple[str, int]], at_most: int) -> tuple[tuple[str, int], ...]:
    """The crowded names that look like a code for none, or that stand far more often than `at_most` or the next name.

    >>> suspects([("0", 900), ("4711", 12), ("NA", 4), ("99", 4)], 3)
    (('0', 900), ('NA', 4))
    >>> suspects([("4711", 40), ("4712", 39)], 3), suspects([("4711", 500), ("4712", 39)], 3)
    ((), (('4711', 500),))
    """
    found = []
    for place, (name, rows) in enumerate(crowded):
        following = crowded[place + 1][1] if place + 1 < len(crowded) else at_most
        digits = any(map(str.isdigit, name))
        looks = NO_CODE.fullmatch(name.strip()) and (not digits or rows >= DIGITS_FROM * at_most)
        if looks or rows >= FAR_ABOVE * at_most or (place == 0 and rows >= FAR_AHEAD * following > 0):
            found.append((name, rows))
    return tuple(found[:MOST_NAMED])


def _opened(need: Reading, microdata: Microdata) -> Engine:
    engine, _ = scrubbed(opened, microdata.sources, need, b"", microdata.engine, microdata.spill)
    return engine


def _count(engine: Engine) -> int:
    return int(engine.aggregate(WHOLE, (Rows(),), Box())[Rows()].item())


def _summed(measure: Measure) -> tuple[Clipped, ...]:
    """The values, within bounds, that a total sums as they are."""
    bounds = measure.of.value_bounds
    if not measure.of.additive or bounds is None or bounds.power != 1:
        return ()
    values = (value for one in measure.of.aggregates if isinstance(one, Sum) for value in one.values)
    return tuple(value for value in values if isinstance(value, Clipped))


def _sums(plan: Plan, summed: Mapping[str, tuple[Clipped, ...]], engine: Engine) -> list[tuple[Measure, float]]:
    """What every value sums to over all rows of its measure, in its unit."""
    sums = []
    for measure in plan.measures:
        for value in summed.get(measure.name, ()):
            columns = engine.aggregate(WHOLE, (Sum(value),), universe_box(plan, measure))
            sums.append((measure, float(int(columns[Sum(value)].item()) * value.step)))
    return sums

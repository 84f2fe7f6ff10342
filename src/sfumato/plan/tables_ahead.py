"""Tables ahead: how exact the cells of a family of tables will be, known before any data are read."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from sfumato.errors import PlanError
from sfumato.plan.decisions import Decisions
from sfumato.plan.margins import typical
from sfumato.plan.measure import Measure
from sfumato.schema import Family, UpTo

MOST_TOGETHER, MOST_COMPONENTS = 12, 4096
"""Up to how many variables, and choices of their levels, it is worked out what all of them together would cost."""
MET = 1 + 1e-6
"""Up to how many times its target a standard error meets it."""
EVEN = 1.05
"""Up to how many times the least the standard errors of cells may be that are told as one."""


@dataclass(frozen=True)
class TablesAhead:
    """The standard error of a cell by how many variables its table has, and what is wanted of which tables."""

    measure: str
    up_to: int
    by_ways: Mapping[int, float]
    wanted: Mapping[str, tuple[float, float]]
    """For each target the standard error that a cell has, at the most, and the one that it is to have."""
    together: tuple[int, float, float] | None
    """All the variables, the variance of a cell if they were told apart together, and what it is as it is."""
    bounds: bool = False
    """Whether no cell need have all of these errors, as there are too many kinds of cells to find the noisiest."""

    @property
    def even(self) -> bool:
        return max(self.by_ways.values()) <= EVEN * min(self.by_ways.values())

    @property
    def met(self) -> bool:
        return all(error <= MET * target for error, target in self.wanted.values())

    def words(self) -> list[str]:
        """What is known beforehand, a sentence a line."""
        others = ", and of those named beside" if max(self.by_ways) > self.up_to else ""
        tables = f"every cell of every table of up to {self.up_to} variable{'s' if self.up_to > 1 else ''}{others}"
        ways = ", ".join(f"{_short(error)} ({count or 'the total'})" for count, error in self.by_ways.items())
        least, most = (_short(pick(self.by_ways.values())) for pick in (min, max))
        rounded = f", up to {most} as it is rounded" if most != least else ""
        bound = " (a bound: there are too many kinds of cells to find the noisiest)" if self.bounds else ""
        lines = [
            f"{tables}: SD {least}{rounded}{bound}."
            if self.even
            else f"{tables}, by the number of variables: SD {ways}{bound}."
        ]
        if self.together:
            count, other, now = self.together
            lines.append(
                f"all {count} variables together would have variance {_short(other)} instead of {_short(now)}."
            )
        if self.wanted:
            said = "; ".join(f"{name}: {_beside(one, to)}" for name, (one, to) in self.wanted.items())
            verdict = "is met" if self.met else f"is not met; budget --target {self.measure}=aim finds what would do"
            lines.append(f"its aim {verdict}. SD, at the most, for what is wanted: {said}.")
        return [f"{self.measure}: {line}" for line in lines]

    def to_dict(self) -> dict[str, Any]:
        said = {"up_to": self.up_to, "standard_error_by_variables": {str(at): one for at, one in self.by_ways.items()}}
        wanted = {name: {"standard_error": one, "wanted": to} for name, (one, to) in self.wanted.items()}
        aim = {"aim": wanted, "aim_met": self.met} if wanted else {}
        named = dict(zip(("variables", "variance", "instead_of"), self.together, strict=True)) if self.together else {}
        return said | aim | ({"all_together": named} if named else {}) | ({"bounds": True} if self.bounds else {})


def tables_ahead(plan: Decisions, measure: Measure) -> TablesAhead | None:
    """What is known of the tables of a measure; nothing where it is of one table, or has no noise."""
    if not isinstance(measure.by, UpTo) or measure.with_.suppresses:
        return None
    move, number = plan.move(measure), typical(plan, measure)
    by_ways = measure.with_.by_ways(move, number)
    wanted = measure.with_.wanted(move, number)
    ways, bounds = dict(sorted(by_ways.items())), measure.with_.bounds(move)
    found = TablesAhead(measure.name, measure.by.up_to, ways, wanted, None, bounds)
    return replace(found, together=_together(plan, measure, found)) if found.even and not wanted else found


def _together(plan: Decisions, measure: Measure, found: TablesAhead) -> tuple[int, float, float] | None:
    """What the total would have if all variables were told apart together; none where it takes long to say."""
    by = measure.by
    assert isinstance(by, UpTo)  # noqa: S101 - the measure is of several tables
    if by.up_to == len(by.of) or len(by.of) > MOST_TOGETHER:
        return None
    wider = replace(measure, by=UpTo(len(by.of), by.of))
    try:
        family = plan.over.domain(wider)
        assert isinstance(family, Family)  # noqa: S101
        if prod(tree.depth + 1 for tree in family.trees) > MOST_COMPONENTS:
            return None
        error = measure.with_.by_ways(plan.move(wider), typical(plan, measure))[0]
    except PlanError:  # some of them cannot be told apart together
        return None
    return len(by.of), error**2, found.by_ways[0] ** 2


def _short(number: float, digits: int = 3) -> str:
    return f"{number:,.{digits - 3}f}" if number >= 1000 else f"{number:.{digits}g}"


def _beside(error: float, target: float) -> str:
    """An error and what it is to be, with the digits that tell it from a target that it misses.

    >>> _beside(1.0001, 1), _beside(1.0000001, 1), _beside(2000.4, 2000)
    ('1.0001 for 1', '1 for 1', '2,000.4 for 2,000.0')
    """
    missed = error > MET * target
    told = ((_short(error, digits), _short(target, digits)) for digits in range(3, 10))
    return " for ".join(next(both for both in told if both[0] != both[1] or not missed))

"""Primary rules: which cells tell too much about one holding, and how uncertain each of them must stay."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.confidential.sealed import Sealed
from sfumato.confidential.suppress.contributions import Contributions
from sfumato.errors import PlanError
from sfumato.suppression import Flags, Floats, Integers, LinkedTables

FEW, P_PERCENT, DOMINATED, GIVEN = "minimum", "p-percent", "dominance", "given"
"""The rules that a cell can break; what was found unsafe elsewhere is given."""


@dataclass(frozen=True)
class PrimaryRules:
    """Fewer holdings than `minimum`; R < p X1; or the n largest hold more than a share k: then a cell is sensitive.

    R is what remains of a cell without its two largest holdings, so that R < p X1 lets the second know the first to
    within p. A cell must stay uncertain by p X1 - R upwards, or by what makes its n largest k of it; one of few
    holdings by `margin` of its total. Downwards the same. No need is below `least`, a unit of the published numbers.
    Where it is public what a `record` adds at least, the interval of a cell of few holdings must also reach what enough
    records add at least, so that it does not say that the cell has too few.
    """

    minimum: int = 3
    p: Fraction | None = None
    dominance: tuple[tuple[int, Fraction], ...] = ()
    margin: Fraction = Fraction(1, 10)
    least: float = 1.0
    record: float = 0.0
    """What a record adds at least, where that is public: 1 to a count."""
    safe: tuple[tuple[str, str], ...] = ()
    """Codes of attributes that stand for no answer: nobody is known to be in such a cell, so it is safe."""

    def __post_init__(self) -> None:
        if self.p is not None and not 0 < self.p < 1:
            raise PlanError(f"The p% rule has p = {self.p}; give a share between 0 and 1, for example 1/10.")
        for largest, share in self.dominance:
            if largest < 1 or not 0 < share < 1:
                raise PlanError(f"A dominance rule has n = {largest}, k = {share}; give n from 1 on and k under 1.")
        if self.minimum < 1 or not self.margin > 0 or self.least <= 0:
            raise PlanError("minimum is at least 1, and margin and least are above 0; a need of 0 protects nothing.")

    @property
    def any(self) -> bool:
        """Whether a cell that somebody is in could break one."""
        return self.minimum > 1 or self.p is not None or bool(self.dominance)

    def words(self, rule: str) -> str:
        """A rule as a reader of a missing cell is told it."""
        if rule == FEW:
            return f"fewer than {self.minimum} contributors"
        if rule == P_PERCENT and self.p is not None:
            return f"the {float(100 * self.p):g}% rule"
        if rule == DOMINATED:
            told = " or ".join(f"the {n} largest above {float(100 * k):g}%" for n, k in self.dominance)
            return f"dominance: {told}"
        if rule == GIVEN:
            return "found sensitive elsewhere"
        raise PlanError(f"There is no primary rule '{rule}'; there are {FEW}, {P_PERCENT}, {DOMINATED} and {GIVEN}.")


class Needs(Sealed):
    """Of every cell how far an attacker's interval must reach above and below it, and the rule that says so."""

    def __init__(
        self,
        upper: Floats,
        lower: Floats,
        rules: Sequence[str],
        waived: Flags | None = None,
        others: Floats | None = None,
    ) -> None:
        self.upper, self.lower, self.rules = upper, lower, tuple(rules)
        self.others = np.zeros(len(upper)) if others is None else others
        """What a cell must stay uncertain by to contributors of other cells, by all rules but p%."""
        self.waived = np.zeros(len(upper), dtype=bool) if waived is None else waived
        """Cells that break a rule about holdings that have all agreed."""

    @property
    def primary(self) -> Flags:
        return np.array([bool(rule) for rule in self.rules], dtype=bool)


def needs(linked: LinkedTables, cells: Contributions, rules: PrimaryRules) -> Needs:
    """What the rules ask of every cell."""
    if rules.p is not None and cells.listed == 1:
        raise PlanError("The p% rule looks at the two largest contributions, and only one a cell is known; give both.")
    deepest = max((n for n, _ in rules.dominance), default=0)
    if cells.listed is not None and deepest > cells.listed:
        raise PlanError(f"A dominance rule looks at {deepest} contributions, and {cells.listed} a cell are known.")
    safe = np.zeros(linked.size, dtype=bool)
    for name, code in rules.safe:
        safe |= np.array(linked.column(name)) == code
    return needs_of(cells, rules, safe)


def needs_of(cells: Contributions, rules: PrimaryRules, safe: Flags | None = None) -> Needs:
    """What the rules ask of cells by their contributions alone, save of those that are safe."""
    size = len(cells.totals)
    safe = np.zeros(size, dtype=bool) if safe is None else safe
    found = [(FEW, *_few(cells, rules))]
    found += [(P_PERCENT, *_p_percent(cells, rules.p))] if rules.p is not None else []
    found += [(DOMINATED, *_dominated(cells, n, k)) for n, k in rules.dominance]
    named, amount = np.full(size, "", dtype=object), np.zeros(size)
    agreed, others = np.zeros(size, dtype=bool), np.zeros(size)
    for rule, broken, needed, waived in found:
        agreed |= broken & waived & ~safe
        mine = broken & ~waived & ~safe
        named[mine & (named == "")] = rule
        least = np.where(mine, np.maximum(needed, rules.least), 0)
        amount = np.maximum(amount, least)
        others = others if rule == P_PERCENT else np.maximum(others, least)
    enough = np.where(named == FEW, rules.minimum * rules.record - cells.totals, 0)
    upper, others = np.maximum(amount, enough), np.where(named == FEW, np.maximum(others, enough), others)
    return Needs(upper, amount, named.tolist(), agreed & (named == ""), others)


def _few(cells: Contributions, rules: PrimaryRules) -> tuple[Flags, Floats, Flags]:
    few = (cells.counts > 0) & (cells.counts < rules.minimum)
    return few, float(rules.margin) * cells.sizes, ~_any(cells, ~_agreed(cells))


def _p_percent(cells: Contributions, p: Fraction) -> tuple[Flags, Floats, Flags]:
    """R < p X1 for the largest that has not agreed, and the largest other, who may have."""
    target, other = cells.top
    rest = cells.sizes - target - other
    broken = (cells.counts > 0) & (p.denominator * rest < p.numerator * target)  # 0.07 * 100 is more than 7
    first = _first(cells, ~_agreed(cells))
    shielded = np.zeros(len(target))
    shielded[first >= 0] = np.abs(cells.amounts[first[first >= 0]])
    attacker = np.where((first >= 0) & (cells.rank[first] == 0), other, target)
    need = float(p) * shielded - (cells.sizes - shielded - attacker)
    return broken, need, need <= 0


def _dominated(cells: Contributions, largest: int, share: Fraction) -> tuple[Flags, Floats, Flags]:
    leading = cells.rank < largest
    sums = np.bincount(cells.cells[leading], np.abs(cells.amounts[leading]), len(cells.totals))
    broken = (cells.counts > 0) & (share.denominator * sums > share.numerator * cells.sizes)
    return broken, sums / float(share) - cells.sizes, ~_any(cells, leading & ~_agreed(cells))


def _agreed(cells: Contributions) -> Flags:
    return np.asarray(cells.waived[cells.holdings], dtype=bool)


def _any(cells: Contributions, entries: Flags) -> Flags:
    """Which cells have such a contribution; one whose contributions are not listed has."""
    listed = np.bincount(cells.cells, minlength=len(cells.totals))
    found = np.bincount(cells.cells, entries, len(cells.totals)) > 0
    return np.asarray(found | (listed == 0), dtype=bool)


def _first(cells: Contributions, entries: Flags) -> Integers:
    """Of each cell the place of its first such contribution, -1 where it has none."""
    found = np.full(len(cells.totals), -1, dtype=np.int64)
    places = np.flatnonzero(entries)[::-1]
    found[cells.cells[places]] = places
    return found

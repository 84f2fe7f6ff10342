"""Audit: a lower bound on the loss of what is really published, from samples alone.

Two neighbouring datasets are tabulated by the plan's own engine and perturbed many times by its own mechanisms. Each
view of what comes out gives a lower bound on the loss (proofs in `evidence`); all bounds of one audit hold together with
a chance of 99%. A bound above the claim shows that the claim is false. A bound far below what the stated law loses in
that view shows nothing, and is said to be too weak to count.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.confidential.evidence import bound, visible
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.pairs import neighbours_of
from sfumato.confidential.tabulate import Tabulation
from sfumato.confidential.views import Integers, View, Watched, weighed_by_law
from sfumato.draws import Draws, SeededDraws, SystemDraws
from sfumato.errors import PromiseError
from sfumato.mechanisms import Cells, Mechanism
from sfumato.plan import Plan
from sfumato.privacy import Approximate, Gaussian, Limit, Loss, Move, Unbounded
from sfumato.schema import Attribute, Levels, Rows, Table

CONFIDENCE = 0.99
STRONG = 0.85
MOST_MOVED, STILL = 6, 2
"""How many cells that differ, and how many that do not, are published again and again."""


@dataclass(frozen=True)
class Audit:
    """What one view proves: the loss is at least `bound`, where `claim` was promised and the law shows `exact`."""

    view: str
    claim: Limit
    bound: float
    exact: float
    samples: int

    @property
    def claimed(self) -> float:
        claim = self.claim
        if isinstance(claim, Approximate):
            return float(claim.epsilon)
        return claim.mu if isinstance(claim, Gaussian) else float(claim.rho)

    @property
    def holds(self) -> bool:
        """Whether the claim stands; a false alarm in any view of an audit has a chance of 1% at most."""
        return self.bound <= self.claimed

    @property
    def strong(self) -> bool:
        """Whether the bound is near enough to what the stated law loses here to count as evidence."""
        return self.bound >= STRONG * self.exact

    def words(self) -> str:
        """The finding as one sentence."""
        name = {"approximate": "epsilon", "gaussian": "mu", "concentrated": "rho"}[self.claim.kind]
        found = f"{self.view}: {name} at least {self.bound:.3g}, {self.claim.words()} claimed"
        if not self.holds:
            return f"{found}: THE CLAIM IS FALSE."
        if not self.strong:
            return f"{found}; too weak to count, as the law shows {self.exact:.3g} here."
        return f"{found}, the law shows {self.exact:.3g} here."

    def to_dict(self) -> dict[str, Any]:
        told = {"view": self.view, "claim": self.claim.words(), "claimed": self.claimed, "bound": self.bound}
        return told | {"exact": self.exact, "samples": self.samples, "holds": self.holds, "strong": self.strong}


def audit_mechanism(
    mechanism: Mechanism, move: Move, samples: int = 100_000, draws: Draws | None = None
) -> list[Audit]:
    """Audit a mechanism on the worst cells that a move allows: empty ones beside some of 5."""
    claim = _limit(mechanism.loss(move))
    shifts = worst_shifts(move, claim)
    values = np.array([*(0 for _ in shifts), 5, 5], dtype=np.int64)
    moved = values + np.array([*shifts, 0, 0])
    table = Table((Attribute("cell", Levels.of(range(len(values)))),))
    one, other = (Cells(table, {Rows(): column}, Fraction(1), move) for column in (moved, values))
    watched = Watched.of(mechanism, (one, other), np.arange(len(values)), samples, draws or SystemDraws())
    views = [*_plain_views(mechanism.name, watched), weighed_by_law(f"{mechanism.name}: all cells by the law", [watched])]
    return _audits([(view, claim) for view in views])


def worst_shifts(move: Move, claim: Limit) -> tuple[int, ...]:
    """All in one cell, or from one cell to another, whichever costs more by the norm that the claim scales to.

    >>> from sfumato.privacy import Bounded
    >>> worst_shifts(Bounded(2, 2, 2, 1), Approximate(1)), worst_shifts(Bounded(3, 3, 9, 3), Approximate(1))
    ((1, -1), (3,))
    """
    alone = (min(move.largest, math.isqrt(move.l2_squared)),)
    half = min(move.largest, move.l1 // 2, math.isqrt(move.l2_squared // 2))
    ways = [alone] + ([(half, -half)] if half and move.cells > 1 else [])
    power = 1 if isinstance(claim, Approximate) else 2
    return max(ways, key=lambda way: sum(abs(shift) ** power for shift in way))


def audit_plan(
    plan: Plan,
    one: Microdata | None = None,
    other: Microdata | None = None,
    samples: int = 100_000,
    draws: Draws | None = None,
) -> list[Audit]:
    """Audit every measure of a plan, and all together, on two neighbours; without data, on the worst pairs it allows."""
    draws, price = draws or SystemDraws(), plan.price()
    pairs = [(one, other)] if one is not None and other is not None else neighbours_of(plan)
    claims = {spend.measure: _limit(spend.loss) for spend in price.spends}
    views: list[tuple[View, Limit]] = []
    for number, (left, right) in enumerate(pairs, start=1):
        watched = _watched(plan, left, right, samples, draws)
        pair = f"pair {number}, " if len(pairs) > 1 else ""
        views += [(view, claims[name]) for name, one in watched.items() for view in _plain_views(f"{pair}{name}", one)]
        if watched:
            every = weighed_by_law(f"{pair}everything by the laws", list(watched.values()))
            views.append((every, _limit(price.total)))
    return _audits(views)


def _limit(loss: Loss) -> Limit:
    if isinstance(loss, Unbounded):
        raise PromiseError(f"There is no claim to audit, {loss.words()}.")
    return loss


def _watched(plan: Plan, one: Microdata, other: Microdata, samples: int, draws: Draws) -> dict[str, Watched]:
    """The cells of each measure that differ, and a few that do not; both sides keep the same rows of a unit."""
    seed = draws.bits(64)
    sides = [Tabulation(plan, data, SeededDraws(seed)) for data in (one, other)]
    watched = {}
    for measure in plan.measures:
        left, right = (side.cells(measure) for side in sides)
        places = _places(left, right)
        if len(places):
            watched[measure.name] = Watched.of(measure.with_, (left, right), places, samples, draws)
    return watched


def _places(one: Cells, other: Cells) -> Integers:
    apart = np.abs(one.values - other.values).ravel()
    order = np.argsort(-apart, kind="stable")
    moved = order[: min(MOST_MOVED, int(np.count_nonzero(apart)))]
    still = np.flatnonzero((apart == 0) & one.table.possible.ravel())
    return np.concatenate([moved, still[:STILL]]) if len(moved) else moved


def _plain_views(name: str, watched: Watched) -> list[View]:
    """A cell, the total of all that are watched, and the difference of two."""
    cells = len(watched.shifts)
    first, total = [1] + [0] * (cells - 1), [1] * cells
    views = [watched.weighed(f"{name}: a cell", first), watched.weighed(f"{name}: the total of {cells} cells", total)]
    if cells > 1:
        views.append(watched.weighed(f"{name}: the difference of two cells", [1, -1] + [0] * (cells - 2)))
    return views


def _audits(views: Sequence[tuple[View, Limit]]) -> list[Audit]:
    """Each view may be wrong with an equal share of the 1%."""
    alpha = (1 - CONFIDENCE) / max(len(views), 1)
    return [_audit(view, claim, alpha) for view, claim in views]


def _audit(view: View, claim: Limit, alpha: float) -> Audit:
    samples = len(view.one)
    exact = visible(view.law_one, view.law_other, claim, samples, alpha)
    return Audit(view.name, claim, bound(view.one, view.other, claim, alpha), exact, samples)

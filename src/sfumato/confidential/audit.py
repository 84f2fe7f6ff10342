"""Audit: a lower bound on the loss of what is really published, from samples alone.

Two neighbouring datasets are tabulated by the plan's own engine and perturbed many times by its own mechanisms. Each
view of what comes out gives a lower bound on the loss (proofs in `evidence`); all bounds of one audit hold together
with a chance of 99%. A bound above the claim shows that the claim is false. A bound far below what the stated law
loses in that view shows nothing, and is said to be too weak to count; a mechanism that states no law is held to its
claim alone, of which a bound of less than a tenth shows nothing either. Steps after a measurement are arithmetic on
what is audited here, so they lose nothing more; cells that such arithmetic leaves out are looked at too.
"""

import math
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.confidential.contract.roots import moved_rows
from sfumato.confidential.copies import published, watched_cells
from sfumato.confidential.evidence import bound, enough, visible
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.pairs import WorstPair, worst_pairs
from sfumato.confidential.tabulate import Tabulation
from sfumato.confidential.views import Seen, View, Watched, all_at_once, side_by_side
from sfumato.draws import Draws, SeededDraws, SystemDraws
from sfumato.errors import DataError, PlanError, PromiseError
from sfumato.mechanisms import Cells, Mechanism
from sfumato.plan import Plan
from sfumato.privacy import Approximate, Bounded, Gaussian, Limit, Loss, Move, Root, Unbounded, bounded
from sfumato.privacy.neighbours.square_root_within import worst_sizes
from sfumato.release import Product
from sfumato.release.certificate import verdict
from sfumato.schema import Attribute, Levels, Rows, Schema, Table

CONFIDENCE = 0.99
STRONG = 0.85
FEWEST, MOST = 1_000, 10_000_000
MOST_TIMES = 3
"""How many times as many samples are taken, at most, where there are several pairs."""
EVERYTHING = "everything"
"""The name of the view in which all measures are seen at once."""


@dataclass(frozen=True)
class Audit:
    """What one view proves: the loss is at least `bound`, where `claim` was promised and a stated law shows `exact`."""

    measure: str
    view: str
    claim: Limit
    bound: float
    exact: float | None
    samples: int

    @property
    def claimed(self) -> float:
        return self.claim.amount

    @property
    def holds(self) -> bool:
        """Whether the claim stands; a false alarm in any view of an audit has a chance of 1% at most."""
        return self.bound <= self.claimed

    @property
    def strong(self) -> bool | None:
        """Whether the bound is near enough to what the stated law loses here to count as evidence, if one is stated."""
        return None if self.exact is None else self.bound >= STRONG * self.exact

    @property
    def verdict(self) -> str:
        return verdict(self.bound, self.claimed, self.strong)

    def words(self) -> str:
        """The finding as one sentence."""
        law = "no law is stated" if self.exact is None else f"the law shows {self.exact:.3g}"
        least = f"{self.claim.currency} is at least {self.bound:.3g}"
        return f"{self.measure}, {self.view}: {least}, {self.claim.words()} is claimed, {law}: {self.verdict}."

    def row(self) -> list[str]:
        """The finding as a line of a table: measure, view, bound, claim, verdict."""
        return [self.measure, self.view, f"{self.bound:.3g}", self.claim.words(), self.verdict]

    def to_dict(self) -> dict[str, Any]:
        told = {"measure": self.measure, "view": self.view, "claim": self.claim.words(), "claimed": self.claimed}
        found = {"bound": self.bound, "exact": self.exact, "samples": self.samples}
        return told | found | {"holds": self.holds, "strong": self.strong}


def audit_mechanism(
    mechanism: Mechanism, move: Move, samples: int = 100_000, draws: Draws | None = None
) -> list[Audit]:
    """Audit a mechanism on the worst cells that a move allows: empty ones on one side, beside one of 5."""
    _refuse_few(samples)
    claim = _limit(mechanism.loss(move))
    if mechanism.needs((Rows(),)):
        raise PlanError(f"{mechanism.name} reads more of cells than their values; audit a plan that measures with it.")
    if isinstance(move, Root):
        return _rooted_audits(mechanism, move, claim, samples, draws or SystemDraws())
    still = np.array([0] * len(shifts := worst_shifts(bounded(move, mechanism.name), claim)) + [5], dtype=np.int64)
    table = Table((Attribute("cell", Levels.of(range(len(still)))),))
    columns = (still + np.array([*shifts, 0]), still)
    one, other = (Cells(table, column, Fraction(1), move) for column in columns)
    watched = Watched.of(mechanism.name, mechanism, (one, other), samples, draws or SystemDraws())
    return _watched_audits(mechanism.name, [watched], claim)


def _rooted_audits(mechanism: Mechanism, move: Root, claim: Limit, samples: int, draws: Draws) -> list[Audit]:
    """Rows of a firm, of two sizes that look alike, and one more; in one group, where the mechanism is given rows."""
    mu = claim.mu if isinstance(claim, Gaussian) else 1.0
    sizes = worst_sizes(move.beta, Fraction(1), mu / math.sqrt(move.units))
    sides, given = moved_rows(mechanism, move, sizes, Fraction(1), draws)
    return _watched_audits(
        mechanism.name, watched_cells(mechanism.name, mechanism, sides, samples, draws, given), claim
    )


def _watched_audits(name: str, watched: Sequence[Seen], claim: Limit) -> list[Audit]:
    views = [*(view for one in watched for view in one.plain), all_at_once(name, watched)]
    return _audits([(view, claim) for view in views])


def worst_shifts(move: Bounded, claim: Limit) -> tuple[int, ...]:
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
    samples: int | None = None,
    draws: Draws | None = None,
) -> list[Audit]:
    """Audit each measure of a plan, and all together, on two neighbours; without data, on the worst that it allows.

    Unless they are given, there are as many samples as show the least claim.
    """
    if samples is not None:
        _refuse_few(samples)
    draws, price = draws or SystemDraws(), plan.price()
    if one is None or other is None:
        plan = replace(plan, schema=_of_pairs(plan.schema))
    claims = {spend.measure: _limit(spend.loss) for spend in price.spends} | {EVERYTHING: _limit(price.total)}
    names = frozenset(measure.name for measure in plan.measures)
    pairs = worst_pairs(plan) if one is None or other is None else [WorstPair(one, other, names)]
    # Views of more pairs share the 1%, and each shows less of it.
    count = samples or min(len(pairs), MOST_TIMES) * max(map(enough, claims.values()))
    views = [view for pair in pairs for view in _views(plan, pair, count, draws)]
    return _audits([(view, claims[view.measure]) for view in views])


def _of_pairs(schema: Schema) -> Schema:
    """Pairs are made of the plan, as rows that have all columns; a unit's rows stand in one cell.

    There a key of several columns, as of a person and a year, would have them in several.
    """
    flat = schema.flat
    return replace(flat, key=()) if len(flat.key) > 1 else flat


def _refuse_few(samples: int) -> None:
    if not FEWEST <= samples <= MOST:
        raise PlanError(f"An audit takes from {FEWEST:,} to {MOST:,} samples a side; {samples:,} were asked for.")


def _limit(loss: Loss) -> Limit:
    if isinstance(loss, Unbounded):
        raise PromiseError(f"There is no claim to audit, {loss.words()}.")
    return loss


def _views(plan: Plan, pair: WorstPair, samples: int, draws: Draws) -> list[View]:
    """The views of every measure that the pair is for, and of all that differ; what is given was drawn once.

    Both sides keep the same rows.
    """
    seed = draws.bits(64)
    made: dict[str, Product] = {}
    watched: list[Seen] = []
    with ExitStack() as opened:
        sides = [opened.enter_context(closing(Tabulation(plan, data, SeededDraws(seed)))) for data in pair]
        for measure in plan.measures:
            both = side_by_side(*(side.cells(measure) for side in sides))
            given = {name: made[name] for name in measure.given}
            if any(measure.name in other.given for other in plan.measures):
                made[measure.name] = published(measure.name, measure.with_, both[0], draws, given)
            watched += watched_cells(measure.name, measure.with_.all_told, both, samples, draws, given)
    if not watched:
        raise DataError("The two datasets have the same cells in every measure, so there is nothing to tell apart.")
    aimed = [one for one in watched if one.measure in pair.measures]
    return [*(view for one in aimed for view in one.plain), all_at_once(EVERYTHING, watched)]


def _audits(views: Sequence[tuple[View, Limit]]) -> list[Audit]:
    """Each view may be wrong with an equal share of the 1%."""
    alpha = (1 - CONFIDENCE) / max(len(views), 1)
    return [_audit(view, claim, alpha) for view, claim in views]


def _audit(view: View, claim: Limit, alpha: float) -> Audit:
    samples = len(view.one)
    laws = None if view.law_one is None or view.law_other is None else (view.law_one, view.law_other)
    exact = None if laws is None else visible(*laws, claim, samples, alpha)
    proved = bound(view.one, view.other, claim, alpha, laws if view.speaks else None)
    return Audit(view.measure, view.name, claim, proved, exact, samples)

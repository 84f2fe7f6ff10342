"""Audit: a lower bound on the loss of what is really published, from samples alone.

Two neighbouring datasets are tabulated by the plan's own engine and perturbed many times by its own mechanisms. Each
view of what comes out gives a lower bound on the loss (proofs in `evidence`); all bounds of one audit hold together
with a chance of 99%. A bound above the claim shows that the claim is false. What the laws of the noise lose between the
two is worked out beside it (`stated`): where no view comes near, the audit shows nothing, and is said to be too weak to
count; so many samples are taken that one does, where that many can be. A mechanism without such laws is held to its
claim alone, of which a bound of less than a tenth shows nothing either. Steps after a measurement are arithmetic on
what is audited here, so they lose nothing more; cells that such arithmetic leaves out are looked at too.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from sfumato.confidential.audited import Audit, Audited
from sfumato.confidential.contract.roots import moved_rows
from sfumato.confidential.copies import published, watched_cells
from sfumato.confidential.evidence import enough
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.pairs import WorstPair, worst_pairs
from sfumato.confidential.stated import Samples
from sfumato.confidential.table_copies import side_by_side
from sfumato.confidential.tabulate import Tabulation
from sfumato.confidential.views import Seen, Watched, every_chance
from sfumato.draws import Draws, SeededDraws, SystemDraws
from sfumato.errors import DataError, PlanError, PromiseError
from sfumato.mechanisms import Cells, Mechanism
from sfumato.plan import Plan
from sfumato.privacy import Approximate, Bounded, Gaussian, Limit, Loss, Move, Root, Unbounded, bounded
from sfumato.privacy.neighbours.square_root_within import worst_sizes
from sfumato.release import Product
from sfumato.schema import Attribute, Levels, Rows, Schema, Table

CONFIDENCE = 0.99
FEWEST, MOST = 1_000, 10_000_000
VIEWS = 24
"""In about how many parts the chance of a wrong bound on a measure is split, over views, directions and sides."""
MOST_TIMES = 3
"""How many times as many samples are taken, at most, where there are several pairs."""
GIVEN = "the two datasets that were given differ"
"""What is said of a pair that is not made of the plan."""
EVERYTHING = "everything"
"""The name of the line in which all measures are seen at once."""
Look = Callable[..., Sequence[Seen]]
"""Publishes what differs of a measure on both sides, so many times as `samples` says."""


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
    watched = Watched.of(mechanism.name, mechanism, (one, other), Samples(samples), draws or SystemDraws())
    return _audits([Audited.of(mechanism.name, claim, watched)])


def _rooted_audits(mechanism: Mechanism, move: Root, claim: Limit, samples: int, draws: Draws) -> list[Audit]:
    """Rows of a firm, of two sizes that look alike, and one more; in one group, where the mechanism is given rows."""
    mu = claim.mu if isinstance(claim, Gaussian) else 1.0
    sizes = worst_sizes(move.beta, Fraction(1), mu / math.sqrt(move.units))
    sides, given = moved_rows(mechanism, move, sizes, Fraction(1), draws)
    watched = watched_cells(mechanism.name, mechanism, sides, Samples(samples), draws, given)
    return _audits([Audited.of(mechanism.name, claim, watched)])


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
    """Audit each measure of a plan, and all together, on two neighbours; without data, as far apart as it allows.

    Unless they are given, there are as many samples as show most of what is lost.
    """
    if samples is not None:
        _refuse_few(samples)
    draws, price = draws or SystemDraws(), plan.price()
    if one is None or other is None:
        plan = replace(plan, schema=_of_pairs(plan.schema))
    claims = {spend.measure: _limit(spend.loss) for spend in price.spends} | {EVERYTHING: _limit(price.total)}
    names = frozenset(measure.name for measure in plan.measures)
    pairs = worst_pairs(plan) if one is None or other is None else [WorstPair(one, other, names, GIVEN)]
    # Views of more pairs share the 1%, and each shows less of it.
    least = samples or min(len(pairs), MOST_TIMES) * max(map(enough, claims.values()))
    alpha = (1 - CONFIDENCE) / (len(pairs) * VIEWS * len(claims))
    wanted = {name: Samples(least, None if samples else claim, alpha) for name, claim in claims.items()}
    attacked = [(found, pair.words) for pair in pairs for found in _attacked(plan, pair, wanted, claims, draws)]
    return _audits([found for found, _ in attacked], [words for _, words in attacked])


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


def _attacked(
    plan: Plan, pair: WorstPair, samples: Mapping[str, Samples], claims: Mapping[str, Limit], draws: Draws
) -> list[Audited]:
    """Every measure that the pair is for, and all that differ in it; what is given was drawn once.

    Both sides keep the same rows.
    """
    seed = draws.bits(64)
    made: dict[str, Product] = {}
    looks: dict[str, Look] = {}
    with ExitStack() as opened:
        sides = [opened.enter_context(closing(Tabulation(plan, data, SeededDraws(seed)))) for data in pair]
        for measure in plan.measures:
            both = side_by_side(*(side.cells(measure) for side in sides))
            given = {name: made[name] for name in measure.given}
            if any(measure.name in other.given for other in plan.measures):
                made[measure.name] = published(measure.name, measure.with_, both[0], draws, given)
            looks[measure.name] = partial(
                watched_cells, measure.name, measure.with_.all_told, both, draws=draws, given=given
            )
        watched = _watched(looks, samples)
    if not watched:
        raise DataError("The two datasets have the same cells in every measure, so there is nothing to tell apart.")
    found = [Audited.of(name, claims[name], seen) for name, seen in watched.items()]
    every = [one for seen in watched.values() for one in seen]
    aimed = [one for one in found if one.measure in pair.measures]
    return [*aimed, Audited.together(EVERYTHING, claims[EVERYTHING], found, every)]


def _watched(looks: Mapping[str, Look], samples: Mapping[str, Samples]) -> dict[str, Sequence[Seen]]:
    """What differs of each measure, published as often as shows what it loses, or what all lose together.

    Of a pure epsilon one event of each shows that. A delta is soon more than the chance of all of them at once: then it
    takes one event of all cells, and as many samples of every measure.
    """
    watched = {name: seen for name, look in looks.items() if (seen := look(samples=samples[name]))}
    all_of_it = samples[EVERYTHING]
    if not (isinstance(all_of_it.claim, Approximate) and all_of_it.claim.delta):
        return watched
    many = all_of_it.showing(every_chance([one for seen in watched.values() for one in seen]))
    few = [name for name, seen in watched.items() if samples[name].showing(every_chance(seen)) < many]
    return watched | {name: looks[name](samples=Samples(many)) for name in few}


def _audits(attacked: Sequence[Audited], pairs: Sequence[str] = ()) -> list[Audit]:
    """Each bound may be wrong with an equal share of the 1%; each is of a pair, by what differs in it."""
    alpha = (1 - CONFIDENCE) / max(sum(one.count for one in attacked), 1)
    return [one.audit(alpha, pair) for one, pair in zip(attacked, pairs or [""] * len(attacked), strict=True)]

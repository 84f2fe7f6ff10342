"""Composition: losses add; disjoint universes cost the largest; the limit's kind is the currency.

A conversion goes upward only, once, and rounds up: epsilon to mu or rho for each spend, rho and mu to
(epsilon, delta) after they are added. rho never becomes a mu, and a delta joins neither.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import assert_never

from sfumato.errors import PromiseError
from sfumato.privacy.exact import plain, rounded_up
from sfumato.privacy.loss import Approximate, Concentrated, Gaussian, Loss, Unbounded, smallest

MOST_GROUPS = 2000
"""The most groups of measures that are told apart; beyond, all are charged in sequence, which only costs more."""


def in_sequence(losses: Sequence[Loss], limit: Loss) -> Loss:
    """What releases about the same units cost together, in the currency of the limit; one without a bound unbinds all.

    >>> in_sequence([Approximate("0.5"), Approximate(1)], Approximate(2)).words()
    'epsilon 1.5'
    """
    reasons = dict.fromkeys(loss.why for loss in losses if isinstance(loss, Unbounded))
    if reasons:
        return Unbounded("; ".join(reasons))
    if isinstance(limit, Unbounded):
        raise PromiseError("Every loss here has a bound, and [limit] has none; give epsilon (and delta), mu or rho.")
    if isinstance(limit, Approximate):
        return _as_approximate(losses, limit)
    if not isinstance(limit, Gaussian | Concentrated):
        assert_never(limit)
    convert = as_gaussian if isinstance(limit, Gaussian) else as_concentrated
    total = convert(Approximate(0))
    for loss in losses:
        total = total.plus(convert(loss))  # type: ignore[union-attr,arg-type]
    return total


def over_universes(losses: Sequence[Loss], apart: Callable[[int, int], bool], touches: int, limit: Loss) -> Loss:
    """What measures cost together when some are about disjoint universes, of which a neighbour touches a few.

    Measures that can meet in one record form a group. One touch costs the dearest group; several touches
    cost at most the sum of as many of the dearest groups, and never more than everything in sequence.
    """
    everything = in_sequence(losses, limit)
    groups = _groups(len(losses), apart)
    if touches >= len(groups) or isinstance(everything, Unbounded):
        return everything
    grouped = [[losses[place] for place in group] for group in groups]
    if touches > 1:
        return _dearest(grouped, touches, everything, limit)
    best, *costs = (in_sequence(group, limit) for group in grouped)
    for cost in costs:
        best = best.joined(cost)  # type: ignore[union-attr,arg-type]
    return best


def _dearest(groups: list[list[Loss]], touches: int, everything: Loss, limit: Loss) -> Loss:
    """As many of the dearest groups, added currency by currency, so that epsilon and delta come once and last."""
    if not isinstance(limit, Approximate):
        groups = [[in_sequence(group, limit)] for group in groups]

    each = zip(*map(amounts, groups), strict=True)
    epsilon, delta, mu_squared, rho = (sum(sorted(some, reverse=True)[:touches], Fraction(0)) for some in each)
    if delta >= 1 or ((mu_squared or rho) and isinstance(limit, Approximate) and delta >= limit.delta):
        return everything
    dearest = in_sequence(of_amounts(epsilon, delta, mu_squared, rho), limit)
    return dearest if dearest.within(everything) else everything  # type: ignore[arg-type]


def _groups(count: int, apart: Callable[[int, int], bool]) -> list[frozenset[int]]:
    """The largest sets of measures that are pairwise not apart; one set of all when they are too many to list.

    Measures that meet the same others are always together, so one stands for them all.
    """
    places = range(count)
    meets = [
        frozenset(other for other in places if other == measure or not apart(measure, other)) for measure in places
    ]
    alike: dict[frozenset[int], set[int]] = {}
    for measure in places:
        alike.setdefault(meets[measure], set()).add(measure)
    kinds = {min(kind): frozenset(kind) for kind in alike.values()}
    cliques = _cliques({measure: (meets[measure] & kinds.keys()) - {measure} for measure in kinds})
    if cliques is None:
        return [frozenset(places)]
    return [frozenset[int]().union(*(kinds[measure] for measure in group)) for group in cliques]


def _cliques(meets: Mapping[int, frozenset[int]]) -> list[frozenset[int]] | None:
    """The maximal cliques (Bron and Kerbosch 1973, with a pivot), or None when there are more than `MOST_GROUPS`."""
    cliques: list[frozenset[int]] = []
    waiting: list[tuple[frozenset[int], frozenset[int], frozenset[int]]] = [
        (frozenset(), frozenset(meets), frozenset())
    ]
    while waiting:
        group, may, seen = waiting.pop()
        if not may and not seen:
            cliques.append(group)
        if len(cliques) > MOST_GROUPS:
            return None
        pivot = max(((len(may & meets[measure]), measure) for measure in may | seen), default=(0, -1))[1] if may else -1
        for measure in may - meets.get(pivot, frozenset()):
            waiting.append((group | {measure}, may & meets[measure], seen & meets[measure]))
            may, seen = may - {measure}, seen | {measure}
    return cliques


def _as_approximate(losses: Sequence[Loss], limit: Approximate) -> Loss:
    epsilon, delta, mu_squared, rho = amounts(losses)
    if delta >= 1:
        return Unbounded("the deltas add up to 1 or more")
    total = Approximate(epsilon, delta)
    if not mu_squared and not rho:
        return total
    left = limit.delta - total.delta
    if left <= 0:
        raise PromiseError(
            f"Gaussian noise has no epsilon without a delta, and the limit ({limit.words()}) leaves none; "
            'give the limit a delta, for example "1e-6", or use the geometric mechanism.'
        )
    more = epsilon_of_rho(rho + mu_squared / 2, left) if rho else epsilon_of_mu(mu_squared, left)
    return total.plus(Approximate(more, left))


def amounts(losses: Sequence[Loss]) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """What losses with a bound add up to in each currency: epsilon, delta, mu squared and rho."""
    epsilon = delta = mu_squared = rho = Fraction(0)
    for loss in losses:
        if isinstance(loss, Approximate):
            epsilon, delta = epsilon + loss.epsilon, delta + loss.delta
        elif isinstance(loss, Gaussian):
            mu_squared += loss.mu_squared
        elif isinstance(loss, Concentrated):
            rho += loss.rho
        elif isinstance(loss, Unbounded):
            raise PromiseError(f"A loss without a bound adds up to none: {loss.words()}.")
        else:
            assert_never(loss)
    return epsilon, delta, mu_squared, rho


def of_amounts(epsilon: Fraction, delta: Fraction, mu_squared: Fraction, rho: Fraction) -> list[Loss]:
    """One loss for each currency in which there is something."""
    parts: list[Loss] = [Approximate(epsilon, delta)] if epsilon or delta else []
    parts += [Gaussian(squared=mu_squared)] if mu_squared else []
    return parts + ([Concentrated(rho)] if rho else [])


def as_gaussian(loss: Loss) -> Loss:
    """A loss as mu, where it has one."""
    if isinstance(loss, Concentrated):
        raise PromiseError(
            f"A loss of {loss.words()} is no mu: the discrete Gaussian is not mu-GDP. "
            "Use the rounded Gaussian, or give the limit in rho or in epsilon and delta."
        )
    if isinstance(loss, Approximate):
        _pure(loss, "mu")
        if loss.epsilon == 0:
            return Gaussian(squared=Fraction(0))
        if loss.epsilon > 700:
            # P(Z > x) <= e^(-x^2 / 2) / 2 at x = mu / 2 gives mu^2 <= 8 log((1 + e^epsilon) / 2) <= 8 epsilon.
            return Gaussian(squared=8 * loss.epsilon)
        # The trade-off curve of epsilon lies above that of the mu whose normals overlap as much.
        tail = 1 / (1 + math.exp(loss.epsilon))
        return Gaussian(squared=rounded_up(-2 * NormalDist().inv_cdf(tail)) ** 2)
    if isinstance(loss, Gaussian | Unbounded):
        return loss
    assert_never(loss)


def as_concentrated(loss: Loss) -> Loss:
    """A loss as rho: mu^2 / 2 and epsilon^2 / 2."""
    if isinstance(loss, Gaussian):
        return Concentrated(loss.mu_squared / 2)
    if isinstance(loss, Approximate):
        _pure(loss, "rho")
        return Concentrated(loss.epsilon**2 / 2)
    if isinstance(loss, Concentrated | Unbounded):
        return loss
    assert_never(loss)


def _pure(loss: Approximate, currency: str) -> None:
    if loss.delta:
        raise PromiseError(
            f"A loss with delta ({loss.words()}) joins no {currency}; give the limit in epsilon and delta instead "
            f"(delta is {plain(loss.delta)})."
        )


def epsilon_of_mu(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """The epsilon of a mu at a delta, rounded up.

    >>> round(float(epsilon_of_mu(Fraction(1), Fraction("1e-6"))), 4)
    4.8866
    """
    if delta < Fraction("1e-290"):
        # Below what floats can tell apart; a mu is a rho of mu^2 / 2, whose bound is computed in logarithms.
        return epsilon_of_rho(mu_squared / 2, delta)
    loss, aim = Gaussian(squared=mu_squared), float(delta)
    low, high = 0.0, 1.0
    while loss.delta(high) > aim:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if loss.delta(middle) > aim else (low, middle)
    return rounded_up(high)


def epsilon_of_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """The epsilon of a rho at a delta by the optimised bound, rounded up (Canonne, Kamath and Steinke 2020)."""
    size, room = float(rho), math.log(delta.denominator) - math.log(delta.numerator)

    def epsilon(order: float) -> float:
        return size * order + (room + (order - 1) * math.log1p(-1 / order) - math.log(order)) / (order - 1)

    return rounded_up(max(0.0, smallest(epsilon)))

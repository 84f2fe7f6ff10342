"""Composition: losses add; disjoint universes cost the largest; the limit's kind is the currency.

A conversion goes upward only, once, and rounds up: epsilon to mu or rho for each spend, rho and mu to
(epsilon, delta) after they are added. rho never becomes a mu, and a delta joins neither (SCIENCE 0b).
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import NormalDist

from sfumato.errors import PromiseError
from sfumato.privacy.exact import plain, rounded_up
from sfumato.privacy.loss import Approximate, Concentrated, Gaussian, Limit, Loss, Unbounded, smallest


def in_sequence(losses: Sequence[Loss], limit: Limit) -> Loss:
    """What releases about the same units cost together, in the currency of the limit.

    >>> in_sequence([Approximate("0.5"), Approximate(1)], Approximate(2)).words()
    'epsilon 1.5'
    """
    for loss in losses:
        if isinstance(loss, Unbounded):
            return loss
    if isinstance(limit, Approximate):
        return _as_approximate(losses, limit)
    convert: Callable[[Loss], Loss] = as_gaussian if isinstance(limit, Gaussian) else as_concentrated
    total: Loss | None = None
    for loss in losses:
        one = convert(loss)
        total = one if total is None else total.plus(one)  # type: ignore[union-attr,arg-type]
    return total if total is not None else convert(Approximate(0))


def over_universes(losses: Sequence[Loss], apart: Callable[[int, int], bool], touches: int, limit: Limit) -> Loss:
    """What measures cost together when some are about disjoint universes, of which a neighbour touches a few.

    Measures that can meet in one record form a group. One touch costs the dearest group; several touches
    cost at most the sum of as many of the dearest groups, and never more than everything in sequence.
    """
    everything = in_sequence(losses, limit)
    groups = _groups(len(losses), apart)
    if touches >= len(groups) or isinstance(everything, Unbounded):
        return everything
    costs = [in_sequence([losses[place] for place in group], limit) for group in groups]
    if touches == 1:
        best = costs[0]
        for cost in costs[1:]:
            best = best.joined(cost)  # type: ignore[union-attr,arg-type]
        return best
    return _dearest(costs, touches, everything, limit)


def _dearest(costs: list[Loss], touches: int, everything: Loss, limit: Limit) -> Loss:
    if isinstance(limit, Approximate):
        epsilons = sorted((cost.epsilon for cost in costs if isinstance(cost, Approximate)), reverse=True)
        deltas = sorted((cost.delta for cost in costs if isinstance(cost, Approximate)), reverse=True)
        dearest: Loss = Approximate(sum(epsilons[:touches]), sum(deltas[:touches]))
    elif isinstance(limit, Gaussian):
        squares = sorted((cost.mu_squared for cost in costs if isinstance(cost, Gaussian)), reverse=True)
        dearest = Gaussian(squared=sum(squares[:touches], Fraction(0)))
    else:
        rhos = sorted((cost.rho for cost in costs if isinstance(cost, Concentrated)), reverse=True)
        dearest = Concentrated(sum(rhos[:touches]))
    return dearest if dearest.within(everything) else everything  # type: ignore[arg-type]


def _groups(count: int, apart: Callable[[int, int], bool]) -> list[frozenset[int]]:
    """The largest sets of measures that are pairwise not apart (Bron and Kerbosch 1973)."""
    meets = {one: {other for other in range(count) if other != one and not apart(one, other)} for one in range(count)}
    found: list[frozenset[int]] = []

    def grow(group: frozenset[int], may: set[int], seen: set[int]) -> None:
        if not may and not seen:
            found.append(group)
        if not may:
            return
        pivot = max(may | seen, key=lambda one: len(may & meets[one]))
        for one in may - meets[pivot]:
            grow(group | {one}, may & meets[one], seen & meets[one])
            may = may - {one}
            seen = seen | {one}

    grow(frozenset(), set(range(count)), set())
    return found


def _as_approximate(losses: Sequence[Loss], limit: Approximate) -> Approximate:
    total = Approximate(0)
    mu_squared, rho = Fraction(0), Fraction(0)
    for loss in losses:
        if isinstance(loss, Approximate):
            total = total.plus(loss)
        elif isinstance(loss, Gaussian):
            mu_squared += loss.mu_squared
        elif isinstance(loss, Concentrated):
            rho += loss.rho
    if not mu_squared and not rho:
        return total
    left = limit.delta - total.delta
    if left <= 0:
        raise PromiseError(
            f"Gaussian noise has no epsilon without a delta, and the limit ({limit.words()}) leaves none; "
            'give the limit a delta, for example "1e-6", or use the geometric mechanism.'
        )
    if rho:
        epsilon = epsilon_of_rho(rho + mu_squared / 2, left)
    else:
        epsilon = epsilon_of_mu(mu_squared, left)
    return total.plus(Approximate(epsilon, left))


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
        # The trade-off curve of epsilon lies above that of the mu whose normals overlap as much.
        tail = 1 / (1 + math.exp(min(float(loss.epsilon), 700.0)))
        return Gaussian(squared=rounded_up(-2 * NormalDist().inv_cdf(tail)) ** 2)
    return loss


def as_concentrated(loss: Loss) -> Loss:
    """A loss as rho: mu^2 / 2 and epsilon^2 / 2."""
    if isinstance(loss, Gaussian):
        return Concentrated(loss.mu_squared / 2)
    if isinstance(loss, Approximate):
        _pure(loss, "rho")
        return Concentrated(loss.epsilon**2 / 2)
    return loss


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
    size, room = float(rho), -math.log(float(delta))

    def epsilon(order: float) -> float:
        return size * order + (room + (order - 1) * math.log1p(-1 / order) - math.log(order)) / (order - 1)

    return rounded_up(max(0.0, smallest(epsilon)))

"""Groups: what is lost of those who are several steps away from each other, or a share of one."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from sfumato.privacy.compose import amounts, in_sequence
from sfumato.privacy.exact import rounded_up
from sfumato.privacy.loss import Approximate, Concentrated, Gaussian, Loss, Unbounded


def of_group(loss: Loss, steps: int | Fraction) -> Loss:
    """What is lost of those that are so many steps away, by going one after the other.

    Steps that are a fraction are along a curve, on which an epsilon is in proportion to them.

    >>> of_group(Approximate(1), 3).words(), of_group(Gaussian("0.5"), 2).words(), of_group(Concentrated(1), 2).words()
    ('epsilon 3', 'mu 1', 'rho 4')
    >>> of_group(Approximate(2), Fraction(1, 4)).words(), of_group(Gaussian("0.5"), Fraction(1, 4)).words()
    ('epsilon 0.5', 'mu 0.5')
    """
    return _along(loss, steps) if isinstance(steps, Fraction) else _step_by_step(loss, steps)


def of_group_in_parts(parts: Sequence[Loss], together: Loss, steps: int | Fraction, limit: Loss) -> Loss:
    """What a release loses of those that are so many steps away: the smaller of two bounds, which both are true.

    The group of what its parts lose `together`, or what the groups of its parts lose in sequence: a delta grows with
    the epsilon that it comes with, which is that of its own part. Where neither is smaller in all, it is the one of the
    smaller delta.

    >>> parts = [Approximate(2), Approximate(1, "0.001")]
    >>> of_group_in_parts(parts, Approximate(3, "0.001"), 2, Approximate(9, "0.1")).words()  # (1 + e) / 1000
    'epsilon 6, delta 0.003718281829'
    >>> of_group(Approximate(3, "0.001"), 2).words()  # (1 + e^3) / 1000
    'epsilon 6, delta 0.021085536924'
    """
    whole, each = of_group(together, steps), [of_group(part, steps) for part in parts]
    if any(isinstance(one, Unbounded) for one in each) or _leaves_no_delta(each, limit):
        return whole
    # A whole that is not within has the larger delta: in sequence epsilon is no less, but for mu, at the limit's delta.
    return smaller(whole, in_sequence(each, limit))


def smaller(one: Loss, other: Loss) -> Loss:
    """The smaller of two bounds on the same loss, in one currency; the other one where neither is smaller in all.

    >>> [smaller(one, Approximate(2)).words() for one in (Unbounded("deltas add up to 1"), Approximate(1))]
    ['epsilon 2', 'epsilon 1']
    """
    if isinstance(one, Unbounded) or isinstance(other, Unbounded):
        return other if isinstance(one, Unbounded) else one
    return one if one.within(other) else other


def _leaves_no_delta(losses: Sequence[Loss], limit: Loss) -> bool:
    """Whether a mu or rho has no epsilon under a limit whose delta is used up."""
    _, delta, mu_squared, rho = amounts(losses)
    return isinstance(limit, Approximate) and bool(mu_squared or rho) and delta >= limit.delta


def _step_by_step(loss: Loss, steps: int) -> Loss:
    """The same in whole steps, each of them one between neighbours."""
    if isinstance(loss, Approximate):
        if not loss.delta or steps == 1:
            return Approximate(steps * loss.epsilon, loss.delta)
        if steps * loss.epsilon > 700:
            return Unbounded(f"{steps} steps of {loss.words()} leave no delta below 1")
        more = sum(math.exp(float(step * loss.epsilon)) for step in range(steps))
        delta = loss.delta * rounded_up(more)
        return Approximate(steps * loss.epsilon, delta) if delta < 1 else Unbounded("deltas of a group add up to 1")
    if isinstance(loss, Gaussian):
        return Gaussian(squared=steps**2 * loss.mu_squared)
    if isinstance(loss, Concentrated):
        return Concentrated(steps**2 * loss.rho)
    if isinstance(loss, Unbounded):
        return loss
    assert_never(loss)


def _along(loss: Loss, steps: Fraction) -> Loss:
    """The same along a curve, where noise loses an epsilon in proportion to the steps, whatever it was converted to.

    A rho is half the square of it. As a mu it is a concave function of it: so many times as much at most from one step
    on, and at less than one no more than at one. What has a delta is not known further out than one step.
    """
    if isinstance(loss, Approximate) and not loss.delta:
        return Approximate(steps * loss.epsilon)
    if isinstance(loss, Concentrated):
        return Concentrated(steps**2 * loss.rho)
    if isinstance(loss, Gaussian):
        return Gaussian(squared=max(steps, Fraction(1)) ** 2 * loss.mu_squared)
    if steps <= 1 or isinstance(loss, Unbounded):
        return loss
    return Unbounded(f"no curve is known of {loss.words()}")
